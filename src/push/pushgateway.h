/// `pushgateway:` Prometheus' Pushgateway.
#pragma once

#include <map>
#include <string>

#include "push/exporter.h"
#include "push/http_receiver.h"

namespace tidemark::push {

struct PushgatewayOptions {
  std::string url;  ///< without /metrics
  HttpHeaders headers;
  storage::HttpTls tls{};
  std::string job = "tidemark";
  std::map<std::string, std::string> grouping;  ///< further labels that name the group
  bool deletes_on_stop = false;

  friend bool operator==(const PushgatewayOptions&, const PushgatewayOptions&) = default;
};

/// The URL of the group (the gateway's README, "URL"): values that a path cannot hold (empty, or
/// with a slash) as base64.
std::string PushgatewayUrl(const PushgatewayOptions& options);

/// Replaces its group with each PUT, so that a number that is not known any more is gone from the
/// gateway too.
class PushgatewayExporter final : public Exporter {
 public:
  /// Without a '/' at its end.
  static std::string BaseOf(std::string url);

  explicit PushgatewayExporter(const PushgatewayOptions& options)
      : url_(PushgatewayUrl(options)),
        ready_url_(BaseOf(options.url) + "/-/ready"),
        deletes_on_stop_(options.deletes_on_stop),
        receiver_(options.headers, options.tls) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;
  Status Retire(const Budget& budget) override;
  /// Whether it is there and lets us in: its page of readiness is asked for. kUnsupported: somebody
  /// answers who has no such page.
  Status Check(const Budget& budget);

 private:
  std::string url_;
  std::string ready_url_;
  bool deletes_on_stop_;
  HttpReceiver receiver_;
};

}  // namespace tidemark::push
