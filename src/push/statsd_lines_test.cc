#include "push/statsd_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tidemark::push {
namespace {

using metrics::Family;
using metrics::Points;
using testing::ElementsAre;

constexpr Family kLag{"tidemark_freshness_lag_seconds", "seconds", "", "", ""};
constexpr Family kStatus{"tidemark_freshness_status", "", "", "status", ""};
constexpr Family kReason{"tidemark_freshness_reason", "", "", "reason", ""};

metrics::Point Lag(const std::string& pipeline, const std::string& value = "2.5") {
  return {&kLag, {{"pipeline", pipeline}, {"cluster", "main"}, {"table", "s3://lake/t"}}, value};
}

std::string OneOf(const Points& points, const StatsdFormat& format) {
  const auto lines = StatsdLines(points, format);
  return lines.datagrams.size() == 1 ? lines.datagrams[0] : "not one datagram";
}

// Written by hand from the descriptions of both formats.
TEST(StatsdLinesTest, WithoutTagsTheNameTellsSeriesApart) {
  const Points points = {Lag("orders"),
                         {&kStatus, {{"pipeline", "orders"}, {"status", "breach"}}, "1"}};
  EXPECT_EQ(OneOf(points,
                  {
                      .prefix = "team.",
                  }),
            "team.tidemark_freshness_lag_seconds.orders:2.5|g\n"
            "team.tidemark_freshness_status.orders.breach:1|g");
}

TEST(StatsdLinesTest, NamesThatBecomeTheSameAreTwoSeries) {
  const auto one = OneOf({Lag("a.b")}, {});
  const auto other = OneOf({Lag("a:b")}, {});
  EXPECT_THAT(one, testing::MatchesRegex("tidemark_freshness_lag_seconds\\.a_b_.{8}:2.5.g"));
  EXPECT_THAT(other, testing::MatchesRegex("tidemark_freshness_lag_seconds\\.a_b_.{8}:2.5.g"));
  EXPECT_NE(one, other);
}

TEST(StatsdLinesTest, EverySeriesThatIsPushedHasANameOfItsOwn) {
  using enum metrics::FamilyGroup;
  for (const auto group :
       {kPipeline, kPartition, kProcess, kExporter, kWork, kCoordination, kQueue}) {
    for (const Family& family : metrics::FamiliesOf(group)) {
      if (family.name.ends_with("_reason")) continue;  // not sent at all
      std::string_view rest = family.labels;
      while (!rest.empty()) {
        const size_t comma = std::min(rest.find(','), rest.size());
        std::string label(rest.substr(0, comma));
        std::erase(label, ' ');
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        EXPECT_NE(OneOf({{&family, {{label, "one"}}, "1"}}, {}),
                  OneOf({{&family, {{label, "other"}}, "1"}}, {}))
            << family.name << " " << label;
      }
    }
  }
}

TEST(StatsdLinesTest, AReasonThatWouldStayForEverIsNotSent) {
  const Points points = {{&kReason, {{"pipeline", "orders"}, {"reason", "ok"}}, "1"}};
  EXPECT_TRUE(StatsdLines(points, {}).datagrams.empty());
  EXPECT_EQ(OneOf(points, {.dialect = StatsdDialect::kDogstatsd}),
            "tidemark_freshness_reason:1|g|#pipeline:orders,reason:ok");
}

TEST(StatsdLinesTest, DogstatsdHasTags) {
  EXPECT_EQ(
      OneOf({Lag("orders")}, {.dialect = StatsdDialect::kDogstatsd, .tags = {{"env", "prod"}}}),
      "tidemark_freshness_lag_seconds:2.5|g"
      "|#env:prod,pipeline:orders,cluster:main,table:s3://lake/t");
}

TEST(StatsdLinesTest, WhatSeparatesTagsIsNoPartOfOne) {
  const Points points = {{&kLag, {{"pipeline", "a,b|c\nd"}, {"cluster", ""}}, "1"}};
  EXPECT_EQ(OneOf(points, {.dialect = StatsdDialect::kDogstatsd}),
            "tidemark_freshness_lag_seconds:1|g|#pipeline:a_b_c_d");
}

TEST(StatsdLinesTest, DatagramsAreFilledToTheBoundAndNotOverIt) {
  const Points points = {Lag("a", "1"), Lag("b", "2"), Lag("c", "3")};
  const std::string line = "tidemark_freshness_lag_seconds.a:1|g";
  const auto datagrams = [&](size_t bytes_max) {
    return StatsdLines(points, {.datagram_bytes_max = bytes_max});
  };
  const size_t two = 2 * line.size() + 1;
  EXPECT_THAT(datagrams(two).datagrams, ElementsAre("tidemark_freshness_lag_seconds.a:1|g\n"
                                                    "tidemark_freshness_lag_seconds.b:2|g",
                                                    "tidemark_freshness_lag_seconds.c:3|g"));
  EXPECT_EQ(datagrams(two - 1).datagrams.size(), 3U);
  EXPECT_EQ(datagrams(line.size()).datagrams.size(), 3U);
  EXPECT_EQ(datagrams(line.size()).left_out, 0U);
  EXPECT_EQ(datagrams(line.size() - 1).datagrams.size(), 0U);
  EXPECT_EQ(datagrams(line.size() - 1).left_out, 3U);
}

}  // namespace
}  // namespace tidemark::push
