#include <fmt/core.h>

#include <utility>

#include "lake/hudi/archive.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/slice_inputs_internal.h"

namespace tidemark::lake::hudi {
namespace {

/// A body still being written is seen whole on a later try.
constexpr int kBodyTries = 3;

bool IsAtOrBefore(const Instant& instant, const SliceOptions& options) {
  return !options.as_of || instant.requested <= *options.as_of;
}

void AddReplaced(const CommitMetadata& metadata, const std::string& requested,
                 SliceInputs& inputs) {
  for (const auto& [partition, ids] : metadata.replaced) {
    for (const std::string& id : ids) {
      std::string& by = inputs.replaced[{partition, id}];
      if (requested > by) by = requested;
    }
  }
}

void AddReplacedLater(const CommitMetadata& metadata, const std::string& requested,
                      SliceInputs& inputs) {
  for (const auto& [partition, ids] : metadata.replaced) {
    for (const std::string& id : ids) {
      std::string& by = inputs.replaced_later[{partition, id}];
      if (by.empty() || requested < by) by = requested;
    }
  }
}

Result<std::string> ReadBody(const storage::ObjectStore& store, const std::string& key,
                             const Budget& budget) {
  auto body = store.Read(key, budget);
  if (!body && body.error().kind == ErrorKind::kNotFound) {
    return Fail(ErrorKind::kConflict,
                fmt::format("the timeline changed while it was read missing={}", key));
  }
  return body;
}

/// What is not known to be replaced would be shown, so a body that cannot be read ends the work.
Status ReadReplaceCommit(const storage::ObjectStore& store, const Instant& commit,
                         const Budget& budget, SliceInputs& inputs, FindingList& findings) {
  if (commit.file_size > kCommitBodySizeMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("commit body is over the bound size={} max={} file={}",
                            commit.file_size, kCommitBodySizeMax, commit.file));
  }
  for (int next_try = 2;; ++next_try) {
    TRY_ASSIGN(auto body, ReadBody(store, commit.file, budget));
    auto metadata = ParseCommitMetadata(std::move(body));
    if (metadata) {
      // A writer that died while completing leaves an empty file, and releases take it for one that
      // replaced nothing.
      if (!metadata->says_replaced) {
        findings.Add("empty_replacecommit", commit.file,
                     "a replacecommit does not say what it replaced, so that those rows are shown "
                     "beside the new ones");
      }
      AddReplaced(*metadata, commit.requested, inputs);
      return {};
    }
    if (next_try > kBodyTries || !budget.WaitForTry(next_try))
      return std::unexpected(std::move(metadata).error().With(commit.file));
  }
}

/// One after as_of, which no row depends on: what cannot be read is passed over.
Status ReadLaterReplaceCommit(const storage::ObjectStore& store, const Instant& commit,
                              const Budget& budget, SliceInputs& inputs) {
  if (commit.file_size > kCommitBodySizeMax) return {};
  TRY_ASSIGN(auto body, ReadBody(store, commit.file, budget));
  const auto metadata = ParseCommitMetadata(std::move(body));
  if (metadata) AddReplacedLater(*metadata, commit.requested, inputs);
  return {};
}

/// Key of the plan of a compaction; `file` is that of its highest state.
std::string PlanKey(const Instant& instant) {
  const size_t slash = instant.file.rfind('/');
  const auto folder = slash == std::string::npos ? "" : instant.file.substr(0, slash + 1);
  return fmt::format("{}{}.compaction.requested", folder, instant.requested);
}

Status ReadPlan(const storage::ObjectStore& store, const Instant& instant, const Budget& budget,
                SliceInputs& inputs, FindingList& findings) {
  const std::string key = PlanKey(instant);
  const auto body = store.Read(key, budget);
  if (!body && body.error().kind != ErrorKind::kNotFound) return std::unexpected(body.error());
  auto plan = body ? ParseCompactionPlan(*body)
                   : Result<std::vector<CompactionOperation>>(std::unexpected(body.error()));
  if (plan)
    inputs.plans.insert_or_assign(instant.requested, *std::move(plan));
  else
    findings.Add("unreadable_plan", key, plan.error().message);
  return {};
}

}  // namespace

void FindingList::Add(std::string kind, std::string place, std::string message) {
  if (++counts_[kind] > kSliceFindingsMax) return;
  findings_.push_back({std::move(kind), std::move(place), std::move(message)});
}

std::vector<Finding> FindingList::Take() && {
  for (const auto& [kind, count] : counts_) {
    if (count <= kSliceFindingsMax) continue;
    findings_.push_back(
        {kind, "", fmt::format("more findings of this kind were left out, all={}", count)});
  }
  return std::move(findings_);
}

Result<SliceInputs> ReadSliceInputs(const storage::ObjectStore& store, const Timeline& timeline,
                                    const SliceOptions& options, const Budget& budget,
                                    FindingList& findings) {
  SliceInputs inputs;
  inputs.instants = CommittedInstants(timeline, options.as_of);
  for (const Instant& instant : timeline.instants) {
    if (instant.is_archived) continue;
    const bool is_completed = instant.state == State::kCompleted;
    if (!IsAtOrBefore(instant, options)) {
      if (options.with_clean_check && is_completed && instant.action == Action::kReplaceCommit) {
        TRY(budget.Check());
        TRY(ReadLaterReplaceCommit(store, instant, budget, inputs));
      }
      continue;
    }
    const bool is_compaction =
        instant.action == Action::kCompaction || instant.planned_as == Action::kCompaction;
    if (is_completed && instant.action == Action::kReplaceCommit) {
      TRY(budget.Check());
      TRY(ReadReplaceCommit(store, instant, budget, inputs, findings));
    }
    if (is_compaction && (!is_completed || options.with_orphan_check)) {
      TRY(budget.Check());
      TRY(ReadPlan(store, instant, budget, inputs, findings));
    }
  }
  return inputs;
}

Status AddArchiveToInputs(const storage::ObjectStore& store, const TableProperties& properties,
                          const ColumnReaderSource& columns, const SliceOptions& options,
                          const Budget& budget, SliceInputs& inputs, FindingList& findings) {
  TRY_ASSIGN(Archive archive,
             ReadArchive(store, properties, columns,
                         {.with_extra = false, .with_cleans = options.with_clean_check}, budget));
  for (Finding& finding : archive.findings) {
    findings.Add(std::move(finding.kind), std::move(finding.place), std::move(finding.message));
  }
  std::vector<Instant> instants;
  for (ArchivedInstant& archived : archive.instants) {
    if (archived.instant.state == State::kCompleted) {
      const auto add = IsAtOrBefore(archived.instant, options) ? AddReplaced : AddReplacedLater;
      add(archived.metadata, archived.instant.requested, inputs);
    }
    if (archived.clean && options.as_of && archived.instant.requested > *options.as_of)
      inputs.cleans.try_emplace(archived.instant.requested, *std::move(archived.clean));
    instants.push_back(std::move(archived.instant));
  }
  inputs.instants.AddArchived(instants);
  return {};
}

}  // namespace tidemark::lake::hudi
