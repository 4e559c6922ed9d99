#include "lake/hudi/log_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Read(const std::string& name) {
  return support::ReadTestdata("hudi/logs/" + name);
}

/// "offset kind records state" of each entry.
std::vector<std::string> Lines(const std::string& bytes) {
  const auto listing = ListLog(bytes, Budget());
  if (!listing) return {"error: " + listing.error().message};
  std::vector<std::string> lines;
  uint64_t end = 0;
  for (const LogEntry& entry : listing->entries) {
    EXPECT_EQ(entry.offset, end);
    end = entry.offset + entry.size;
    lines.push_back(
        std::to_string(entry.offset) + " " +
        (entry.block ? std::string(LogBlockKindName(entry.block->kind)) : std::string("-")) + " " +
        (entry.records ? std::to_string(*entry.records) : std::string("-")) + " " +
        std::string(LogEntryStateName(entry.state)));
  }
  EXPECT_EQ(end, bytes.size());
  return lines;
}

TEST(LogListingTest, ASoundFileIsItsBlocks) {
  EXPECT_THAT(Lines(Read("intact.log")), ElementsAre("0 AVRO_DATA 2 sound", "1099 DELETE 1 sound"));
  EXPECT_THAT(Lines(Read("rollback_command.log")), ElementsAre("0 COMMAND - sound"));
  EXPECT_THAT(Lines(""), IsEmpty());
}

TEST(LogListingTest, ParquetBlocksAreNotCountedHere) {
  const auto lines = Lines(Read("parquet_and_delete.log"));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0], "0 PARQUET_DATA - sound");
}

TEST(LogListingTest, HFileBlocksAreNotReadAndSaySo) {
  const std::string bytes = support::ReadTestdata(
      "hudi/tables/f014_x_rollback/table/.hoodie/metadata/files/"
      ".files-0000-0_00000000000000010.log.4_0-1-0");
  EXPECT_THAT(Lines(bytes), ElementsAre("0 HFILE_DATA - unreadable"));
  ASSERT_OK_ASSIGN(const auto listing, ListLog(bytes, Budget()));
  EXPECT_THAT(listing.entries[0].reason, HasSubstr("HFile"));
}

TEST(LogListingTest, DamageStandsWhereItIs) {
  EXPECT_THAT(Lines(Read("truncated_midfile.log")),
              ElementsAre("0 - - damaged", "1069 AVRO_DATA 2 sound", "2168 DELETE 1 sound"));
  for (const std::string part : {"magic", "header", "content", "footer"}) {
    EXPECT_THAT(Lines(Read("truncated_" + part + ".log")),
                ElementsAre("0 AVRO_DATA 2 sound", "1099 - - torn"))
        << part;
  }
}

TEST(LogListingTest, ABlockWithDamagedContentSaysSo) {
  std::string bytes = Read("intact.log");
  ASSERT_OK_ASSIGN(const auto intact, ListLog(bytes, Budget()));
  // The length of the second record, and the first byte of the deletes.
  const LogBlock data = *intact.entries[0].block;
  const LogBlock deletes = *intact.entries[1].block;
  bytes[data.content_offset + 11] = static_cast<char>(bytes[data.content_offset + 11] + 1);
  bytes[deletes.content_offset + 8] = '\x7e';
  EXPECT_THAT(Lines(bytes), ElementsAre("0 AVRO_DATA 0 damaged", "1099 DELETE 0 damaged"));
}

TEST(LogListingTest, WhatIsNotReadIsNotDamaged) {
  std::string bytes = Read("intact.log");
  ASSERT_OK_ASSIGN(const auto intact, ListLog(bytes, Budget()));
  bytes[intact.entries[1].block->content_offset + 3] = '\x09';  // the version
  ASSERT_OK_ASSIGN(const auto listing, ListLog(bytes, Budget()));
  EXPECT_EQ(listing.entries[1].state, LogEntryState::kUnreadable);
  EXPECT_THAT(listing.entries[1].reason, HasSubstr("version=9"));
  EXPECT_TRUE(listing.Has(LogEntryState::kUnreadable));
  EXPECT_FALSE(listing.Has(LogEntryState::kDamaged));
}

TEST(LogListingTest, AnythingElseIsNoLogFile) {
  EXPECT_THAT(ListLog("PAR1 and so on", Budget()),
              IsError(ErrorKind::kCorrupt, HasSubstr("bytes=14")));
  EXPECT_THAT(ListLog("#HUDI", Budget()), IsOk());
  EXPECT_THAT(ListLog("x#HUDI#", Budget()), IsOk());
}

TEST(LogListingTest, DeletesAreHandedOut) {
  const std::string bytes = Read("intact.log");
  ASSERT_OK_ASSIGN(const auto listing, ListLog(bytes, Budget()));
  std::vector<std::string> keys;
  ForEachDelete(*listing.entries[1].block, [&](const DeleteRecord& record) {
    keys.emplace_back(record.key.value_or("null"));
  });
  EXPECT_THAT(keys, ElementsAre("b"));
}

TEST(LogListingTest, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(ListLog(Read("intact.log"), Budget::For(std::chrono::minutes(1), stop.get_token())),
              IsError(ErrorKind::kCancelled, _));
}

TEST(LogListingTest, HeaderKeysHaveTheirNames) {
  EXPECT_EQ(LogHeaderKeyName(LogHeaderKey::kSchema), "SCHEMA");
  EXPECT_EQ(LogHeaderKeyName(LogHeaderKey::kBaseFileInstantTimeOfRecordPositions),
            "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS");
  EXPECT_EQ(LogHeaderKeyName(static_cast<LogHeaderKey>(99)), "UNKNOWN");
}

TEST(LogListingTest, EveryTruncationAndFlipIsAccountedFor) {
  const std::string bytes = Read("intact.log");
  for (size_t size = 0; size < bytes.size(); ++size) Lines(bytes.substr(0, size));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x41);
    Lines(flipped);
  }
}

TEST(LogListingTest, StretchesThatAdjoinAreOne) {
  std::string spam;
  for (int i = 0; i < 100'000; ++i) spam += "#HUDI#";
  ASSERT_OK_ASSIGN(const auto listing, ListLog(spam, Budget()));
  EXPECT_LE(listing.entries.size(), 3u);
  uint64_t size = 0;
  for (const LogEntry& entry : listing.entries) {
    EXPECT_EQ(entry.offset, size);
    size += entry.size;
  }
  EXPECT_EQ(size, spam.size());
}

}  // namespace
}  // namespace tidemark::lake::hudi
