/// Messages from outside that say "look now": from writers and from stores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::api {

/// What SNS says of its own doing: a topic wants to send here, or does not any more.
struct Subscription {
  std::string topic{};  ///< its ARN
  /// A link to open once, within three days, before which the topic sends nothing; "" when it has
  /// ended. Whoever posted the message chose it.
  std::string confirm_url{};

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// What a message speaks of, as URIs. Empty: it is understood, and says nothing.
struct Notice {
  std::vector<std::string> tables{};   ///< or what lies in them, as a writer names them
  std::vector<std::string> objects{};  ///< that came about, changed or went, as a store says
  std::optional<Subscription> subscription{};

  friend bool operator==(const Notice&, const Notice&) = default;
};

/// Hudi's commit callback (`basePath`), {"uri": "…"}, or events of S3 or of a store that speaks
/// like it: bare ("Event message structure" of the S3 user guide; keys are URL-encoded), inside SNS
/// (`Message`), inside SQS (`body`, as Lambda gets them), or from EventBridge (source "aws.s3";
/// keys are plain). The event that S3 sends when notifications are switched on names nothing. The
/// SubscriptionConfirmation and UnsubscribeConfirmation of SNS ("Parsing Amazon SNS message
/// formats" of its guide) speak of a subscription alone.
/// kInvalidArgument for what is none of these; its message is one of few, and holds nothing of the
/// body.
Result<Notice> ParseNotice(std::string_view body);

/// Whether an object that has come about is worth a look at its table: a completed instant in a
/// timeline folder. Data files, and the commits of a metadata table, which come before those of its
/// table, are not.
bool TellsOfCommit(std::string_view uri);

}  // namespace tidemark::api
