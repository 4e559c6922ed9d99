#include "feed/table_record.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

TableRecord Full() {
  change::Column inner;
  inner.name = "x";
  inner.path = "p.x";
  inner.type = "int";
  change::Column outer{.name = "p",
                       .path = "p",
                       .type = "struct<x:int>",
                       .is_nullable = true,
                       .default_json = "\"a\\\"b\"",
                       .comment = "größe",
                       .position = 3,
                       .id = 7,
                       .children = {inner}};
  change::Cursor cursor;
  cursor.epoch = 3;
  cursor.seq = 12;
  cursor.previous = change::Previous{.seq = 12, .instant = {{"20240101", "commit"}}};
  cursor.published = {{{"20240101", "commit"}, 12}, {{"20231231", "savepoint"}, 4}};
  cursor.pending = {{"20240102", "deltacommit"}};
  cursor.newest_requested = "20240101";
  cursor.floor = "20231231";
  cursor.schema = {.columns = {outer}, .fingerprint = "00ff"};
  cursor.schema_version = 2;
  cursor.schema_source = change::SchemaSource{
      .requested = "20240101", .action_name = "commit", .operation = "UPSERT", .has_schema = true};
  cursor.partition_count = 2;
  cursor.partition_digest = {.high = 1, .low = 2};
  cursor.table_version = 6;
  cursor.layout = 1;
  return {.uid = "0123456789abcdef",
          .table_id = "db.orders",
          .base_path = "s3://lake/orders",
          .epochs_over = 2,
          .is_paused = true,
          .cursor = cursor,
          .snapshot = StoredSnapshot{.epoch = 3,
                                     .as_of_seq = 9,
                                     .page_count = 4,
                                     .published = WallTimeFromMillis(1'700'000'000'123)},
          .control_next = 17};
}

TEST(TableRecordTest, WhatIsWrittenIsRead) {
  const auto read = ParseTableRecord(TableRecordText(Full()));
  ASSERT_THAT(read, support::IsOk());
  EXPECT_EQ(read->uid, "0123456789abcdef");
  EXPECT_EQ(read->table_id, "db.orders");
  EXPECT_EQ(read->base_path, "s3://lake/orders");
  EXPECT_EQ(read->epochs_over, 2);
  EXPECT_TRUE(read->is_paused);
  EXPECT_FALSE(read->is_dropped);
  EXPECT_EQ(read->snapshot, Full().snapshot);
  EXPECT_EQ(read->control_next, 17);
  ASSERT_TRUE(read->cursor);
  const auto& cursor = *read->cursor;
  const auto wanted = *Full().cursor;
  EXPECT_EQ(cursor.epoch, 3);
  EXPECT_EQ(cursor.seq, 12);
  EXPECT_EQ(cursor.previous, wanted.previous);
  EXPECT_EQ(cursor.published, wanted.published);
  EXPECT_EQ(cursor.pending, wanted.pending);
  EXPECT_EQ(cursor.newest_requested, wanted.newest_requested);
  EXPECT_EQ(cursor.floor, wanted.floor);
  EXPECT_EQ(cursor.schema, wanted.schema);
  EXPECT_EQ(cursor.schema_source, wanted.schema_source);
  EXPECT_EQ(cursor.partition_digest, wanted.partition_digest);
  EXPECT_EQ(cursor.table_version, 6);
  EXPECT_EQ(cursor.layout, 1);
}

TEST(TableRecordTest, ATableThatWasNeverPublishedHasNoCursor) {
  const auto read = ParseTableRecord(TableRecordText({.uid = "a", .is_dropped = true}));
  ASSERT_THAT(read, support::IsOk());
  EXPECT_TRUE(read->is_dropped);
  EXPECT_FALSE(read->cursor);
  EXPECT_FALSE(read->snapshot);
}

TEST(TableRecordTest, ARecordOfAReleaseThatHeardNothingOfThePastSaysNothingOfIt) {
  // As it was written before `controlNext` was there.
  const std::string_view kOld =
      R"({"format":1,"hash":"144bd67625998f8d6d1bf237df985e5e","table":{"basePath":"s3://lake/t",)"
      R"("cursor":{"epoch":1,"floor":"","layout":1,"newestRequested":"","partitionCount":0,)"
      R"("partitionDigest":"00000000000000000000000000000000","pending":[],"prev":null,)"
      R"("published":[],"schema":{"columns":[],"fingerprint":""},"schemaSource":null,)"
      R"("schemaVersion":0,"seq":2,"tableVersion":6},"dropped":false,"epochsOver":0,)"
      R"("paused":false,"snapshot":null,"tableId":"db.t","uid":"0123456789abcdef"}})";
  const auto read = ParseTableRecord(kOld);
  ASSERT_THAT(read, support::IsOk());
  EXPECT_EQ(read->control_next, std::nullopt);
  EXPECT_EQ(TableRecordText(*read), kOld);
}

TEST(TableRecordTest, EveryTruncationIsRefused) {
  const std::string text = TableRecordText(Full());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ParseTableRecord(text.substr(0, size))) << size;
}

TEST(TableRecordTest, AFlippedByteIsRefusedOrChangesNothing) {
  const std::string text = TableRecordText(Full());
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0x01, 0x20, 0x80}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ bit);
      const auto read = ParseTableRecord(flipped);
      if (read) {
        EXPECT_EQ(TableRecordText(*read), text) << at;
      }
    }
  }
}

TEST(TableRecordTest, AStrangersRecordThatNestsWithoutEndIsRefused) {
  constexpr size_t kDepth = 400'000;
  using Pair = std::pair<std::string, std::string>;
  for (const auto& [open, close] : {Pair{"[", "]"}, Pair{R"({"a":)", "}"}}) {
    std::string text = R"({"format":1,"hash":"00","table":)";
    for (size_t i = 0; i < kDepth; ++i) text += open;
    text += "0";
    for (size_t i = 0; i < kDepth; ++i) text += close;
    const auto read = ParseTableRecord(text + "}");
    ASSERT_FALSE(read) << open;
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt) << open;
  }
}

TEST(TableRecordTest, WhatANewerReleaseWroteIsRefused) {
  std::string text = TableRecordText(Full());
  text.replace(text.find("\"format\":1"), 10, "\"format\":2");
  EXPECT_EQ(ParseTableRecord(text).error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace tidemark::feed
