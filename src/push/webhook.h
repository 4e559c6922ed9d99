/// `webhook:` Incidents as messages, one when they open and one when they close.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "freshness/report.h"
#include "push/http_receiver.h"

namespace tidemark::push {

struct WebhookOptions {
  std::string url;
  HttpHeaders headers;
  storage::HttpTls tls{};
  /// Incidents of these statuses are told.
  std::vector<freshness::PipelineStatus> statuses = {freshness::PipelineStatus::kBreach,
                                                     freshness::PipelineStatus::kUnknown};
  /// A message that does not arrive is tried again for so long.
  Milliseconds give_up_after = std::chrono::hours(1);

  friend bool operator==(const WebhookOptions&, const WebhookOptions&) = default;
};

/// An incident, as it opens or closes.
struct IncidentNotice {
  std::string pipeline;
  std::string cluster;
  std::string table;
  std::map<std::string, std::string> labels;
  freshness::PipelineStatus status = freshness::PipelineStatus::kUnknown;
  std::string reason;                  ///< the contract's word when it opened
  std::optional<std::string> message;  ///< of the report that this comes from
  WallTime opened_at{};
  std::optional<WallTime> closed_at;  ///< set: it closes
};

/// The same for both messages of an incident, whoever sends them and how often:
/// "orders/breach/2026-11-30T03:00:00.000Z".
std::string IncidentId(const IncidentNotice& notice);

/// {"schema":"tidemark.incident/1","id":…,"event":"open"|"close",…} (docs/exporters.md).
std::string IncidentJson(const IncidentNotice& notice);

/// Single-threaded.
class Webhook {
 public:
  explicit Webhook(const WebhookOptions& options)
      : url_(options.url), receiver_(options.headers, options.tls) {}

  /// One try. Errors as HttpReceiver's: after kInvalidArgument the same message is refused again.
  Status Tell(const IncidentNotice& notice, const Budget& budget);

  /// The status of its answer to HEAD, which changes nothing: that somebody is there. What it makes
  /// of messages only messages show.
  Result<int> Check(const Budget& budget);

 private:
  std::string url_;
  HttpReceiver receiver_;
};

}  // namespace tidemark::push
