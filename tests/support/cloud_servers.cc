#include "support/cloud_servers.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/time_text.h"
#include "storage/azure_signer.h"
#include "storage/digest.h"
#include "storage/http_client.h"
#include "storage/http_time.h"
#include "storage/url_text.h"

namespace tidemark::support {

namespace {

using storage::HttpExchange;
using storage::HttpRequest;

constexpr std::chrono::seconds kStartTimeout{90};
constexpr uint64_t kAnswerBytesMax = 1 << 20;

Status CheckInstalled(const std::string& path) {
  if (std::filesystem::exists(path)) return {};
  return Fail(ErrorKind::kNotFound,
              fmt::format("a server of the tests is missing (run scripts/bootstrap --tests): "
                          "path={}",
                          path));
}

Status SendWanting(const HttpRequest& request, int status) {
  const HttpExchange exchange =
      storage::SharedHttpClient().Send(request, Budget::For(kStartTimeout));
  if (exchange.error) return std::unexpected(*exchange.error);
  if (exchange.answer.status == status) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("the server of a test refuses: http={} body={}",
                                                   exchange.answer.status, exchange.answer.body));
}

}  // namespace

Result<std::unique_ptr<AzureServer>> AzureServer::Start(
    const std::vector<std::string>& containers) {
  const std::string script =
      TIDEMARK_DEPS "/azurite-3.35.0/node_modules/azurite/dist/src/blob/main.js";
  TRY(CheckInstalled(script));
  auto server = std::make_unique<AzureServer>(Private());
  const int port = FreePort();
  ChildOptions options;
  options.command = {"node",
                     script,
                     "--blobHost=127.0.0.1",
                     fmt::format("--blobPort={}", port),
                     "--inMemoryPersistence",
                     "--disableTelemetry"};
  options.added = {{"AZURITE_ACCOUNTS", fmt::format("{}:{}", kAccount, account_key())}};
  options.folder = server->folder_.path();
  TRY_ASSIGN(server->process_, ChildProcess::Start(options));
  TRY(server->process_->WaitForPort(port, kStartTimeout));
  server->endpoint_ = fmt::format("http://127.0.0.1:{}/{}", port, kAccount);
  for (const std::string& container : containers)
    TRY(server->SendPut('/' + container, {{"restype", "container"}}, {}));
  return server;
}

Status AzureServer::SendPut(const std::string& path,
                            const std::vector<std::pair<std::string, std::string>>& query,
                            std::vector<std::pair<std::string, std::string>> headers) const {
  headers.emplace_back("x-ms-date", storage::FormatHttpDate(SystemClock().Now()));
  headers.emplace_back("x-ms-version", "2021-12-02");
  const storage::AzureRequestToSign to_sign{
      "PUT", std::string(kAccount), fmt::format("/{}{}", kAccount, path), query, headers, 0};
  HttpRequest request;
  request.method = "PUT";
  request.url = endpoint_ + path + '?' + storage::CanonicalQuery(query);
  request.answer_bytes_max = kAnswerBytesMax;
  for (const auto& [name, value] : headers) request.headers.push_back(name + ": " + value);
  request.headers.push_back(
      "authorization: " + storage::AzureSharedKey(to_sign, *storage::Base64Decoded(account_key())));
  return SendWanting(request, 201);
}

Status AzureServer::PutFolderBlob(const std::string& container, const std::string& name) const {
  return SendPut('/' + container + '/' + storage::UrlEncoded(name, "/"), {},
                 {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-meta-hdi_isfolder", "true"}});
}

const std::string& AzureServer::account_key() {
  static const std::string key = storage::Base64(
      "a key of sixty-four bytes, as those of Azure are,"
      " for tests....");
  return key;
}

std::string AzureServer::SasToken(std::string_view permissions) {
  const std::string expires = FormatRfc3339(SystemClock().Now() + std::chrono::hours(2));
  const std::string until = expires.substr(0, 19) + "Z";
  // https://learn.microsoft.com/rest/api/storageservices/create-account-sas, for 2019-12-12.
  const std::string to_sign =
      fmt::format("{}\n{}\nb\nco\n\n{}\n\n\n2019-12-12\n", kAccount, permissions, until);
  return fmt::format(
      "sv=2019-12-12&ss=b&srt=co&sp={}&se={}&sig={}", permissions, storage::UrlEncoded(until),
      storage::UrlEncoded(
          storage::Base64(storage::HmacSha256(*storage::Base64Decoded(account_key()), to_sign))));
}

storage::StoreOptions AzureServer::Options() const {
  storage::StoreOptions options;
  options.endpoint = endpoint_;
  options.account_key = account_key();
  return options;
}

int AzureServer::CountRequests(const std::string& part) const {
  std::istringstream lines(process_->Output());
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.contains(part)) ++count;
  }
  return count;
}

Result<std::unique_ptr<GcsServer>> GcsServer::Start(const std::vector<std::string>& buckets) {
  const std::string program = TIDEMARK_DEPS "/fake-gcs-server-1.54.0/fake-gcs-server";
  TRY(CheckInstalled(program));
  auto server = std::make_unique<GcsServer>(Private());
  const int port = FreePort();
  ChildOptions options;
  options.command = {program,
                     "-backend=memory",
                     "-scheme=http",
                     "-host=127.0.0.1",
                     fmt::format("-port={}", port),
                     "-log-level=error"};
  options.folder = server->folder_.path();
  TRY_ASSIGN(server->process_, ChildProcess::Start(options));
  TRY(server->process_->WaitForPort(port, kStartTimeout));
  server->endpoint_ = fmt::format("http://127.0.0.1:{}", port);
  for (const std::string& bucket : buckets) {
    const std::string body = fmt::format(R"({{"name":"{}"}})", bucket);
    HttpRequest request;
    request.method = "POST";
    request.url = server->endpoint_ + "/storage/v1/b?project=tests";
    request.headers = {"content-type: application/json"};
    request.body = body;
    request.answer_bytes_max = kAnswerBytesMax;
    TRY(SendWanting(request, 200));
  }
  return server;
}

storage::StoreOptions GcsServer::Options() const {
  storage::StoreOptions options;
  options.endpoint = endpoint_;
  options.is_anonymous = true;
  return options;
}

void HideCloudConfiguration() {
  for (const char* name :
       {"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_BLOB_ENDPOINT", "AZURE_TENANT_ID",
        "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT",
        "GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"})
    ::unsetenv(name);
  ::setenv("NO_GCE_CHECK", "true", 1);
  ::setenv("CLOUDSDK_CONFIG", "/dev/null/none", 1);
  ::setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1", 1);
}

}  // namespace tidemark::support
