/// Hudi tables made of the files a test writes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "lake/hudi/checkpoint.h"
#include "lake/hudi/table.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/watched_store.h"

namespace tidemark::lake::hudi {

inline ColumnReaderSource NoColumns() {
  return []() -> Result<const ColumnReader*> {
    return Fail(ErrorKind::kUnavailable, "no columns in this test");
  };
}

/// Waits cost nothing that a test would notice.
inline Budget Hurry() {
  Budget budget = Budget::For(std::chrono::minutes(1));
  budget.retry_delay = std::chrono::milliseconds(1);
  return budget;
}

inline std::string JsonCommit(const std::string& key, const std::string& value,
                              const std::string& operation = "UPSERT") {
  std::string escaped;
  for (const char c : value) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  return "{\"partitionToWriteStats\":{},\"compacted\":false,\"extraMetadata\":{\"schema\":\"\",\"" +
         key + "\":\"" + escaped + "\"},\"operationType\":\"" + operation + "\"}";
}
inline std::string Offsets(int offset) {
  return "orders,0:" + std::to_string(offset);
}
inline std::string CommitAt(int offset) {
  return JsonCommit(std::string(kStreamerKeyV1), Offsets(offset));
}
inline const std::string kNoCheckpoint =
    R"({"extraMetadata":{"schema":""},"operationType":"UPSERT"})";

/// A table made of the files a test writes.
class HudiTableTest : public ::testing::Test {
 protected:
  void Properties(int layout, const std::string& more = "") {
    Write("hoodie.properties",
          "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\n"
          "hoodie.table.checksum=498511606\nhoodie.table.version=" +
              std::string(layout == 2 ? "9" : "6") + "\n" + more);
  }
  void MergeOnRead(int layout) { Properties(layout, "hoodie.table.type=MERGE_ON_READ\n"); }

  /// A file below `.hoodie`.
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_THAT(memory_.Put(".hoodie/" + name, bytes, Budget()), support::IsOk());
  }
  void Remove(const std::string& name) {
    ASSERT_THAT(memory_.Remove(".hoodie/" + name, Budget()), support::IsOk());
  }

  Result<Table> Open() { return Table::Open(store_, NoColumns(), Hurry()); }
  Result<CheckpointSearch> Find(CheckpointOptions options = {}) {
    auto table = Open();
    if (!table) return std::unexpected(table.error());
    return table->FindCheckpoint(options, Hurry());
  }
  /// "instant value depth" of what was found, "none" else; with "; changed instant" or "; change
  /// unknown" behind it.
  std::string Found(CheckpointOptions options = {}) {
    const auto search = Find(options);
    if (!search) return "error: " + search.error().message;
    if (!search->found) return search->is_depth_exhausted ? "none, exhausted" : "none";
    const CommitPoint& found = *search->found;
    std::string text = found.instant + " " + found.checkpoint.value + " depth " +
                       std::to_string(found.commit_depth);
    text += search->last_change ? "; changed " + search->last_change->instant : "; change unknown";
    return text;
  }
  std::vector<std::string> FindingKinds() {
    std::vector<std::string> kinds;
    const auto search = Find();
    EXPECT_THAT(search, support::IsOk());
    if (search) {
      for (const Finding& finding : search->findings) kinds.push_back(finding.kind);
    }
    return kinds;
  }

  storage::MemoryStore memory_;
  support::WatchedStore store_{memory_};
};

}  // namespace tidemark::lake::hudi
