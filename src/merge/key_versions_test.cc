#include "merge/key_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/merge_events.h"
#include "support/merge_log.h"

namespace tidemark::merge {
namespace {

using support::Events;
using testing::ElementsAre;
using testing::IsEmpty;

/// Slices of one key, told as events: Past().Log("I1 D4").Compacted("").Log("U3").
class Past {
 public:
  Past() : slices_(1), versions_(1) {}

  Past& Log(std::string_view events) {
    for (const std::string& name : support::SplitEvents(events)) {
      versions_.back().push_back(events_.Of(name, ++commit_));
    }
    return *this;
  }
  /// A new slice whose base file has the named event's record, "" none.
  Past& Compacted(const std::string& event) { return Base(BaseWriter::kCompaction, event); }
  /// A commit rewrote the base file; "+U3" is a record it brought.
  Past& Written(const std::string& event) { return Base(BaseWriter::kWrite, event); }

  /// What is right: an event's name or "gone".
  std::string Right(std::string_view profile = "event-time") {
    for (size_t i = 0; i < slices_.size(); ++i) slices_[i].log = versions_[i];
    const Profile event_time = support::GetProfile(profile, support::EventTimeSettings());
    const KeyVersions key{slices_.back(), std::span(slices_).first(slices_.size() - 1)};
    return events_.Shown(MergeKey(event_time, key));
  }

 private:
  Past& Base(BaseWriter writer, const std::string& event) {
    SliceVersions slice;
    slice.base_writer = writer;
    slice.base_commit = ++commit_;
    if (event.starts_with('+')) {
      slice.base = events_.Of(event.substr(1), commit_);
    } else if (!event.empty()) {
      slice.base = CopyOf(event);
    }
    if (slice.base) slice.base->place = {slice.base->place.commit, 0, 0, 3};
    slices_.push_back(slice);
    versions_.emplace_back();
    return *this;
  }
  /// The record that is carried along, with the commit it came in.
  Version CopyOf(const std::string& event) {
    for (size_t i = versions_.size(); i > 0; --i) {
      for (const Version& version : versions_[i - 1]) {
        if (events_.NameOf(version) == event) return version;
      }
      const auto& base = slices_[i - 1].base;
      if (base && events_.NameOf(*base) == event) return *base;
    }
    ADD_FAILURE() << "no such event " << event;
    return {};
  }

  Events events_{ColumnType::kLong};
  uint32_t commit_ = 0;
  std::vector<SliceVersions> slices_;
  std::vector<std::vector<Version>> versions_;
};

TEST(MergeKeyTest, FindsWhatPastCompactionsDropped) {
  // A tombstone.
  EXPECT_EQ(Past().Log("I1 D4").Compacted("").Log("U3").Right(), "gone");
  // A row.
  EXPECT_EQ(Past().Log("U3").Compacted("U3").Log("D2").Compacted("").Right(), "U3");
  EXPECT_EQ(Past().Log("U3 D2 I1").Compacted("I1").Log("I0").Right(), "U3");
  // Through several slices.
  EXPECT_EQ(Past().Log("D4").Compacted("").Log("I1").Compacted("I1").Log("U3").Right(), "gone");
}

TEST(MergeKeyTest, ACarriedRowDoesNotArriveAgain) {
  // Its copies are as old as the record, so a delete of its own value that came after it wins, …
  EXPECT_EQ(Past().Log("U3").Compacted("U3").Log("D3").Compacted("U3").Compacted("U3").Right(),
            "gone");
  // … one without a value too, …
  EXPECT_EQ(Past().Log("U3").Compacted("U3").Log("D∅").Compacted("U3").Right(), "gone");
  // … and another row of its value.
  EXPECT_EQ(Past().Log("U3").Compacted("U3").Log("U3'").Compacted("U3").Right(), "U3'");
}

TEST(MergeKeyTest, ACommitThatRewroteTheBaseFileDeletedWhatIsMissing) {
  EXPECT_EQ(Past().Written("+U3").Written("U3").Right(), "U3");
  EXPECT_EQ(Past().Written("+U3").Written("").Right(), "gone");
  // Its value is unknown, so what comes later is there again, as after any delete without value.
  EXPECT_EQ(Past().Written("+U3").Written("").Written("+I1").Right(), "I1");
  EXPECT_EQ(Past().Written("+U3").Written("").Log("I1").Right(), "I1");
  // A compaction deletes nothing by itself.
  EXPECT_EQ(Past().Written("+U3").Compacted("").Right(), "U3");
  // What was gone already is not deleted again: the tombstone and its value stay.
  EXPECT_EQ(Past().Written("+U3").Log("D4").Written("").Log("I1").Right(), "gone");
}

TEST(MergeKeyTest, ARewriteThatTookAnOlderRowIsSeen) {
  EXPECT_EQ(Past().Written("+U3").Written("+I1").Right(), "U3");
  EXPECT_EQ(Past().Written("+I1").Written("+U3").Right(), "U3");
}

TEST(MergeKeyTest, CommitTimeTakesTheLastArrivalOfAllSlices) {
  EXPECT_EQ(Past().Log("U3").Compacted("U3").Log("I1").Right("commit-time"), "I1");
  EXPECT_EQ(Past().Log("U3 D2").Compacted("").Right("commit-time"), "gone");
  EXPECT_EQ(Past().Log("D2 U3").Compacted("U3").Compacted("U3").Right("commit-time"), "U3");
}

// --- VersionStore --------------------------------------------------------------------------------

Version At(uint32_t commit, uint32_t file, uint32_t position, RowHandle row) {
  Version version;
  version.place = {commit, file, 0, position};
  version.row = row;
  return version;
}

std::vector<RowHandle> Rows(const SliceVersions& slice) {
  std::vector<RowHandle> rows;
  if (slice.base) rows.push_back(slice.base->row);
  for (const Version& version : slice.log) rows.push_back(version.row);
  return rows;
}

TEST(VersionStoreTest, HandsOutTheVersionsOfAKeyBySliceAndPlace) {
  VersionStore store({{BaseWriter::kNone, 0}, {BaseWriter::kCompaction, 9}});
  EXPECT_TRUE(store.Add(2, 1, At(11, 3, 0, 5)));
  EXPECT_TRUE(store.Add(0, 1, At(11, 3, 1, 6)));
  EXPECT_TRUE(store.Add(2, 0, At(7, 2, 0, 3)));
  EXPECT_TRUE(store.Add(2, 1, At(7, 0, 0, 4)));  // the base row, read last
  EXPECT_TRUE(store.Add(2, 0, At(5, 1, 0, 2)));  // of an older file
  EXPECT_EQ(store.key_count(), 3u);
  EXPECT_EQ(store.version_count(), 5u);

  const KeyVersions two = store.Of(2);
  ASSERT_EQ(two.older.size(), 1u);
  EXPECT_THAT(Rows(two.older[0]), ElementsAre(2u, 3u));
  EXPECT_EQ(two.older[0].base_writer, BaseWriter::kNone);
  EXPECT_THAT(Rows(two.slice), ElementsAre(4u, 5u));
  EXPECT_TRUE(two.slice.base.has_value());
  EXPECT_EQ(two.slice.base_writer, BaseWriter::kCompaction);
  EXPECT_EQ(two.slice.base_commit, 9u);

  EXPECT_THAT(Rows(store.Of(0).slice), ElementsAre(6u));
  EXPECT_THAT(Rows(store.Of(0).older[0]), IsEmpty());
  EXPECT_THAT(Rows(store.Of(1).slice), IsEmpty());
  EXPECT_THAT(Rows(store.Of(77).slice), IsEmpty());
}

TEST(VersionStoreTest, ASecondBaseRowOfAKeyIsRefused) {
  VersionStore store(std::vector<VersionStore::Slice>(2));
  EXPECT_TRUE(store.Add(0, 0, At(1, 0, 0, 1)));
  EXPECT_TRUE(store.Add(0, 1, At(1, 0, 0, 2)));
  EXPECT_FALSE(store.Add(0, 1, At(1, 0, 1, 3)));
  EXPECT_EQ(store.version_count(), 2u);
}

TEST(VersionStoreTest, SaysWhatItTakes) {
  VersionStore store(std::vector<VersionStore::Slice>(1));
  EXPECT_EQ(store.byte_count(), 0u);
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_TRUE(store.Add(i, 0, At(1, 1, i, i)));
  EXPECT_GE(store.byte_count(), 64'000u);
  EXPECT_LE(store.byte_count(), 80'000u);
}

}  // namespace
}  // namespace tidemark::merge
