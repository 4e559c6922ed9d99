#include "audit/key_census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::audit {
namespace {

using support::IsError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMuch = 1 << 20;

/// A census in which each group has these hashes, all shown.
SharedKeys Count(std::vector<uint32_t> partitions, bool keys_are_global, uint64_t bytes_max,
                 const std::vector<std::vector<uint64_t>>& groups) {
  KeyCensus census(std::move(partitions), keys_are_global, bytes_max);
  while (true) {
    for (size_t group = 0; group < groups.size(); ++group) {
      std::vector<uint64_t> entries;
      for (const uint64_t hash : groups[group]) entries.push_back(KeyCensus::EntryOf(hash, true));
      census.Add(group, std::move(entries));
    }
    const auto done = census.EndRound();
    EXPECT_TRUE(done.has_value());
    if (!done || *done) return census.shared();
  }
}

TEST(KeyCensusTest, KeysOfOneGroupAreNotShared) {
  EXPECT_THAT(Count({0, 0}, false, kMuch, {{2, 4}, {6, 8}}).hashes, IsEmpty());
}

TEST(KeyCensusTest, KeysOfSeveralGroupsOfAPartitionAreShared) {
  const auto shared = Count({0, 0, 1}, false, kMuch, {{2, 4, 6}, {4, 8}, {2, 8}});
  EXPECT_THAT(shared.hashes, ElementsAre(4));
  EXPECT_THAT(shared.keys_of, ElementsAre(3, 2, 2));
  EXPECT_THAT(shared.shared_of, ElementsAre(1, 1, 0));
  EXPECT_EQ(shared.shown_in_partitions, 2U);
  ASSERT_TRUE(shared.example.has_value());
  EXPECT_EQ(shared.example->hash, 2U);
  EXPECT_EQ(shared.example->group, 0U);
  EXPECT_EQ(shared.example->other, 2U);
}

TEST(KeyCensusTest, GlobalKeysAreSharedAcrossPartitions) {
  const auto shared = Count({0, 1, 1}, true, kMuch, {{2, 4, 6}, {4, 8}, {2, 8}});
  EXPECT_THAT(shared.hashes, ElementsAre(2, 4, 8));
  EXPECT_THAT(shared.shared_of, ElementsAre(2, 2, 2));
  EXPECT_EQ(shared.shown_in_partitions, 0U);
}

TEST(KeyCensusTest, WhatIsNotShownIsNotTwiceShown) {
  KeyCensus census({0, 1}, false, kMuch);
  census.Add(0, {KeyCensus::EntryOf(2, true), KeyCensus::EntryOf(4, true)});
  census.Add(1, {KeyCensus::EntryOf(2, false), KeyCensus::EntryOf(4, true)});
  ASSERT_OK_ASSIGN(const bool is_done, census.EndRound());
  EXPECT_TRUE(is_done);
  EXPECT_EQ(census.shared().shown_in_partitions, 1U);
}

TEST(KeyCensusTest, RoundsComeToTheSameAsOne) {
  std::mt19937_64 random(7);
  std::vector<std::vector<uint64_t>> groups(5);
  std::vector<uint64_t> pool;
  for (int i = 0; i < 400; ++i) pool.push_back(random() & ~uint64_t{1});
  for (const uint64_t hash : pool) {
    for (auto& group : groups) {
      if (random() % 4 == 0) group.push_back(hash);
    }
  }
  const auto whole = Count({0, 0, 1, 1, 1}, false, kMuch, groups);
  EXPECT_GT(whole.hashes.size(), 20U);
  for (const uint64_t entries : {400, 200}) {
    const auto parts = Count({0, 0, 1, 1, 1}, false, entries * sizeof(uint64_t), groups);
    EXPECT_EQ(parts.hashes, whole.hashes);
    EXPECT_EQ(parts.shared_of, whole.shared_of);
    EXPECT_EQ(parts.keys_of, whole.keys_of);
    EXPECT_EQ(parts.shown_in_partitions, whole.shown_in_partitions);
    EXPECT_EQ(parts.example->hash, whole.example->hash);
  }
}

TEST(KeyCensusTest, TooManySharedKeysAreSaid) {
  KeyCensus census({0, 0}, false, 2 * sizeof(uint64_t));
  bool has_failed = false;
  for (int round = 0; round < 100 && !has_failed; ++round) {
    std::vector<uint64_t> entries;
    for (uint64_t i = 0; i < 64; ++i) entries.push_back(KeyCensus::EntryOf(i << 57, true));
    census.Add(0, entries);
    census.Add(1, entries);
    const auto done = census.EndRound();
    if (done) continue;
    has_failed = true;
    EXPECT_THAT(done, IsError(ErrorKind::kExhausted, HasSubstr("several file groups")));
  }
  EXPECT_TRUE(has_failed);
}

}  // namespace
}  // namespace tidemark::audit
