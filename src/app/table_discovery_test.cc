#include "app/table_discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::_;
using ::testing::ElementsAre;

/// One bucket in memory; every URI below it is opened as a store of what lies there.
class TableDiscoveryTest : public ::testing::Test {
 protected:
  /// Shows a part of the bucket as a store of its own.
  class Below final : public storage::ObjectStore {
   public:
    Below(storage::MemoryStore store, std::string prefix)
        : store_(std::move(store)), prefix_(std::move(prefix)), uri_("s3://lake/" + prefix_) {}
    const std::string& uri() const override { return uri_; }
    Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                  const Budget& budget) const override {
      auto listing = store_.List(prefix_ + std::string(folder), options, budget);
      if (!listing) return listing;
      for (auto& object : listing->objects) object.key.erase(0, prefix_.size());
      for (auto& each : listing->folders) each.erase(0, prefix_.size());
      return listing;
    }
    Result<std::string> Read(std::string_view, const Budget&) const override {
      return Fail(ErrorKind::kNotFound, "");
    }
    Result<std::string> ReadRange(std::string_view, uint64_t, uint64_t,
                                  const Budget&) const override {
      return Fail(ErrorKind::kNotFound, "");
    }
    Result<storage::ObjectInfo> Stat(std::string_view, const Budget&) const override {
      return Fail(ErrorKind::kNotFound, "");
    }
    Status Put(std::string_view, std::string_view, const Budget&) override { return {}; }
    Status PutIfAbsent(std::string_view, std::string_view, const Budget&) override { return {}; }
    Status Remove(std::string_view, const Budget&) override { return {}; }

   private:
    storage::MemoryStore store_;
    std::string prefix_;
    std::string uri_;
  };

  void Table(const std::string& path) {
    ASSERT_THAT(store_.Put(path + "/.hoodie/hoodie.properties", "x", Budget()), IsOk());
  }
  Result<std::vector<std::string>> Find(const std::string& pattern) {
    return FindTables(
        pattern,
        [this](const std::string& uri) -> Result<std::shared_ptr<storage::ObjectStore>> {
          ++opened_;
          if (is_dead_) return Fail(ErrorKind::kUnavailable, "dead");
          std::string prefix = uri.substr(std::string("s3://lake").size());
          while (prefix.starts_with('/')) prefix.erase(0, 1);
          if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
          return std::make_shared<Below>(store_, prefix);
        },
        [this](const std::string& uri) { return known_.contains(uri); }, Budget());
  }

  storage::MemoryStore store_;
  std::set<std::string> known_;
  bool is_dead_ = false;
  int opened_ = 0;
};

TEST_F(TableDiscoveryTest, ANameStandsForItself) {
  EXPECT_THAT(Find("s3://lake/orders"), IsOkAnd(std::vector<std::string>{"s3://lake/orders"}));
  EXPECT_EQ(opened_, 0);
}

TEST_F(TableDiscoveryTest, AStarStandsForFoldersThatHoldATable) {
  Table("b");
  Table("a");
  ASSERT_THAT(store_.Put("no-table/file", "x", Budget()), IsOk());
  ASSERT_THAT(store_.Put(".hidden/.hoodie/hoodie.properties", "x", Budget()), IsOk());
  const auto found = Find("s3://lake/*");
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(*found, ElementsAre("s3://lake/a", "s3://lake/b"));
}

TEST_F(TableDiscoveryTest, StarsMayStandInSeveralParts) {
  Table("db1.lake/orders");
  Table("db2.lake/orders_old");
  Table("db2.lake/payments");
  Table("other/orders");
  const auto found = Find("s3://lake/db*.lake/orders*");
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(*found, ElementsAre("s3://lake/db1.lake/orders", "s3://lake/db2.lake/orders_old"));
}

TEST_F(TableDiscoveryTest, KnownTablesAreNotLookedInto) {
  Table("a");
  Table("b");
  ASSERT_THAT(Find("s3://lake/*"), IsOk());
  const int cost = std::exchange(opened_, 0);
  known_ = {"s3://lake/a", "s3://lake/b"};
  ASSERT_THAT(Find("s3://lake/*"), IsOk());
  EXPECT_EQ(opened_, cost - 2);
}

TEST_F(TableDiscoveryTest, AStoreThatFailsFailsTheWhole) {
  is_dead_ = true;
  EXPECT_THAT(Find("s3://lake/*"), IsError(ErrorKind::kUnavailable, _));
}

TEST(ParentOfTest, IsTheFolderAbove) {
  const std::pair<const char*, const char*> cases[] = {
      {"s3://lake/a/b", "s3://lake/a"},
      {"s3://lake/a", "s3://lake/"},
      {"s3://lake", ""},
      {"s3://lake/", ""},
      {"/data/orders", "/data"},
      {"/orders", "/"},
      {"file:///data/x/", "file:///data"},
      {"file:///x", "file:///"},
  };
  for (const auto& [uri, parent] : cases) EXPECT_EQ(ParentOf(uri), parent) << uri;
}

}  // namespace
}  // namespace tidemark::app
