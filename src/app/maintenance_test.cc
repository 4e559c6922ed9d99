#include "app/maintenance.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using ::testing::HasSubstr;

WallTime Utc(int month, int day, int hour, int minute, int second = 0) {
  return *WallTimeFromCivil(2026, month, day, hour, minute, second, 0);
}

TEST(MaintenanceWindowTest, StartIsInsideEndIsNot) {
  ASSERT_OK_ASSIGN(const auto window, MaintenanceWindow::Parse("Sat 02:00-04:00 UTC"));
  // 2026-11-28 is a Saturday (`date -d 2026-11-28 +%a`).
  EXPECT_FALSE(window.Contains(Utc(11, 28, 1, 59, 59)));
  EXPECT_TRUE(window.Contains(Utc(11, 28, 2, 0)));
  EXPECT_TRUE(window.Contains(Utc(11, 28, 3, 59, 59)));
  EXPECT_FALSE(window.Contains(Utc(11, 28, 4, 0)));
  EXPECT_FALSE(window.Contains(Utc(11, 29, 3, 0)));
}

TEST(MaintenanceWindowTest, LocalTimeMovesWithDaylightSaving) {
  ASSERT_OK_ASSIGN(const auto window, MaintenanceWindow::Parse("Sat 02:00-04:00 Europe/Berlin"));
  EXPECT_TRUE(window.Contains(Utc(11, 28, 1, 0)));  // winter: UTC+1
  EXPECT_FALSE(window.Contains(Utc(11, 28, 0, 30)));
  EXPECT_TRUE(window.Contains(Utc(7, 4, 0, 30)));  // summer: UTC+2; 2026-07-04 is a Saturday
  EXPECT_FALSE(window.Contains(Utc(7, 4, 2, 0)));
}

TEST(MaintenanceWindowTest, EndBeforeStartLiesOnTheNextDay) {
  ASSERT_OK_ASSIGN(const auto window, MaintenanceWindow::Parse("Sat,Sun 23:30-01:00 UTC"));
  EXPECT_TRUE(window.Contains(Utc(11, 28, 23, 45)));
  EXPECT_TRUE(window.Contains(Utc(11, 29, 0, 30)));
  EXPECT_TRUE(window.Contains(Utc(11, 30, 0, 59)));   // Sunday's window, early Monday
  EXPECT_FALSE(window.Contains(Utc(11, 28, 0, 30)));  // Friday opens none
  EXPECT_FALSE(window.Contains(Utc(11, 30, 1, 0)));
}

TEST(MaintenanceWindowTest, DaysMayBeARangeOrDaily) {
  ASSERT_OK_ASSIGN(const auto weekdays, MaintenanceWindow::Parse("Mon-Fri 22:00-24:00 UTC"));
  EXPECT_TRUE(weekdays.Contains(Utc(11, 27, 23, 59)));
  EXPECT_FALSE(weekdays.Contains(Utc(11, 28, 0, 0)));
  EXPECT_FALSE(weekdays.Contains(Utc(11, 28, 22, 30)));
  ASSERT_OK_ASSIGN(const auto around, MaintenanceWindow::Parse("Fri-Mon 10:00-11:00 UTC"));
  EXPECT_TRUE(around.Contains(Utc(11, 30, 10, 0)));
  EXPECT_FALSE(around.Contains(Utc(12, 1, 10, 0)));
  ASSERT_OK_ASSIGN(const auto daily, MaintenanceWindow::Parse("daily 10:00-11:00 UTC"));
  EXPECT_TRUE(daily.Contains(Utc(12, 1, 10, 0)));
}

TEST(MaintenanceWindowTest, WrongPartsAreNamed) {
  const struct {
    const char* text;
    const char* part;
  } cases[] = {
      {"", "it needs days, times and a time zone"},
      {"Sat 02:00-04:00", "it needs days, times and a time zone"},
      {"Saturday 02:00-04:00 UTC", "'Saturday' names no days"},
      {"Sat 2:00-04:00 UTC", "'2:00-04:00' is no span of time"},
      {"Sat 02:00 UTC", "'02:00' is no span of time"},
      {"Sat 24:00-04:00 UTC", "'24:00-04:00' is no span of time"},
      {"Sat 02:60-04:00 UTC", "'02:60-04:00' is no span of time"},
      {"Sat 02:00-02:00 UTC", "it begins and ends at the same time"},
      {"Sat 02:00-04:00 Mars/Base", "the time zone 'Mars/Base' is unknown"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(MaintenanceWindow::Parse(c.text),
                IsError(ErrorKind::kInvalidArgument, HasSubstr(c.part)))
        << c.text;
  }
}

}  // namespace
}  // namespace tidemark::app
