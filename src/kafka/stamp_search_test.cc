#include "kafka/stamp_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tidemark::kafka {
namespace {

using Log = std::vector<StampedOffset>;
using Holes = StampSearch::Holes;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kHour = 3'600'000;
constexpr int64_t kDay = 24 * kHour;

Log Dense(const std::vector<int64_t>& stamps) {
  Log log;
  for (const int64_t stamp : stamps) log.push_back({static_cast<Offset>(log.size()), stamp});
  return log;
}

/// What a broker answers.
std::optional<StampedOffset> LookUp(const Log& log, int64_t time_ms) {
  const auto found =
      std::ranges::find_if(log, [&](const auto& each) { return each.timestamp_ms >= time_ms; });
  if (found == log.end()) return std::nullopt;
  return *found;
}

struct Outcome {
  std::optional<StampBound> bound;
  int look_ups = 0;
};

Outcome Searched(const Log& log, Offset position, Holes holes = Holes::kNone,
                 int64_t first_ms = kNow - kHour) {
  StampSearch search(position, first_ms, kNow);
  Outcome outcome;
  for (auto time = search.Next(); time; time = search.Next()) {
    search.Take(LookUp(log, *time));
    ++outcome.look_ups;
  }
  outcome.bound = search.Bound(holes);
  return outcome;
}

TEST(StampSearchTest, AscendingStampsGiveTheRecordsOwn) {
  Log log;
  for (Offset offset = 0; offset < 1000; ++offset) {
    log.push_back({offset, kNow - 7 * kDay + offset * 500'000});
  }
  for (const Offset position : {0, 1, 499, 998, 999}) {
    const auto [bound, look_ups] = Searched(log, position);
    ASSERT_TRUE(bound) << position;
    EXPECT_TRUE(bound->is_own);
    EXPECT_EQ(bound->timestamp_ms, log[static_cast<size_t>(position)].timestamp_ms);
    EXPECT_LE(look_ups, 12) << position;
  }
}

TEST(StampSearchTest, OneLookUpTellsWhichSideOfTheFirstTimeTheRecordIsOn) {
  const Log log = Dense({kNow - 3 * kHour, kNow - 2 * kHour, kNow - 10'000});
  StampSearch old(1, kNow - kHour, kNow);
  ASSERT_EQ(old.Next(), kNow - kHour);
  old.Take(LookUp(log, kNow - kHour));
  ASSERT_TRUE(old.Bound(Holes::kNone));
  EXPECT_LT(old.Bound(Holes::kNone)->timestamp_ms, kNow - kHour);

  StampSearch young(2, kNow - kHour, kNow);
  young.Take(LookUp(log, kNow - kHour));
  ASSERT_TRUE(young.Bound(Holes::kNone));
  EXPECT_GE(young.Bound(Holes::kNone)->timestamp_ms, kNow - kHour);
}

TEST(StampSearchTest, WithinABatchOfOneStampTheStampIsClosedIn) {
  const Log log = Dense({kNow - 9000, kNow - 5000, kNow - 5000, kNow - 5000, kNow - 1000});
  for (const Offset position : {2, 3}) {
    const auto bound = Searched(log, position).bound;
    ASSERT_TRUE(bound);
    EXPECT_FALSE(bound->is_own);
    EXPECT_TRUE(bound->is_closed);
    EXPECT_EQ(bound->timestamp_ms, kNow - 5000);
  }
}

TEST(StampSearchTest, ARecordBehindYoungerOnesIsNeverThoughtYounger) {
  const Log log = Dense({kNow - 4000, kNow - 500, kNow - kDay, kNow - 100});
  const auto bound = Searched(log, 2).bound;
  ASSERT_TRUE(bound);
  EXPECT_FALSE(bound->is_own);
  EXPECT_EQ(bound->timestamp_ms, kNow - 500);  // the greatest so far; its own is a day earlier
}

TEST(StampSearchTest, RecordsWithoutStampsGiveNothing) {
  const auto [bound, look_ups] = Searched(Dense({-1, -1, -1}), 1);
  EXPECT_FALSE(bound);
  EXPECT_LE(look_ups, 20);
}

TEST(StampSearchTest, AStampOfTheFutureIsToldAsSuch) {
  for (const int64_t ahead : {kHour, kDay, 30 * kDay}) {
    const auto bound = Searched(Dense({kNow - 4000, kNow + ahead, kNow - 3000}), 2).bound;
    ASSERT_TRUE(bound) << ahead;
    EXPECT_GT(bound->timestamp_ms, kNow);
    EXPECT_LE(bound->timestamp_ms, kNow + ahead);
  }
}

TEST(StampSearchTest, WhereARecordMayBeMissingTheNextOneMayBeMeant) {
  // Offset 2 was compacted away; the record that waits is the one at 3.
  const Log log = {{0, kNow - 9000}, {1, kNow - 8000}, {3, kNow - 50}};
  const auto bound = Searched(log, 2, Holes::kPossible).bound;
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->timestamp_ms, kNow - 50);
}

TEST(StampSearchTest, AnswersThatAreNoneEndTheSearch) {
  StampSearch search(5, kNow - kHour, kNow);
  search.Take(StampedOffset{.offset = 2, .timestamp_ms = kNow - 2 * kHour});
  EXPECT_FALSE(search.Next());
  EXPECT_FALSE(search.Bound(Holes::kNone));
}

// Against the definition, over logs of all shapes: ascending, jittered, in steps, arbitrary.
TEST(StampSearchTest, EveryRecordOfRandomLogsLiesWithinItsBound) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> stamps;
    int64_t clock = kNow - pick(1, 400) * kDay / 7;
    const int64_t jitter = round % 4 == 0 ? 0 : pick(0, kHour);
    const int64_t step = pick(0, 3) * pick(0, 3'000'000);
    for (int64_t i = pick(1, 60); i > 0; --i) {
      clock = std::min(clock + pick(0, step), kNow);
      stamps.push_back(
          std::max<int64_t>(round % 4 == 3 ? pick(kNow - kDay, kNow) : clock - pick(0, jitter), 0));
    }
    const Log log = Dense(stamps);
    int64_t greatest = -1;
    for (const auto& [position, stamp] : log) {
      const bool is_record = stamp > greatest;
      greatest = std::max(greatest, stamp);
      const auto [bound, look_ups] =
          Searched(log, position, Holes::kNone, kNow - pick(0, 2 * kDay));
      ASSERT_TRUE(bound);
      EXPECT_EQ(bound->timestamp_ms, greatest);
      EXPECT_TRUE(bound->is_closed);
      EXPECT_EQ(bound->is_own, is_record);
      EXPECT_LE(look_ups, 50);
    }
  }
}

}  // namespace
}  // namespace tidemark::kafka
