#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lake/hudi/base_twins_internal.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/written_files.h"

namespace tidemark::lake::hudi {

Result<BaseTwins::Commit> BaseTwins::ReadCommit(const std::string& instant) const {
  const auto found = std::ranges::find_if(timeline_.instants, [&](const Instant& one) {
    return one.requested == instant && one.state == State::kCompleted &&
           IsCommitAction(one.action) && !one.is_archived;
  });
  Commit commit;
  if (found == timeline_.instants.end()) {
    commit.unknown = "it is archived";
    return commit;
  }
  if (found->file_size > kCommitBodySizeMax) {
    commit.unknown = "it is over the bound";
    return commit;
  }
  TRY(budget_.Check());
  auto body = store_.Read(found->file, budget_);
  if (!body && body.error().kind == ErrorKind::kNotFound) {
    commit.unknown = "it was archived meanwhile";
    return commit;
  }
  if (!body) return internal::Pass(body);
  auto files = ParseWrittenFiles(*std::move(body));
  if (!files) {
    commit.unknown = "it cannot be read";
    return commit;
  }
  for (WrittenFile& file : *files) commit.paths.insert(std::move(file.path));
  return commit;
}

Result<const BaseTwins::Commit*> BaseTwins::CommitOf(const std::string& instant) {
  const auto known = commits_.find(instant);
  if (known != commits_.end()) return &known->second;
  TRY_ASSIGN(Commit commit, ReadCommit(instant));
  return &commits_.emplace(instant, std::move(commit)).first->second;
}

Result<size_t> BaseTwins::Choose(std::span<const BaseFile> twins, bool is_latest) {
  const size_t last = twins.size() - 1;
  TRY_ASSIGN(const Commit* commit, CommitOf(twins[last].name.instant));
  std::vector<size_t> named;
  for (size_t i = 0; i < twins.size(); ++i)
    if (commit->paths.contains(twins[i].key)) named.push_back(i);
  const bool is_told = named.size() == 1;
  const size_t taken = is_told ? named.front() : last;
  std::string why = "its commit names it";
  if (!is_told) {
    why = fmt::format("listed last, its commit does not tell: {}",
                      commit->unknown.empty() ? fmt::format("it names {} of them", named.size())
                                              : commit->unknown);
  } else if (taken != last) {
    why += fmt::format(", a reader that lists the folder shows the last of them last={}",
                       twins[last].key);
  }
  const auto* const kind = is_told || !is_latest ? "duplicate_base_file" : "ambiguous_base_file";
  for (size_t i = 0; i < twins.size(); ++i) {
    if (i == taken) continue;
    findings_.Add(kind, twins[i].key,
                  fmt::format("two base files of one write in one group, the other is taken "
                              "taken={} why={}",
                              twins[taken].key, why));
  }
  return taken;
}

}  // namespace tidemark::lake::hudi
