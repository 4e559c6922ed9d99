#include "lake/hudi/commit_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/time_text.h"

namespace tidemark::lake::hudi {
namespace {

using namespace std::chrono_literals;  // NOLINT: the unit is the point

/// A clock on the wall: "day hour:minute:second" of January 2024.
WallTime At(int day, int hour, int minute, int second = 0) {
  return *WallTimeFromCivil(2024, 1, day, hour, minute, second, 0);
}

std::string InstantAt(WallTime time) {
  std::string text = FormatRfc3339(time);
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  return text;
}

/// A commit of layout 2 whose writer is `zone` ahead of UTC and whose file was stored `late` after
/// its end.
Instant Completed(WallTime end, Milliseconds zone, Milliseconds late = 1s) {
  Instant instant;
  instant.requested = InstantAt(end + zone - 20s);
  instant.completed = InstantAt(end + zone);
  instant.action = Action::kCommit;
  instant.action_name = "commit";
  instant.state = State::kCompleted;
  instant.file_time = end + late;
  return instant;
}

/// The same in layout 1: only the start is named.
Instant Legacy(WallTime start, WallTime end, Milliseconds zone, Milliseconds late = 1s) {
  Instant instant = Completed(end, zone, late);
  instant.requested = InstantAt(start + zone);
  instant.completed = std::nullopt;
  instant.requested_file_time = start + late;
  return instant;
}

CommitTime Unknown() {
  return {};
}
CommitTime FromFile(WallTime time) {
  return {time, CommitTimeSource::kFileTime};
}
CommitTime FromInstant(WallTime time) {
  return {time, CommitTimeSource::kInstant};
}

CommitTime LocalTime(const std::vector<Instant>& timeline) {
  return CommitTimeOf(timeline.back(), timeline, TimelineZone::kLocal);
}

TEST(UtcTableTest, TheCompletionTimeIsTheEnd) {
  const Instant commit = Completed(At(2, 12, 0), 0h, 40h);
  EXPECT_EQ(CommitTimeOf(commit, {}, TimelineZone::kUtc), FromInstant(At(2, 12, 0)));
}

TEST(UtcTableTest, InLayoutOneTheFileTimeIsTheEndWhenItIsPlausible) {
  const Instant commit = Legacy(At(2, 12, 0), At(2, 12, 30), 0h);
  EXPECT_EQ(CommitTimeOf(commit, {}, TimelineZone::kUtc), FromFile(At(2, 12, 30, 1)));
}

TEST(UtcTableTest, InLayoutOneOfACopyTheStartIsAllThereIs) {
  Instant commit = Legacy(At(2, 12, 0), At(2, 12, 30), 0h, 3h);
  EXPECT_EQ(CommitTimeOf(commit, {}, TimelineZone::kUtc), FromInstant(At(2, 12, 0)));
  commit.file_time = commit.requested_file_time = std::nullopt;
  EXPECT_EQ(CommitTimeOf(commit, {}, TimelineZone::kUtc), FromInstant(At(2, 12, 0)));
}

TEST(UtcTableTest, ASpecialInstantHasNoTime) {
  Instant commit;
  commit.requested = "00000000000000002";
  EXPECT_EQ(CommitTimeOf(commit, {}, TimelineZone::kUtc), Unknown());
}

TEST(LocalTableTest, EveryZoneOfTheWorldIsFoundOut) {
  for (const Milliseconds zone : {-12h + 0min, -9h - 30min, -5h + 0min, 0h + 0min, 1h + 0min,
                                  5h + 45min, 8h + 0min, 12h + 45min, 14h + 0min}) {
    SCOPED_TRACE(zone.count());
    EXPECT_EQ(LocalTime({Completed(At(2, 11, 0), zone), Completed(At(2, 12, 0), zone)}),
              FromFile(At(2, 12, 0, 1)));
    EXPECT_EQ(LocalTime({Legacy(At(2, 11, 0), At(2, 11, 10), zone),
                         Legacy(At(2, 12, 0), At(2, 12, 7), zone)}),
              FromFile(At(2, 12, 7, 1)));
  }
}

TEST(LocalTableTest, ADifferenceThatNoZoneExplainsIsUnknown) {
  for (const Milliseconds late :
       std::initializer_list<Milliseconds>{-3min, 3min, 7min + 30s, 8min, 12h + 15min, 15h}) {
    SCOPED_TRACE(late.count());
    EXPECT_EQ(LocalTime({Completed(At(2, 11, 0), 0h, late), Completed(At(2, 12, 0), 0h, late)}),
              Unknown());
  }
  // West of UTC-12 there is nothing, and nothing east of UTC+14.
  for (const Milliseconds zone : std::initializer_list<Milliseconds>{-12h - 15min, 14h + 15min}) {
    EXPECT_EQ(LocalTime({Completed(At(2, 11, 0), zone), Completed(At(2, 12, 0), zone)}), Unknown());
  }
}

TEST(LocalTableTest, TwoMinutesOfDelayOrSkewAreTolerated) {
  for (const Milliseconds late : std::initializer_list<Milliseconds>{-2min, -1min, 2min}) {
    SCOPED_TRACE(late.count());
    EXPECT_EQ(LocalTime({Completed(At(2, 11, 0), 8h, late), Completed(At(2, 12, 0), 8h, late)}),
              FromFile(At(2, 12, 0) + late));
  }
}

TEST(LocalTableTest, ACopiedTableIsUnknownWheneverItWasCopied) {
  // A regular rhythm is the worst case: every difference is a whole number of quarters at once.
  for (Milliseconds after = 0min; after < 16h; after += 1min) {
    std::vector<Instant> timeline;
    for (int quarter = 0; quarter < 8; ++quarter) {
      timeline.push_back(Completed(At(2, 10, 0) + quarter * 15min, 0h));
      timeline.push_back(Completed(At(2, 10, 1) + quarter * 15min, 0h));
    }
    for (Instant& instant : timeline) instant.file_time = At(2, 12, 0) + after;
    EXPECT_EQ(LocalTime(timeline), Unknown()) << after.count();
  }
}

TEST(LocalTableTest, ACopiedTableOfLayoutOneIsUnknownToo) {
  for (Milliseconds after = 0min; after < 16h; after += 1min) {
    std::vector<Instant> timeline;
    for (int quarter = 0; quarter < 8; ++quarter) {
      const WallTime start = At(2, 10, 0) + quarter * 15min;
      timeline.push_back(Legacy(start, start + 1min, 0h));
      timeline.back().file_time = timeline.back().requested_file_time = At(2, 12, 0) + after;
    }
    EXPECT_EQ(LocalTime(timeline), Unknown()) << after.count();
  }
}

TEST(LocalTableTest, ALoneCommitProvesNothing) {
  EXPECT_EQ(LocalTime({Completed(At(2, 12, 0), 0h)}), Unknown());
  EXPECT_EQ(LocalTime({Completed(At(2, 11, 57), 0h), Completed(At(2, 12, 0), 0h)}), Unknown());
}

TEST(LocalTableTest, APendingInstantProvesNothing) {
  Instant pending = Completed(At(2, 11, 0), 0h);
  pending.state = State::kInflight;
  EXPECT_EQ(LocalTime({pending, Completed(At(2, 12, 0), 0h)}), Unknown());
}

TEST(LocalTableTest, ACompletedFileOlderThanItsRequestIsUnknown) {
  Instant commit = Legacy(At(2, 12, 0), At(2, 11, 0), 0h);
  EXPECT_EQ(LocalTime({Legacy(At(2, 10, 0), At(2, 10, 1), 0h), commit}), Unknown());
  commit = Legacy(At(2, 12, 0), At(3, 13, 0), 0h);
  EXPECT_EQ(LocalTime({Legacy(At(2, 10, 0), At(2, 10, 1), 0h), commit}), Unknown());
}

TEST(LocalTableTest, AnArchivedCommitIsUnknown) {
  Instant archived = Completed(At(2, 12, 0), 0h);
  archived.file_time = std::nullopt;
  EXPECT_EQ(LocalTime({Completed(At(2, 11, 0), 0h), archived}), Unknown());
}

}  // namespace
}  // namespace tidemark::lake::hudi
