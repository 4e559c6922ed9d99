/// The section `wake_ups:` of the configuration: who tells us that something has come about.
#pragma once

#include <string>
#include <vector>

#include "app/hidden_values.h"
#include "storage/sqs_queue.h"

namespace tidemark::app {

/// Each has a thread of its own.
inline constexpr size_t kQueuesMax = 100;

/// `wake_ups.sqs:` One queue that buckets send their notifications to.
struct QueueConfig {
  std::string name;  ///< unique
  /// Tables whose bucket is known to tell this queue, as globs over their URIs ('*' stands for any
  /// run of characters). Empty: nothing is known, and everything is polled as without a queue.
  std::string match{};
  storage::SqsQueueOptions sqs{};

  friend bool operator==(const QueueConfig&, const QueueConfig&) = default;
};

struct WakeUpsConfig {
  std::vector<QueueConfig> queues{};
  HiddenValues hidden{};  ///< those of `queues` that came from `${env:}` and `${file:}`
};

}  // namespace tidemark::app
