#include "lake/hudi/slice_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lake/hudi/stored_log.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"
#include "support/watched_store.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SliceLogTest : public ::testing::Test {
 protected:
  /// A log file with the bytes of one in testdata/hudi/logs.
  void Add(const std::string& name) { AddBytes(name, support::ReadTestdata("hudi/logs/" + name)); }
  void AddBytes(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(memory_.Put("p/" + name, bytes, Budget()).has_value());
    files_.push_back({"p/" + name, {}, bytes.size(), {}});
  }
  Result<SliceLog> Read(uint64_t held_bytes_max = 1 << 20) {
    return SliceLog::Read(store_, files_, {.held_bytes_max = held_bytes_max}, Budget());
  }
  std::vector<std::string> Lines(const SliceLog& log) {
    std::vector<std::string> lines;
    for (const SliceBlock& block : log.blocks()) {
      lines.push_back(std::to_string(block.file) + "." + std::to_string(block.number) + " " +
                      std::string(LogBlockKindName(block.kind)) + " " + block.instant);
    }
    return lines;
  }

  storage::MemoryStore memory_;
  support::WatchedStore store_{memory_};
  std::vector<LogFile> files_;
};

TEST_F(SliceLogTest, BlocksAreNumberedWithinTheirFiles) {
  Add("intact.log");
  Add("rollback_command.log");
  ASSERT_OK_ASSIGN(const SliceLog log, Read());
  const auto lines = Lines(log);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], ::testing::StartsWith("0.0 AVRO_DATA 2026"));
  EXPECT_THAT(lines[1], ::testing::StartsWith("0.1 DELETE 2026"));
  EXPECT_THAT(lines[2], ::testing::StartsWith("1.0 COMMAND 2026"));
  EXPECT_EQ(log.blocks()[1].offset, 1099u);
  EXPECT_EQ(log.blocks()[2].command, "0");
  EXPECT_THAT(log.blocks()[2].target_instant, SizeIs(17));
  EXPECT_EQ(log.blocks()[0].identifier, (BlockIdentifier{0, 0}));
  EXPECT_THAT(log.findings(), IsEmpty());
  EXPECT_EQ(log.bytes_read(), files_[0].size + files_[1].size);
}

TEST_F(SliceLogTest, LogCompactionsSayWhatTheyStandFor) {
  Add("log_compaction.log");
  ASSERT_OK_ASSIGN(const SliceLog log, Read());
  ASSERT_THAT(log.blocks(), SizeIs(2));
  EXPECT_THAT(log.blocks()[0].compacted_times, ::testing::Contains("20261130031130035"));
}

TEST_F(SliceLogTest, PartialUpdatesAreMarked) {
  Add("partial_update.log");
  ASSERT_OK_ASSIGN(const SliceLog log, Read());
  ASSERT_THAT(log.blocks(), SizeIs(1));
  EXPECT_TRUE(log.blocks()[0].is_partial);
}

TEST_F(SliceLogTest, DamageIsAFindingAndTheRestIsRead) {
  Add("truncated_midfile.log");
  Add("truncated_content.log");
  AddBytes("zero.log", "");
  ASSERT_OK_ASSIGN(const SliceLog log, Read());
  EXPECT_THAT(log.blocks(), SizeIs(3));
  ASSERT_THAT(log.findings(), SizeIs(2));
  EXPECT_EQ(log.findings()[0].kind, "corrupt_block");
  EXPECT_EQ(log.findings()[0].place, "p/truncated_midfile.log");
  EXPECT_EQ(log.findings()[1].kind, "torn_tail");
  EXPECT_EQ(log.losses().corrupt_blocks, 1u);
  EXPECT_GT(log.losses().torn_bytes, 0u);
}

/// Content and offsets of every block, held or not.
TEST_F(SliceLogTest, ABlockIsTheSameWhetherItsFileIsHeldOrReadAgain) {
  Add("intact.log");
  Add("parquet_and_delete.log");
  const uint64_t first_only = files_[0].size;
  for (const uint64_t held : {uint64_t{0}, first_only, uint64_t{1} << 20}) {
    ASSERT_OK_ASSIGN(const SliceLog log, Read(held));
    ASSERT_THAT(log.blocks(), SizeIs(4));
    for (size_t place = 0; place < 4; ++place) {
      ASSERT_OK_ASSIGN(const LoadedBlock loaded, log.Load(place, Budget()));
      const SliceBlock& block = log.blocks()[place];
      ASSERT_OK_ASSIGN(const std::string file, store_.Read(files_[block.file].key, Budget()));
      EXPECT_EQ(loaded.block.offset, block.offset);
      EXPECT_EQ(loaded.block.kind, block.kind);
      EXPECT_EQ(loaded.block.content, std::string_view(file).substr(loaded.block.content_offset,
                                                                    loaded.block.content.size()));
    }
  }
}

TEST_F(SliceLogTest, ParquetBlocksHandOutAWholeFile) {
  Add("parquet_and_delete.log");
  ASSERT_OK_ASSIGN(const SliceLog log, Read());
  ASSERT_OK_ASSIGN(const LoadedBlock loaded, log.Load(0, Budget()));
  EXPECT_TRUE(loaded.block.content.starts_with("PAR1"));
  EXPECT_TRUE(loaded.block.content.ends_with("PAR1"));
}

TEST_F(SliceLogTest, AFileThatIsGoneIsAConflict) {
  Add("intact.log");
  ASSERT_OK_ASSIGN(const SliceLog log, Read(0));
  ASSERT_TRUE(memory_.Put(files_[0].key, std::string(1099, 'x'), Budget()).has_value());
  EXPECT_THAT(log.Load(0, Budget()), IsError(ErrorKind::kConflict, _));
  EXPECT_THAT(log.Load(1, Budget()), IsError(ErrorKind::kConflict, _));
  ASSERT_TRUE(memory_.Remove(files_[0].key, Budget()).has_value());
  EXPECT_THAT(log.Load(0, Budget()), IsError(ErrorKind::kConflict, _));
  EXPECT_THAT(Read(), IsError(ErrorKind::kConflict, _));
}

/// Every truncation and every flip, walked in stretches and as a whole.
TEST_F(SliceLogTest, AFileThatIsWalkedHasTheBlocksOfOneInMemory) {
  const std::string whole = support::ReadTestdata("hudi/logs/intact.log");
  struct Walked {
    std::vector<std::string> told;
    LogReader::Losses losses;
  };
  const auto walk = [&](const std::function<LogReader(FindingSink)>& open) {
    Walked walked;
    auto reader = open([&](const Finding& finding) {
      walked.told.push_back(finding.kind + " " + finding.message);
    });
    while (const auto block = reader.Next()) {
      const SliceBlock described = DescribeBlock(*block, 0, 0);
      walked.told.push_back(std::to_string(described.offset) + "+" +
                            std::to_string(described.size) + described.instant);
    }
    EXPECT_TRUE(reader.status().has_value());
    walked.losses = reader.losses();
    return walked;
  };
  const auto compare = [&](const std::string& bytes) {
    ASSERT_TRUE(memory_.Put("p/x", bytes, Budget()).has_value());
    storage::ObjectState state(storage::ObjectChange::kGrow);
    const Budget budget;
    StoredLog log(memory_, "p/x", {.size = bytes.size(), .stretch_bytes = 48}, state, budget);
    const auto walked = walk([&](FindingSink sink) { return LogReader(log, "p/x", sink); });
    const auto held =
        walk([&](FindingSink sink) { return LogReader(std::string_view(bytes), "p/x", sink); });
    EXPECT_EQ(walked.told, held.told);
    EXPECT_EQ(walked.losses, held.losses);
  };
  for (size_t size = 0; size <= whole.size(); ++size) compare(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (at % 2 == 0 ? 0xff : 0x01));
    compare(flipped);
  }
}

TEST_F(SliceLogTest, BlocksThatAreNotLookedIntoAreFoundByTheirEnds) {
  const std::string whole = support::ReadTestdata("hudi/logs/intact.log");
  ASSERT_TRUE(memory_.Put("p/x", whole, Budget()).has_value());
  storage::ObjectState state(storage::ObjectChange::kGrow);
  const Budget budget;
  StoredLog log(memory_, "p/x",
                {.size = whole.size(), .block_bytes_max = 512, .stretch_bytes = 512}, state,
                budget);
  LogReader reader(log, "p/x", {});
  const auto first = reader.Next();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind, LogBlockKind::kAvroData);
  EXPECT_EQ(first->size, 1099u);
  EXPECT_THAT(first->content, IsEmpty());
  const auto second = reader.Next();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->kind, LogBlockKind::kDelete);
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(DescribeBlockTest, AnIdentifierThatCannotBeReadIsNone) {
  for (const std::string text : {"", ",", "1", "1,", ",1", "x,1", "1,1x", "1,2,3"}) {
    LogBlock block;
    block.header[LogHeaderKey::kBlockIdentifier] = text;
    EXPECT_EQ(DescribeBlock(block, 0, 0).identifier, std::nullopt) << text;
  }
  LogBlock block;
  block.header[LogHeaderKey::kBlockIdentifier] = "3,14";
  EXPECT_EQ(DescribeBlock(block, 0, 0).identifier, (BlockIdentifier{3, 14}));
  block.header[LogHeaderKey::kCompactedBlockTimes] = "2,,1,";
  EXPECT_THAT(DescribeBlock(block, 0, 0).compacted_times, ElementsAre("2", "1"));
}

}  // namespace
}  // namespace tidemark::lake::hudi
