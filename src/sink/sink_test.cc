#include "sink/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::sink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PartitionView Part(std::string path) {
  return {.path = path, .values = {path}};
}

TEST(TableDeltaTest, OfTwoChangesOfAPartitionTheLaterCounts) {
  TableDelta first{.from = {1, 1}, .to = {1, 2}};
  first.added = {Part("added-then-dropped"), Part("added-then-touched"), Part("added")};
  first.dropped = {Part("dropped-then-added")};
  first.touched = {Part("touched-then-dropped")};
  first.events = {"1"};
  TableDelta second{.from = {1, 2}, .to = {1, 3}, .has_schema_change = true};
  second.added = {Part("dropped-then-added")};
  second.dropped = {Part("added-then-dropped"), Part("touched-then-dropped")};
  second.touched = {Part("added-then-touched"), Part("touched")};
  second.events = {"2"};
  Append(first, second);
  EXPECT_EQ(first.from, (SinkStamp{1, 1}));
  EXPECT_EQ(first.to, (SinkStamp{1, 3}));
  EXPECT_TRUE(first.has_schema_change);
  EXPECT_THAT(first.added,
              ElementsAre(Part("added"), Part("added-then-touched"), Part("dropped-then-added")));
  EXPECT_THAT(first.dropped, ElementsAre(Part("added-then-dropped"), Part("touched-then-dropped")));
  EXPECT_THAT(first.touched, ElementsAre(Part("touched")));
  EXPECT_THAT(first.events, ElementsAre("1", "2"));
}

TEST(TableDeltaTest, NothingAndNothingIsNothing) {
  TableDelta first{.from = {1, 1}, .to = {1, 2}};
  Append(first, {.from = {1, 2}, .to = {1, 3}});
  EXPECT_TRUE(first.is_empty());
  EXPECT_THAT(first.added, IsEmpty());
}

TEST(SinkOutcomeTest, WhatMayHealIsTemporary) {
  using enum ErrorKind;
  for (const auto kind : {kUnavailable, kDenied, kConflict, kExhausted, kCancelled})
    EXPECT_EQ(OutcomeOf({kind, "why"}).kind, OutcomeKind::kTemporary) << ErrorKindName(kind);
  for (const auto kind : {kNotFound, kCorrupt, kUnsupported, kInvalidArgument, kInternal})
    EXPECT_EQ(OutcomeOf({kind, "why"}).kind, OutcomeKind::kPermanent) << ErrorKindName(kind);
}

}  // namespace
}  // namespace tidemark::sink
