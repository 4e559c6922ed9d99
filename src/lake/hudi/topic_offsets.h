/// The three ways in which writers put Kafka offsets into one string.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/commit_point.h"

namespace tidemark::lake::hudi {

// All: kCorrupt, with the part at fault, for anything the grammar does not allow: a missing or
// negative number, one that does not fit, the same partition twice, blanks, anything left over.

/// HoodieStreamer: "topic,0:1200,1:987". At least one partition.
Result<TopicOffsets> ParseStreamerOffsets(std::string_view value);

/// Kafka Connect: "0=1200,1=987". The topic stays empty.
Result<TopicOffsets> ParseConnectOffsets(std::string_view value);

/// Flink: "kafka_metadata%3Atopic%3A0:1200;…", entries of several topics mixed, and entries
/// "kafka_metadata%3Akafka_cluster%3Atopic%3A:cluster", which are passed over. Topics in the order
/// met; none when there are only cluster entries.
Result<std::vector<TopicOffsets>> ParseFlinkOffsets(std::string_view value);

/// Whether Kafka would allow a topic of this name: 1 to 249 of [A-Za-z0-9._-].
bool IsTopicName(std::string_view name);

}  // namespace tidemark::lake::hudi
