#include "sink/table_now.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::sink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PartitionNow Part(std::string path, int64_t seq) {
  return {.partition = {.path = path, .values = {path}}, .seq = seq};
}
PartitionView View(std::string path) {
  return {.path = path, .values = {path}};
}

TEST(DeltaBetweenTest, ComparesThePartitionsOfTheTwo) {
  const TableNow from{.stamp = {1, 5},
                      .partitions = {Part("a", 1), Part("c", 2), Part("d", 5), Part("f", 1)}};
  const TableNow to{.stamp = {1, 8},
                    .partitions = {Part("b", 6), Part("c", 7), Part("d", 5), Part("e", 8)}};
  const auto delta = DeltaBetween(from, to, /*with_events=*/false);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->from, (SinkStamp{1, 5}));
  EXPECT_EQ(delta->to, (SinkStamp{1, 8}));
  EXPECT_THAT(delta->added, ElementsAre(View("b"), View("e")));
  EXPECT_THAT(delta->dropped, ElementsAre(View("a"), View("f")));
  EXPECT_THAT(delta->touched, ElementsAre(View("c")));
  EXPECT_FALSE(delta->has_schema_change);
}

TEST(DeltaBetweenTest, AnotherEpochOrAnOlderTableIsNoDelta) {
  const TableNow now{.stamp = {2, 5}};
  EXPECT_FALSE(DeltaBetween({.stamp = {1, 4}}, now, false));
  EXPECT_FALSE(DeltaBetween({.stamp = {2, 5}}, now, false));
  EXPECT_FALSE(DeltaBetween({.stamp = {2, 6}}, now, false));
  EXPECT_TRUE(DeltaBetween({.stamp = {2, 4}}, now, false));
}

TEST(DeltaBetweenTest, EventsAreThoseInBetweenOrThereIsNoDelta) {
  TableNow to{.stamp = {1, 5}};
  to.events = {{3, "3"}, {4, "4a"}, {4, "4b"}, {5, "5"}};
  to.events_from_seq = 2;
  EXPECT_THAT(DeltaBetween({.stamp = {1, 3}}, to, true)->events, ElementsAre("4a", "4b", "5"));
  EXPECT_THAT(DeltaBetween({.stamp = {1, 2}}, to, true)->events, ElementsAre("3", "4a", "4b", "5"));
  EXPECT_FALSE(DeltaBetween({.stamp = {1, 1}}, to, true));
  EXPECT_THAT(DeltaBetween({.stamp = {1, 1}}, to, false)->events, IsEmpty());
}

TEST(DeltaBetweenTest, AnotherFingerprintIsAnotherSchema) {
  TableNow from{.stamp = {1, 1}};
  TableNow to{.stamp = {1, 2}};
  to.view.schema.fingerprint = "ff";
  EXPECT_TRUE(DeltaBetween(from, to, false)->has_schema_change);
}

}  // namespace
}  // namespace tidemark::sink
