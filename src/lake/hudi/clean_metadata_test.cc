#include "lake/hudi/clean_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const std::string kFolder = "hudi/tables/a08_archived_cow_v9/table/.hoodie/timeline/";
const std::string kClean = kFolder + "20261130022640434_20261130022643802.clean";
const std::string kPlan = kFolder + "20261130022640434.clean.requested";
const std::string kOldClean =
    "hudi/tables/timeline_story_mor/table/.hoodie/20261130023703942.clean";

/// As they lie in the bytes of both, written by Hudi 1.1.1.
const CleanMetadata kOneFile = {
    "20261130022605781",
    "20261130022605781",
    {{"p0", {"db8577a4-888a-4b81-a549-1f8568dd0791-0_0-714-954_20261130022331274.parquet"}}}};

TEST(CleanMetadataTest, ACleanNamesTheFilesItRemoved) {
  ASSERT_OK_ASSIGN(const auto clean, ParseCleanMetadata(support::ReadTestdata(kClean)));
  EXPECT_EQ(clean, kOneFile);
}

TEST(CleanMetadataTest, APlanNamesTheFilesToBeRemoved) {
  ASSERT_OK_ASSIGN(const auto plan, ParseCleanPlan(support::ReadTestdata(kPlan)));
  EXPECT_EQ(plan, kOneFile);
}

TEST(CleanMetadataTest, Release014SaysItByPartition) {
  ASSERT_OK_ASSIGN(const auto clean, ParseCleanMetadata(support::ReadTestdata(kOldClean)));
  EXPECT_EQ(clean.earliest_to_retain, "20261130023621986");
  EXPECT_THAT(
      clean.removed,
      UnorderedElementsAre(
          Pair("part=p1",
               UnorderedElementsAre(
                   "11d18137-4b55-41f4-ba78-2648f57e9820-0_0-231-267_20261130023123293.parquet")),
          Pair("part=p2",
               UnorderedElementsAre(
                   "e0c23bf9-8871-4004-8150-1150b7c0b01c-0_0-261-291_20261130023203287.parquet")),
          Pair("part=p3", UnorderedElementsAre())));
}

TEST(CleanMetadataTest, OneIsNotTakenForTheOther) {
  EXPECT_THAT(ParseCleanMetadata(support::ReadTestdata(kPlan)),
              IsError(ErrorKind::kUnsupported, _));
}

TEST(CleanMetadataTest, EveryTruncationIsAnError) {
  const std::string clean = support::ReadTestdata(kClean);
  for (size_t size = 0; size < clean.size(); ++size) {
    EXPECT_THAT(ParseCleanMetadata(clean.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  }
  const std::string plan = support::ReadTestdata(kPlan);
  for (size_t size = 0; size < plan.size(); ++size) {
    EXPECT_THAT(ParseCleanPlan(plan.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  }
}

TEST(CleanMetadataTest, NoFlippedByteEndsTheProgram) {
  for (const auto& [file, parse] :
       {std::pair(kClean, &ParseCleanMetadata), std::pair(kPlan, &ParseCleanPlan)}) {
    const std::string body = support::ReadTestdata(file);
    for (size_t i = 0; i < body.size(); ++i) {
      std::string flipped = body;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x5a);
      const auto clean = parse(flipped);
      EXPECT_TRUE(clean || clean.error().kind != ErrorKind::kInternal) << i;
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
