#include "app/counted_edges.h"

#include <gtest/gtest.h>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

class FixedProbe final : public kafka::PartitionProbe {
 public:
  Result<kafka::ProbeResult> Probe(const kafka::ProbeRequest& request, const Budget&) override {
    if (request.topics.empty()) return Fail(ErrorKind::kUnavailable, "refused");
    kafka::ProbeResult result;
    result.bytes_fetched = 100;
    return result;
  }
};

class CountedEdgesTest : public ::testing::Test {
 protected:
  std::shared_ptr<EdgeCounts> counts_ = std::make_shared<EdgeCounts>();
  FreshnessEdges edges_ = CountedEdges(
      {.open_store = storage::OpenStore,
       .open_probe =
           [](const ClusterConfig& cluster) -> Result<std::unique_ptr<kafka::PartitionProbe>> {
         if (cluster.name.empty()) return Fail(ErrorKind::kInvalidArgument, "no name");
         return std::make_unique<FixedProbe>();
       },
       .columns = {},
       .clock = nullptr},
      counts_);
};

TEST_F(CountedEdgesTest, WhatIsAskedOfAStoreIsCountedAlsoWhenItFails) {
  ASSERT_OK_ASSIGN(const auto store, edges_.open_store("memory://counted", {}));
  EXPECT_EQ(store->uri(), "memory://counted");
  ASSERT_THAT(store->Put("a", "1", {}), IsOk());
  EXPECT_EQ(counts_->reads, 0u);
  EXPECT_THAT(store->List("", {}, {}), IsOk());
  EXPECT_EQ(counts_->listings, 1u);
  EXPECT_THAT(store->Read("a", {}), IsOk());
  EXPECT_THAT(store->Read("b", {}), IsError(ErrorKind::kNotFound, HasSubstr("b")));
  EXPECT_THAT(store->ReadUpTo("a", 10, {}), IsOk());
  EXPECT_THAT(store->ReadRange("a", 0, 1, {}), IsOk());
  EXPECT_THAT(store->Stat("a", {}), IsOk());
  EXPECT_EQ(counts_->reads, 5u);
  EXPECT_EQ(counts_->listings, 1u);
}

TEST_F(CountedEdgesTest, WhatIsFetchedFromAClusterIsAddedUp) {
  EXPECT_THAT(edges_.open_probe({}), IsError(ErrorKind::kInvalidArgument, HasSubstr("no name")));
  ASSERT_OK_ASSIGN(const auto probe, edges_.open_probe({"main", {}}));
  EXPECT_THAT(probe->Probe({}, {}), IsError(ErrorKind::kUnavailable, HasSubstr("refused")));
  EXPECT_THAT(probe->Probe({.topics = {{.name = "t", .committed = {}}}}, {}), IsOk());
  EXPECT_THAT(probe->Probe({.topics = {{.name = "t", .committed = {}}}}, {}), IsOk());
  EXPECT_EQ(counts_->probes, 3u);
  EXPECT_EQ(counts_->bytes_fetched, 200u);
}

}  // namespace
}  // namespace tidemark::app
