#include "app/metered_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using lake::hudi::FileGroupId;
using lake::hudi::FileSlice;
using support::IsOk;

/// Group "a" of a base file of 100 bytes and a log of 40, group "b" of a base file of 60.
class MeteredStoreTest : public testing::Test {
 protected:
  MeteredStoreTest() {
    auto memory = std::make_unique<storage::MemoryStore>();
    for (const auto& [key, size] : {std::pair("a.base", 100), {"a.log", 40}, {"b.base", 60}}) {
      EXPECT_THAT(memory->Put(key, std::string(static_cast<size_t>(size), 'x'), Budget()), IsOk());
    }
    EXPECT_THAT(memory->Put("commit", "x", Budget()), IsOk());
    store_ = std::make_unique<MeteredStore>(
        std::move(memory), [this](const ReadProgress& progress) { told_.push_back(progress); });
    slices_[0].group = {"p", "a"};
    slices_[0].base = lake::hudi::BaseFile{"a.base", {}, 100, false};
    slices_[0].logs.push_back({"a.log", {}, 40, ""});
    slices_[1].group = {"p", "b"};
    slices_[1].base = lake::hudi::BaseFile{"b.base", {}, 60, false};
    groups_ = {scan::GroupSlices(slices_).first(1), scan::GroupSlices(slices_).last(1)};
  }

  std::vector<FileSlice> slices_ = std::vector<FileSlice>(2);
  std::vector<scan::GroupSlices> groups_;
  std::vector<ReadProgress> told_;
  std::unique_ptr<MeteredStore> store_;
};

TEST_F(MeteredStoreTest, TellsOfExpectedFilesOnly) {
  ASSERT_THAT(store_->Read("a.base", Budget()), IsOk());
  EXPECT_TRUE(told_.empty());
  store_->Expect(groups_, scan::SliceView::kSnapshot);
  EXPECT_EQ(told_.back(), (ReadProgress{0, 200, 0, 2}));
  ASSERT_THAT(store_->Read("commit", Budget()), IsOk());
  EXPECT_EQ(told_.size(), 1U);
  ASSERT_THAT(store_->Read("a.log", Budget()), IsOk());
  EXPECT_EQ(told_.back(), (ReadProgress{40, 200, 0, 2}));
}

TEST_F(MeteredStoreTest, AFileReadTwiceCountsOnce) {
  store_->Expect(groups_, scan::SliceView::kSnapshot);
  for (int pass = 0; pass < 3; ++pass) {
    ASSERT_THAT(store_->ReadRange("a.base", 0, 70, Budget()), IsOk());
  }
  EXPECT_EQ(told_.back(), (ReadProgress{100, 200, 0, 2}));
}

TEST_F(MeteredStoreTest, IsAsLocalAsTheStoreBelow) {
  EXPECT_TRUE(store_->is_local());
  store_->Expect(groups_, scan::SliceView::kSnapshot);
  std::string into(30, '.');
  storage::ObjectState state;
  EXPECT_THAT(store_->ReadInto("a.base", 80, into, state, Budget()), support::IsOkAnd(20U));
  EXPECT_EQ(told_.back(), (ReadProgress{20, 200, 0, 2}));
}

TEST_F(MeteredStoreTest, AFinishedGroupIsDoneWhateverWasNotReadOfIt) {
  store_->Expect(groups_, scan::SliceView::kSnapshot);
  ASSERT_THAT(store_->ReadRange("a.base", 90, 10, Budget()), IsOk());
  store_->Finish({"p", "a"});
  EXPECT_EQ(told_.back(), (ReadProgress{140, 200, 1, 2}));
  ASSERT_THAT(store_->Read("a.base", Budget()), IsOk());
  store_->Finish({"p", "a"});
  store_->Finish({"q", "unknown"});
  store_->Finish({"p", "b"});
  EXPECT_EQ(told_.back(), (ReadProgress{200, 200, 2, 2}));
}

TEST_F(MeteredStoreTest, TheReadOptimizedViewHasNoLogs) {
  store_->Expect(groups_, scan::SliceView::kReadOptimized);
  EXPECT_EQ(told_.back(), (ReadProgress{0, 160, 0, 2}));
}

}  // namespace
}  // namespace tidemark::app
