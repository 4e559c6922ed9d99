#include "metrics/process_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <string>

#include "metrics/text_exposition.h"

namespace tidemark::metrics {
namespace {

using ::testing::HasSubstr;

/// The value of a series without labels.
double ValueOf(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << text;
  if (at == std::string::npos) return -1;
  double value = -1;
  const char* begin = text.data() + at + name.size() + 2;
  std::from_chars(begin, text.data() + text.size(), value);
  return value;
}

TEST(ProcessPointsTest, TheProcessIsDescribed) {
  const std::string text = TextExposition(ProcessPoints("1.2.3"), TextFormat::kPrometheus);
  EXPECT_THAT(text, HasSubstr("\ntidemark_build_info{version=\"1.2.3\"} 1\n"));
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(ValueOf(text, "process_start_time_seconds"), now, 600);
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_LT(ValueOf(text, "process_resident_memory_bytes"), 1e10);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
}

TEST(ProcessPointsTest, WhatLeavesTheProcessNamesTheBuildAlone) {
  EXPECT_EQ(TextExposition(BuildPoints("1.2.3"), TextFormat::kPrometheus),
            "# HELP tidemark_build_info What is running; always 1.\n"
            "# TYPE tidemark_build_info gauge\n"
            "tidemark_build_info{version=\"1.2.3\"} 1\n");
}

}  // namespace
}  // namespace tidemark::metrics
