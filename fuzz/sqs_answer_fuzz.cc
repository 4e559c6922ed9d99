#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/sqs_queue.h"

/// Any bytes are an answer of a queue, or an error of the right kind; or the URL of one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  using namespace tidemark::storage;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto messages = ParseSqsMessages(bytes);
  if (!messages && messages.error().kind != ErrorKind::kCorrupt) std::abort();
  (void)CheckSqsDeletion(bytes);
  (void)AwsErrorOf({.status = 400, .body = std::string(bytes)});
  const auto url = ParseSqsQueueUrl(bytes);
  if (url && (url->name.empty() || !url->origin.starts_with("http"))) std::abort();
  return 0;
}
