#include "cli/progress_line.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::cli {
namespace {

using app::ReadProgress;
using std::chrono::seconds;

TEST(ProgressTextTest, SaysRateAndTimeLeftOnceThereIsSomethingToGoBy) {
  constexpr uint64_t kGb = 1'000'000'000;
  struct Case {
    ReadProgress progress;
    Milliseconds elapsed;
    std::string text;
  };
  const Case cases[] = {
      {{0, 0, 0, 0}, seconds(5), ""},
      {{0, 4 * kGb, 0, 40}, Milliseconds(300), "0%, 0.0 of 4.0 GB, 0 of 40 file groups"},
      {{kGb, 4 * kGb, 9, 40}, Milliseconds(999), "25%, 1.0 of 4.0 GB, 9 of 40 file groups"},
      {{0, 4 * kGb, 0, 40}, seconds(1), "0%, 0.0 of 4.0 GB, 0 of 40 file groups, 0 kB/s"},
      {{kGb, 4 * kGb, 9, 40},
       seconds(4),
       "25%, 1.0 of 4.0 GB, 9 of 40 file groups, 250 MB/s, 12 s left"},
      {{4 * kGb - 1, 4 * kGb, 39, 40},
       seconds(8),
       "99%, 4.0 of 4.0 GB, 39 of 40 file groups, 500 MB/s, 0 s left"},
      {{4 * kGb, 4 * kGb, 40, 40},
       seconds(8),
       "100%, 4.0 of 4.0 GB, 40 of 40 file groups, 500 MB/s"},
      {{1, 4 * kGb, 0, 40}, seconds(8), "0%, 0.0 of 4.0 GB, 0 of 40 file groups, 0 kB/s"},
      {{300, 1200, 1, 2},
       seconds(200),
       "25%, 0.3 of 1.2 kB, 1 of 2 file groups, 0 kB/s, 10 min left"},
      {{2'000 * kGb, 8'000 * kGb, 1, 4},
       seconds(1000),
       "25%, 2.0 of 8.0 TB, 1 of 4 file groups, 2 GB/s, 50 min left"},
  };
  for (const Case& each : cases) EXPECT_EQ(ProgressText(each.progress, each.elapsed), each.text);
}

TEST(ProgressStyleTest, IsShownOnATerminalThatHasNoRows) {
  EXPECT_EQ(ProgressStyleOf({}, true, false), ProgressStyle::kOverwritten);
  EXPECT_EQ(ProgressStyleOf({}, true, true), ProgressStyle::kNone);
  EXPECT_EQ(ProgressStyleOf({}, false, false), ProgressStyle::kNone);
  EXPECT_EQ(ProgressStyleOf(true, true, true), ProgressStyle::kOverwritten);
  EXPECT_EQ(ProgressStyleOf(true, false, false), ProgressStyle::kLines);
  EXPECT_EQ(ProgressStyleOf(false, true, false), ProgressStyle::kNone);
}

class HandClock final : public Clock {
 public:
  WallTime Now() const override { return {}; }
  MonoTime Mono() const override { return now; }
  MonoTime now;
};

class ProgressLineTest : public testing::Test {
 protected:
  void UpdateAfter(ProgressLine& line, Milliseconds pause, uint64_t bytes_done) {
    clock_.now += pause;
    line.Update({bytes_done, 1000, 0, 1});
  }

  ProgressLine::Print print() {
    return [this](std::string_view text) { printed_ += text; };
  }

  HandClock clock_;
  std::string printed_;
};

TEST_F(ProgressLineTest, ATerminalsLineIsWrittenOverNowAndThenAndTakenAwayAtTheEnd) {
  {
    ProgressLine line(clock_, ProgressStyle::kOverwritten, print());
    UpdateAfter(line, Milliseconds(299), 100);
    EXPECT_EQ(printed_, "");
    UpdateAfter(line, Milliseconds(1), 200);
    EXPECT_EQ(printed_, "20%, 0.2 of 1.0 kB, 0 of 1 file groups");
    UpdateAfter(line, Milliseconds(100), 300);
    printed_.clear();
    UpdateAfter(line, Milliseconds(200), 500);
    EXPECT_EQ(printed_, "\r\x1b[K50%, 0.5 of 1.0 kB, 0 of 1 file groups");
    printed_.clear();
  }
  EXPECT_EQ(printed_, "\r\x1b[K");
}

TEST_F(ProgressLineTest, TheLineMakesRoomForOtherText) {
  ProgressLine line(clock_, ProgressStyle::kOverwritten, print());
  UpdateAfter(line, Milliseconds(300), 200);
  printed_.clear();
  line.Clear();
  EXPECT_EQ(printed_, "\r\x1b[K");
  line.Clear();
  EXPECT_EQ(printed_, "\r\x1b[K");
}

TEST_F(ProgressLineTest, AFileGetsALineEveryTenSecondsAndTheLast) {
  {
    ProgressLine line(clock_, ProgressStyle::kLines, print());
    UpdateAfter(line, seconds(9), 100);
    EXPECT_EQ(printed_, "");
    UpdateAfter(line, seconds(1), 500);
    EXPECT_EQ(printed_, "50%, 0.5 of 1.0 kB, 0 of 1 file groups, 0 kB/s, 10 s left\n");
    UpdateAfter(line, seconds(1), 1000);
    printed_.clear();
  }
  EXPECT_EQ(printed_, "100%, 1.0 of 1.0 kB, 0 of 1 file groups, 0 kB/s\n");
}

TEST_F(ProgressLineTest, NothingIsShownWhereNothingIsWanted) {
  {
    ProgressLine line(clock_, ProgressStyle::kNone, print());
    EXPECT_FALSE(line.sink());
    UpdateAfter(line, seconds(60), 100);
  }
  {
    const ProgressLine unused(clock_, ProgressStyle::kLines, print());
  }
  EXPECT_EQ(printed_, "");
}

}  // namespace
}  // namespace tidemark::cli
