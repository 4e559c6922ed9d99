#include "app/subscription_notes.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/utf8.h"

namespace tidemark::app {

namespace {

/// Links of SNS have some 300 bytes.
constexpr size_t kBytesMax = 1024;

}  // namespace

void SubscriptionNotes::Note(std::string_view place, const api::Subscription& subscription) {
  if (subscription.confirm_url.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (links_.size() >= kSubscriptionsLogged ||
        !links_.insert(Shortened(subscription.confirm_url, kBytesMax)).second)
      return;
  }
  // The link is good for one thing, and nobody else learns of it.
  Log(LogLevel::kWarning,
      fmt::format("{}: a topic of SNS wants to send here, and sends nothing before that is "
                  "confirmed: if it is yours, open the link once, within three days topic={} "
                  "link={}",
                  place, Shortened(subscription.topic, kBytesMax),
                  Shortened(subscription.confirm_url, kBytesMax)));
}

}  // namespace tidemark::app
