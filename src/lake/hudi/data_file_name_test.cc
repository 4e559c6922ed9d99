#include "lake/hudi/data_file_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::lake::hudi {
namespace {

TEST(DataFileNameTest, BaseFilesNameGroupTokenAndInstant) {
  EXPECT_EQ(ParseBaseFileName(
                "0bbe74ab-6154-4749-a0c6-b18f11a33f79-0_1-656-533_20261130032115825.parquet"),
            (BaseFileName{"0bbe74ab-6154-4749-a0c6-b18f11a33f79-0", "1-656-533",
                          "20261130032115825", BaseFileFormat::kParquet}));
  EXPECT_EQ(ParseBaseFileName("files-0000-0_0-0-0_00000000000000.hfile"),
            (BaseFileName{"files-0000-0", "0-0-0", "00000000000000", BaseFileFormat::kHFile}));
  EXPECT_EQ(ParseBaseFileName("a_1-0-1_20260101000000.orc")->format, BaseFileFormat::kOrc);
  EXPECT_EQ(ParseBaseFileName("a_1-0-1_20260101000000.lance")->format, BaseFileFormat::kLance);
}

TEST(DataFileNameTest, OtherNamesAreNoBaseFiles) {
  for (const std::string name :
       {"", ".", ".parquet", "a.parquet", "a_1-0-1.parquet", "a_1-0-1_2026.txt", "a_1-0-1_2026",
        "_1-0-1_2026.parquet", "a_1-0_2026.parquet", "a_1-0-1-1_2026.parquet", "a_1-0-1_.parquet",
        "a_1-0-1_20x6.parquet", ".a_1-0-1_2026.parquet", "a_1-0-1_2026.parquet.crc",
        // Write-once logs of table version 10.
        "a_1-0-1_2026_3.deletes.parquet", "a_1-0-1_2026_3.parquet", "part-0000.parquet"}) {
    EXPECT_EQ(ParseBaseFileName(name), std::nullopt) << name;
  }
  EXPECT_EQ(ParseBaseFileName(std::string(2000, 'a') + "_1-0-1_2026.parquet"), std::nullopt);
}

TEST(DataFileNameTest, LogFilesNameGroupInstantVersionAndToken) {
  EXPECT_EQ(ParseLogFileName(".6d0b9bd5-0a42-0_20261130032115825.log.12_0-722-593"),
            (LogFileName{"6d0b9bd5-0a42-0", "20261130032115825", 12, "0-722-593", false}));
  EXPECT_EQ(ParseLogFileName(".a_b_20261130032115825.log.1_1-0-1.cdc"),
            (LogFileName{"a_b", "20261130032115825", 1, "1-0-1", true}));
  EXPECT_EQ(ParseLogFileName(".a_2026.log.3"), (LogFileName{"a", "2026", 3, "", false}));
  EXPECT_EQ(ParseLogFileName(".a.log.1_2026.log.3_0-0-0")->file_id, "a.log.1");
}

TEST(DataFileNameTest, OtherNamesAreNoLogFiles) {
  for (const std::string name :
       {"", ".", "a_2026.log.1_0-0-0", ".a_2026.log.", ".a_2026.log.x_0-0-0", ".a_2026.log.1_0-0",
        ".a_2026.log.1_", ".a_2026.log.1.cdc", ".a_2026.log.1_0-0-0.crc", "._2026.log.1_0-0-0",
        ".a.log.1_0-0-0", ".a_.log.1_0-0-0", ".a_20x6.log.1_0-0-0", ".commits_.archive.1_1-0-1",
        ".hoodie_partition_metadata", ".a_2026.log.99999999999999999999999_0-0-0",
        "..a_1-0-1_2026.parquet.crc"}) {
    EXPECT_EQ(ParseLogFileName(name), std::nullopt) << name;
  }
}

TEST(DataFileNameTest, FormatsHaveTheEndingOfTheirFiles) {
  EXPECT_EQ(BaseFileFormatName(BaseFileFormat::kParquet), "parquet");
  EXPECT_EQ(BaseFileFormatName(BaseFileFormat::kLance), "lance");
}

}  // namespace
}  // namespace tidemark::lake::hudi
