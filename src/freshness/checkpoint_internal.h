/// From a checkpoint to the Kafka positions it names, or why it names none.
#pragma once

#include <vector>

#include "freshness/judge.h"
#include "freshness/report.h"

namespace tidemark::freshness {

struct TopicSelection {
  Reason reason = Reason::kOk;                     ///< kOk exactly when there is something to ask
  std::vector<kafka::ProbeRequest::Topic> topics;  ///< in the checkpoint's order
};

/// See TopicsToProbe. Reasons: kNoCheckpoint, kCheckpointNotKafka, kCheckpointUnreadable,
/// kTopicMismatch.
TopicSelection SelectTopics(const PipelineSpec& spec, const lake::CheckpointSearch& search);

}  // namespace tidemark::freshness
