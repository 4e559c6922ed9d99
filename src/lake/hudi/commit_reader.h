/// Reading the bodies of commits for their checkpoints.
#pragma once

#include <map>
#include <string>

#include "base/budget.h"
#include "base/error.h"
#include "lake/hudi/checkpoint_scan.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/timeline.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// What metadata says about the source. `place`: where it stood, for findings
/// ("unreadable_checkpoint", "reset_checkpoint_only").
CommitReading ReadingOf(const CommitMetadata& metadata, const std::string& place);

/// Reads the files of completed commits, each once however often the timeline is listed. Borrows
/// store and budget. Single-threaded.
class CommitReader {
 public:
  CommitReader(const storage::ObjectStore& store, const Budget& budget)
      : store_(store), budget_(budget) {}

  /// nullptr when the file is gone. `tries_max`: how often a damaged body is read, in case its
  /// writer was caught in the act. A body that stays unreadable is a reading with a finding
  /// ("unreadable_commit", "oversized_commit"); an empty one too ("empty_commit"). The reading is
  /// good as long as this object.
  Result<const CommitReading*> Read(const Instant& commit, int tries_max);

  /// What the store said of the file that was gone last; for messages.
  const std::string& gone_message() const { return gone_message_; }
  /// How often in a row it was that file that was gone.
  int gone_count() const { return gone_count_; }

 private:
  void NoteGone(const Instant& commit, std::string message);
  const CommitReading* Keep(const Instant& commit, CommitReading reading);

  const storage::ObjectStore& store_;
  const Budget& budget_;
  std::map<std::string, CommitReading> by_file_;
  std::string gone_file_;
  std::string gone_message_;
  int gone_count_ = 0;
};

}  // namespace tidemark::lake::hudi
