#include "change/group.h"

namespace tidemark::change {

std::string_view PartitionOpName(PartitionOp op) {
  switch (op) {
    case PartitionOp::kAdd: return "ADD";
    case PartitionOp::kTouch: return "TOUCH";
    case PartitionOp::kDrop: return "DROP";
  }
  return "";
}

std::string_view CommitTypeName(CommitType type) {
  switch (type) {
    case CommitType::kCommit: return "COMMIT";
    case CommitType::kDeltaCommit: return "DELTA_COMMIT";
    case CommitType::kReplaceCommit: return "REPLACE_COMMIT";
    case CommitType::kCompaction: return "COMPACTION";
    case CommitType::kLogCompaction: return "LOG_COMPACTION";
    case CommitType::kClustering: return "CLUSTERING";
    case CommitType::kClean: return "CLEAN";
    case CommitType::kRollback: return "ROLLBACK";
    case CommitType::kRestore: return "RESTORE";
    case CommitType::kSavepoint: return "SAVEPOINT";
    case CommitType::kIndexing: return "INDEXING";
    case CommitType::kSchemaCommit: return "SCHEMA_COMMIT";
    case CommitType::kArchivedRange: return "ARCHIVED_RANGE";
    case CommitType::kUnknown: break;
  }
  return "UNKNOWN";
}

std::string_view TableReasonName(TableReason reason) {
  switch (reason) {
    case TableReason::kCreated: return "CREATED";
    case TableReason::kUpgraded: return "UPGRADED";
    case TableReason::kDowngraded: return "DOWNGRADED";
    case TableReason::kRestored: return "RESTORED";
    case TableReason::kRecreated: return "RECREATED";
    case TableReason::kResynced: return "RESYNCED";
    case TableReason::kReconciled: return "RECONCILED";
    case TableReason::kDropped: return "DROPPED";
  }
  return "";
}

std::string_view EventSourceName(EventSource source) {
  switch (source) {
    case EventSource::kIncremental: return "incremental";
    case EventSource::kReconcile: return "reconcile";
    case EventSource::kBootstrap: return "bootstrap";
  }
  return "";
}

}  // namespace tidemark::change
