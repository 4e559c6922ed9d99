#include "push/otlp.h"

#include <string_view>

#include "push/otlp_protobuf.h"

namespace tidemark::push {

std::string OtlpUrl(std::string endpoint) {
  constexpr std::string_view kPath = "/v1/metrics";
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint.ends_with(kPath) ? endpoint : endpoint.append(kPath);
}

Result<Delivery> OtlpExporter::Send(const Values& values, const Budget& budget) {
  const bool is_json = encoding_ == OtlpEncoding::kJson;
  Delivery delivery;
  for (const std::string& body :
       is_json ? OtlpRequests(values, resource_) : OtlpProtobufRequests(values, resource_)) {
    TRY_ASSIGN(const std::string answer, Post(body, budget));
    // A success whose body is of another kind (a proxy's) is a success all the same.
    const auto rejected = is_json ? OtlpRejected(answer) : OtlpProtobufRejected(answer);
    delivery.dropped += rejected.value_or(0);
  }
  return delivery;
}

Status OtlpExporter::Check(const Budget& budget) {
  // No bytes are a request without metrics in protobuf.
  TRY(Post(encoding_ == OtlpEncoding::kJson ? R"({"resourceMetrics":[]})" : "", budget));
  return {};
}

Result<std::string> OtlpExporter::Post(std::string_view body, const Budget& budget) {
  const std::string_view type =
      encoding_ == OtlpEncoding::kJson ? "application/json" : "application/x-protobuf";
  return receiver_.Send({.method = "POST", .url = url_, .content_type = type, .body = body},
                        budget);
}

}  // namespace tidemark::push
