#include "lake/hudi/commit_reader.h"

#include <fmt/core.h>

#include <utility>

#include "lake/hudi/checkpoint.h"

namespace tidemark::lake::hudi {
namespace {

bool IsResetKey(std::string_view key) {
  return key == kStreamerResetKeyV1 || key == kStreamerResetKeyV2;
}

CommitReading Unreadable(const Instant& commit, std::string kind, std::string message) {
  CommitReading reading;
  reading.is_readable = false;
  reading.findings.push_back({std::move(kind), commit.file, std::move(message)});
  return reading;
}

CommitReading ReadingOfBody(const CommitMetadata& metadata, const Instant& commit, bool is_empty) {
  auto reading = ReadingOf(metadata, commit.file);
  if (is_empty) {
    reading.findings.push_back(
        {"empty_commit", commit.file,
         "the commit's file is empty, as a writer leaves it that dies while completing"});
  }
  return reading;
}

}  // namespace

CommitReading ReadingOf(const CommitMetadata& metadata, const std::string& place) {
  CommitReading reading;
  reading.checkpoint = CheckpointOf(metadata.extra);
  if (!reading.checkpoint) return reading;
  const SourceCheckpoint& checkpoint = *reading.checkpoint;
  if (!checkpoint.defect.empty()) {
    reading.findings.push_back({"unreadable_checkpoint", place,
                                fmt::format("{} key={}", checkpoint.defect, checkpoint.key)});
  }
  if (IsResetKey(checkpoint.key)) {
    reading.findings.push_back(
        {"reset_checkpoint_only", place,
         fmt::format("the commit holds where the streamer was told to start and not how far it "
                     "got key={}",
                     checkpoint.key)});
  }
  return reading;
}

const CommitReading* CommitReader::Keep(const Instant& commit, CommitReading reading) {
  return &by_file_.insert_or_assign(commit.file, std::move(reading)).first->second;
}

void CommitReader::NoteGone(const Instant& commit, std::string message) {
  gone_count_ = commit.file == gone_file_ ? gone_count_ + 1 : 1;
  gone_file_ = commit.file;
  gone_message_ = std::move(message);
}

Result<const CommitReading*> CommitReader::Read(const Instant& commit, int tries_max) {
  const auto known = by_file_.find(commit.file);
  if (known != by_file_.end()) return &known->second;
  if (commit.file_size > kCommitBodySizeMax) {
    return Keep(commit, Unreadable(commit, "oversized_commit",
                                   fmt::format("commit body is over the bound size={} max={}",
                                               commit.file_size, kCommitBodySizeMax)));
  }
  for (int next_try = 2;; ++next_try) {
    auto body = store_.Read(commit.file, budget_);
    if (!body && body.error().kind == ErrorKind::kNotFound) {
      NoteGone(commit, body.error().message);
      return nullptr;
    }
    if (!body) return internal::Pass(body);
    const bool is_empty = body->empty();
    const auto metadata = ParseCommitMetadata(*std::move(body));
    if (metadata) return Keep(commit, ReadingOfBody(*metadata, commit, is_empty));
    if (next_try > tries_max || !budget_.WaitForTry(next_try))
      return Keep(commit, Unreadable(commit, "unreadable_commit", metadata.error().message));
  }
}

}  // namespace tidemark::lake::hudi
