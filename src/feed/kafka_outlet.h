/// What a mirror writes, on a Kafka cluster.
#pragma once

#include <memory>

#include "base/error.h"
#include "feed/kafka_log.h"
#include "feed/mirror.h"

namespace tidemark::feed {

/// A topic of the dead that has no partition 0 is kNotFound. Records that are buried bear the
/// headers "tidemark-error", "tidemark-topic", "tidemark-partition" and "tidemark-offset" beside
/// their own. No broker is contacted before the first use.
Result<std::unique_ptr<MirrorOutlet>> OpenKafkaOutlet(const kafka::ClusterOptions& cluster,
                                                      const FeedTopics& topics);

}  // namespace tidemark::feed
