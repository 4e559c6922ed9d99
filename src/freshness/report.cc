#include "freshness/report.h"

#include <utility>

namespace tidemark::freshness {

std::string_view PipelineStatusName(PipelineStatus status) {
  switch (status) {
    case PipelineStatus::kFresh: return "fresh";
    case PipelineStatus::kWarning: return "warning";
    case PipelineStatus::kBreach: return "breach";
    case PipelineStatus::kUnknown: return "unknown";
    case PipelineStatus::kDisabled: return "disabled";
  }
  std::unreachable();
}

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kOk: return "ok";
    case Reason::kNoCheckpoint: return "no_checkpoint";
    case Reason::kCheckpointNotKafka: return "checkpoint_not_kafka";
    case Reason::kCheckpointUnreadable: return "checkpoint_unreadable";
    case Reason::kTopicMismatch: return "topic_mismatch";
    case Reason::kTopicMissing: return "topic_missing";
    case Reason::kTopicRecreated: return "topic_recreated";
    case Reason::kOffsetAhead: return "offset_ahead";
    case Reason::kPartitionsUnknown: return "partitions_unknown";
    case Reason::kDataLost: return "data_lost";
    case Reason::kTableUnreadable: return "table_unreadable";
    case Reason::kClusterUnreachable: return "cluster_unreachable";
    case Reason::kAuth: return "auth";
    case Reason::kTimeout: return "timeout";
    case Reason::kNoTimestamp: return "no_timestamp";
    case Reason::kMaintenance: return "maintenance";
  }
  std::unreachable();
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFresh: return "FRESH";
    case Verdict::kLagging: return "LAGGING";
    case Verdict::kLost: return "LOST";
    case Verdict::kBlocked: return "BLOCKED";
    case Verdict::kAhead: return "AHEAD";
    case Verdict::kUnknown: return "UNKNOWN";
  }
  std::unreachable();
}

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kStreaming: return "streaming";
    case Mode::kBatch: return "batch";
  }
  std::unreachable();
}

}  // namespace tidemark::freshness
