/// What somebody has to do for a topic of SNS that wants to send here.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "api/notice.h"

namespace tidemark::app {

/// Subscriptions that are logged while it lives: whoever may post could fill the log.
inline constexpr size_t kSubscriptionsLogged = 100;

/// One mutex; any thread.
class SubscriptionNotes {
 public:
  /// Logs, once a link, that the subscription is to be confirmed, with `place`, where the message
  /// came in, before it: "/api/v1/wake". We do not follow links that strangers post. One that has
  /// ended is not logged.
  void Note(std::string_view place, const api::Subscription& subscription);

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> links_;  // guarded by mutex_
};

}  // namespace tidemark::app
