#include "lake/hudi/instant_facts.h"

#include <map>
#include <utility>
#include <vector>

namespace tidemark::lake::hudi {
namespace {

template <class Value>
Result<InstantFacts> Facts(Result<Value> value) {
  if (!value) return std::unexpected(std::move(value).error());
  return InstantFacts(*std::move(value));
}

size_t TextSize(const std::vector<std::string>& texts) {
  size_t size = 0;
  for (const auto& text : texts) size += text.size();
  return size;
}

size_t TextSize(const std::map<std::string, std::vector<std::string>>& by_partition) {
  size_t size = 0;
  for (const auto& [partition, texts] : by_partition) size += partition.size() + TextSize(texts);
  return size;
}

size_t TextSize(const std::vector<NamedInstant>& instants) {
  size_t size = 0;
  for (const auto& instant : instants)
    size += instant.requested.size() + instant.action_name.size();
  return size;
}

struct SizeOf {
  size_t operator()(const std::monostate&) const { return 0; }
  size_t operator()(const CommitStats& stats) const {
    size_t size = TextSize(stats.metadata.replaced);
    for (const auto& [key, value] : stats.metadata.extra) size += key.size() + value.size();
    for (const auto& [partition, writes] : stats.partitions) {
      size += partition.size();
      for (const auto& write : writes)
        size += write.file_id.size() + write.path.size() + write.previous.size();
    }
    return size;
  }
  size_t operator()(const CleanMetadata& clean) const {
    return TextSize(clean.removed) + TextSize(clean.deleted_partitions);
  }
  size_t operator()(const RollbackMetadata& rollback) const { return TextSize(rollback.instants); }
  size_t operator()(const RestoreMetadata& restore) const { return TextSize(restore.instants); }
  size_t operator()(const SavepointMetadata& savepoint) const {
    return savepoint.created_by.size() + savepoint.comment.size() + TextSize(savepoint.files);
  }
};

}  // namespace

Result<InstantFacts> ParseInstantFacts(Action action, std::string body) {
  switch (action) {
    case Action::kCommit:
    case Action::kDeltaCommit:
    case Action::kReplaceCommit: return Facts(ParseCommitStats(std::move(body)));
    case Action::kClean: return Facts(ParseCleanMetadata(body));
    case Action::kRollback: return Facts(ParseRollbackMetadata(body));
    case Action::kRestore: return Facts(ParseRestoreMetadata(body));
    case Action::kSavepoint: return Facts(ParseSavepointMetadata(body));
    default: return InstantFacts();
  }
}

size_t FactsTextSize(const InstantFacts& facts) {
  return std::visit(SizeOf{}, facts);
}

}  // namespace tidemark::lake::hudi
