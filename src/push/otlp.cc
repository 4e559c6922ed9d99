#include "push/otlp.h"

#include <string_view>

namespace tidemark::push {

std::string OtlpUrl(std::string endpoint) {
  constexpr std::string_view kPath = "/v1/metrics";
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint.ends_with(kPath) ? endpoint : endpoint.append(kPath);
}

Result<Delivery> OtlpExporter::Send(const Values& values, const Budget& budget) {
  Delivery delivery;
  for (const std::string& body : OtlpRequests(values, resource_)) {
    TRY_ASSIGN(
        const std::string answer,
        receiver_.Send(
            {.method = "POST", .url = url_, .content_type = "application/json", .body = body},
            budget));
    // A success whose body is of another kind (a proxy's) is a success all the same.
    delivery.dropped += OtlpRejected(answer).value_or(0);
  }
  return delivery;
}

Status OtlpExporter::Check(const Budget& budget) {
  TRY(receiver_.Send({.method = "POST",
                      .url = url_,
                      .content_type = "application/json",
                      .body = R"({"resourceMetrics":[]})"},
                     budget));
  return {};
}

}  // namespace tidemark::push
