/// `otlp:` OpenTelemetry over HTTP, in JSON or protobuf.
#pragma once

#include <string>

#include "push/exporter.h"
#include "push/http_receiver.h"
#include "push/otlp_json.h"

namespace tidemark::push {

enum class OtlpEncoding { kJson, kProtobuf };

struct OtlpOptions {
  std::string endpoint;  ///< "http://collector:4318"
  HttpHeaders headers;
  storage::HttpTls tls{};
  OtlpResource resource;
  OtlpEncoding encoding = OtlpEncoding::kJson;

  friend bool operator==(const OtlpOptions&, const OtlpOptions&) = default;
};

/// Where metrics of the endpoint go: /v1/metrics below it, unless it ends so already.
std::string OtlpUrl(std::string endpoint);

class OtlpExporter final : public Exporter {
 public:
  explicit OtlpExporter(const OtlpOptions& options)
      : url_(OtlpUrl(options.endpoint)),
        resource_(options.resource),
        encoding_(options.encoding),
        receiver_(options.headers, options.tls) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;
  /// Whether it would take metrics: a request without any, which changes nothing.
  Status Check(const Budget& budget);

 private:
  Result<std::string> Post(std::string_view body, const Budget& budget);

  std::string url_;
  OtlpResource resource_;
  OtlpEncoding encoding_;
  HttpReceiver receiver_;
};

}  // namespace tidemark::push
