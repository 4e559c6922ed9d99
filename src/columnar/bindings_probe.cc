// Uses OpenSSL, libcurl, librdkafka and simdjson, then loads the Parquet module and reads a file:
// bindings_test.py looks at which library each symbol came from.
#include <curl/curl.h>
#include <librdkafka/rdkafka.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <simdjson.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "columnar/loader.h"

namespace {

size_t CountRows(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto reader = tidemark::columnar::LoadColumnReader();
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 0;
  }
  size_t rows = 0;
  const std::string columns[] = {"instantTime"};
  const auto done = (*reader)->ReadRows(bytes, columns, [&](auto) -> tidemark::Status {
    ++rows;
    return {};
  });
  return done ? rows : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  curl_global_init(CURL_GLOBAL_ALL);
  CURL* const curl = curl_easy_init();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  const size_t rows = CountRows(argv[1]);
  // After the module is there, so that late bindings are seen too.
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest("x", 1, digest, &size, EVP_sha256(), nullptr);
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  const bool is_parsed = parser.parse("[1]", 3).get(json) == simdjson::SUCCESS;
  std::printf("rows=%zu digest=%02x parsed=%d implementation=%s rdkafka=%s\n", rows, digest[0],
              is_parsed, simdjson::get_active_implementation()->name().c_str(),
              rd_kafka_version_str());
  SSL_CTX_free(context);
  curl_easy_cleanup(curl);
  return rows > 0 && is_parsed ? 0 : 1;
}
