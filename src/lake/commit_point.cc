#include "lake/commit_point.h"

#include <utility>

namespace tidemark::lake {

std::string_view CheckpointKindName(CheckpointKind kind) {
  switch (kind) {
    case CheckpointKind::kKafka: return "kafka";
    case CheckpointKind::kKinesis: return "kinesis";
    case CheckpointKind::kPulsar: return "pulsar";
    case CheckpointKind::kInstant: return "instant";
    case CheckpointKind::kEpochMillis: return "epoch_millis";
    case CheckpointKind::kSparkBatch: return "spark_batch";
    case CheckpointKind::kKafkaConnect: return "kafka_connect";
    case CheckpointKind::kFlink: return "other";
    case CheckpointKind::kOther: return "other";
  }
  std::unreachable();
}

}  // namespace tidemark::lake
