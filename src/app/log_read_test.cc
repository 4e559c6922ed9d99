#include "app/log_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::app {
namespace {

using lake::hudi::LogEntryState;
using support::IsError;
using ::testing::_;
using ::testing::HasSubstr;

Result<LogReading> Read(const std::string& file) {
  return ReadLog(file, {}, Budget(), SystemEdges());
}

std::string Logs() {
  return std::string(TIDEMARK_TESTDATA) + "/hudi/logs/";
}

TEST(LogReadTest, AFileIsReadByPathAndByUri) {
  for (const std::string& file : {Logs() + "intact.log", "file://" + Logs() + "intact%2Elog"}) {
    ASSERT_OK_ASSIGN(const LogReading reading, Read(file));
    EXPECT_EQ(reading.file, file);
    EXPECT_EQ(reading.bytes->size(), 1991u);
    EXPECT_EQ(reading.listing.entries.size(), 2u);
  }
}

TEST(LogReadTest, RowsOfParquetBlocksAreCounted) {
  ASSERT_OK_ASSIGN(const LogReading reading, Read(Logs() + "parquet_and_delete.log"));
  ASSERT_EQ(reading.listing.entries.size(), 2u);
  // The story's third commit writes a and c, and deletes b.
  EXPECT_EQ(reading.listing.entries[0].records, 2u);
  EXPECT_EQ(reading.listing.entries[1].records, 1u);
}

TEST(LogReadTest, ADamagedParquetFileIsDamage) {
  auto store = storage::MemoryStore::Named("log_read_test");
  std::string bytes = support::ReadTestdata("hudi/logs/parquet_and_delete.log");
  ASSERT_OK_ASSIGN(const auto intact, lake::hudi::ListLog(bytes, Budget()));
  const auto& block = *intact.entries[0].block;
  for (size_t i = 0; i < block.content.size(); ++i)
    bytes[static_cast<size_t>(block.content_offset) + i] = 'x';
  ASSERT_TRUE(store.Put("x.log", bytes, Budget()).has_value());
  ASSERT_OK_ASSIGN(const LogReading reading, Read("memory://log_read_test/x.log"));
  EXPECT_EQ(reading.listing.entries[0].state, LogEntryState::kDamaged);
  EXPECT_FALSE(reading.listing.entries[0].reason.empty());
}

TEST(LogReadTest, WhatNamesNoFileIsTheUsersMistake) {
  for (const std::string file : {"", "/", "folder/", "s3://bucket", "memory://name"})
    EXPECT_THAT(Read(file), IsError(ErrorKind::kInvalidArgument, HasSubstr("names no file")))
        << file;
}

TEST(LogReadTest, MissingAndOtherFilesAreErrors) {
  EXPECT_THAT(Read(Logs() + "none.log"), IsError(ErrorKind::kNotFound, _));
  EXPECT_THAT(Read(Logs() + "README.md"), IsError(ErrorKind::kCorrupt, HasSubstr("README.md")));
}

}  // namespace
}  // namespace tidemark::app
