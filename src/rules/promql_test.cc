#include "rules/promql.h"

#include <gtest/gtest.h>

namespace tidemark::rules {
namespace {

using namespace std::chrono_literals;

// String literals of Prometheus' language escape as Go's do.
TEST(PromqlTest, TextIsQuotedAsALiteral) {
  EXPECT_EQ(QuotedText("orders"), R"("orders")");
  EXPECT_EQ(QuotedText(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(QuotedText("a\nb\x01\x7f"), R"("a\x0ab\x01\x7f")");
  EXPECT_EQ(QuotedText("größe"), "\"größe\"");
}

TEST(PromqlTest, WhatTemplatesWouldTakeForTheirsIsEscaped) {
  EXPECT_EQ(QuotedText("{{x}}"), R"("\x7b\x7bx\x7d\x7d")");
}

TEST(PromqlTest, OnePipelineIsMatchedExactlySeveralByAnExpression) {
  EXPECT_EQ(PipelineMatcher({"orders"}), R"(pipeline="orders")");
  EXPECT_EQ(PipelineMatcher({"a.b"}), R"(pipeline="a.b")");
  EXPECT_EQ(PipelineMatcher({"a.b", "c|d", "e"}), R"(pipeline=~"a\\.b|c\\|d|e")");
}

TEST(PromqlTest, ARangeIsInTheLargestUnitThatDividesIt) {
  EXPECT_EQ(RangeText(5min), "5m");
  EXPECT_EQ(RangeText(90min), "90m");
  EXPECT_EQ(RangeText(24h), "1d");
  EXPECT_EQ(RangeText(72h), "3d");
  EXPECT_EQ(RangeText(6h), "6h");
  EXPECT_EQ(RangeText(90s), "90s");
  EXPECT_EQ(RangeText(1500ms), "1500ms");
}

}  // namespace
}  // namespace tidemark::rules
