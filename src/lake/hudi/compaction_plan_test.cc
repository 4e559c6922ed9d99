#include "lake/hudi/compaction_plan.h"

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
using ::testing::IsEmpty;

const std::string kPlanFile =
    "hudi/tables/b2_pendingcompaction_v9/table/.hoodie/timeline/"
    "20261130024952536.compaction.requested";

TEST(CompactionPlanTest, APlanNamesTheFilesOfEachSlice) {
  // The names as they lie in the bytes of the plan, written by Hudi 1.1.1.
  ASSERT_OK_ASSIGN(const auto plan, ParseCompactionPlan(support::ReadTestdata(kPlanFile)));
  EXPECT_THAT(
      plan,
      ElementsAre(
          CompactionOperation{
              "p1",
              "11d65d0b-7749-4923-9007-8f791443623a-0",
              "20261130024907646",
              "11d65d0b-7749-4923-9007-8f791443623a-0_0-706-839_20261130024907646.parquet",
              {".11d65d0b-7749-4923-9007-8f791443623a-0_20261130024924817.log.1_0-722-856",
               ".11d65d0b-7749-4923-9007-8f791443623a-0_20261130024938595.log.1_0-738-873"}},
          CompactionOperation{
              "p2",
              "313cdd6e-dadf-4043-ba87-acbc1ca714e0-0",
              "20261130024907646",
              "313cdd6e-dadf-4043-ba87-acbc1ca714e0-0_1-706-840_20261130024907646.parquet",
              {".313cdd6e-dadf-4043-ba87-acbc1ca714e0-0_20261130024924817.log.1_1-722-857"}}));
}

TEST(CompactionPlanTest, AnEmptyBodyPlansNothing) {
  ASSERT_OK_ASSIGN(const auto plan, ParseCompactionPlan(""));
  EXPECT_THAT(plan, IsEmpty());
}

TEST(CompactionPlanTest, EveryTruncationIsAnError) {
  const std::string body = support::ReadTestdata(kPlanFile);
  for (size_t size = 1; size < body.size(); ++size)
    EXPECT_THAT(ParseCompactionPlan(body.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
}

TEST(CompactionPlanTest, NoFlippedByteEndsTheProgram) {
  const std::string body = support::ReadTestdata(kPlanFile);
  for (size_t i = 0; i < body.size(); ++i) {
    std::string flipped = body;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x5a);
    const auto plan = ParseCompactionPlan(flipped);
    EXPECT_TRUE(plan || plan.error().kind != ErrorKind::kInternal) << i;
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
