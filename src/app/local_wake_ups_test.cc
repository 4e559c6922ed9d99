#include "app/local_wake_ups.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST(WorthALookTest, OnlyCompletedInstantsAreWorthALook) {
  EXPECT_TRUE(IsWorthALook(""));
  EXPECT_TRUE(IsWorthALook("20260101120000000.commit"));
  EXPECT_TRUE(IsWorthALook("20260101120000000.deltacommit"));
  EXPECT_TRUE(IsWorthALook("20260101120000000_20260101120001000.deltacommit"));
  EXPECT_TRUE(IsWorthALook("20260101120000000.restore"));
  EXPECT_FALSE(IsWorthALook("20260101120000000.deltacommit.requested"));
  EXPECT_FALSE(IsWorthALook("20260101120000000.inflight"));
  EXPECT_FALSE(IsWorthALook(".20260101120000000.commit.crc"));
  EXPECT_FALSE(IsWorthALook("hoodie.properties"));
  EXPECT_FALSE(IsWorthALook("20260101120000000.commit.tmp"));
}

class LocalWakeUpsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_ASSIGN(wake_ups_, LocalWakeUps::Start([this](const std::string& table) {
                       const std::lock_guard lock(mutex_);
                       ++woken_[table];
                       changed_.notify_all();
                     }));
  }
  void TearDown() override { wake_ups_.reset(); }

  /// A table, and its name in the configuration.
  std::string Table(const std::string& name, bool has_layout_2, const std::string& scheme = "") {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path / ".hoodie" / (has_layout_2 ? "timeline" : ""));
    return scheme + path.string();
  }
  static Config Of(const std::vector<std::string>& tables) {
    Config config;
    for (const std::string& table : tables) {
      config.pipelines.emplace_back().spec.table = table;
    }
    return config;
  }
  /// Completes instants until one is noticed: a watch is there some time after Set().
  bool AwaitWoken(const std::string& table, const std::string& folder) {
    for (int i = 0; i < 500; ++i) {
      std::ofstream(folder + "/20260101120000000.commit") << "{}";
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, 20ms);
      if (woken_[table] > 0) return true;
    }
    return false;
  }

  support::TemporaryFolder folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> woken_;
  std::unique_ptr<LocalWakeUps> wake_ups_;
};

TEST_F(LocalWakeUpsTest, EachTableIsToldByTheNameItHasInTheConfiguration) {
  const std::string old = Table("old", false);
  const std::string now = Table("now", true, "file://");
  wake_ups_->Set(Of({old, now, now, "s3://lake/orders", "not a uri:"}));
  EXPECT_TRUE(AwaitWoken(old, old + "/.hoodie"));
  EXPECT_TRUE(AwaitWoken(now, folder_.path() + "/now/.hoodie/timeline"));
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(woken_.size(), 2U);
}

TEST_F(LocalWakeUpsTest, TwoNamesOfOneTableAreBothTold) {
  const std::string plain = Table("a", false);
  wake_ups_->Set(Of({plain, "file://" + plain}));
  EXPECT_TRUE(AwaitWoken(plain, plain + "/.hoodie"));
  EXPECT_TRUE(AwaitWoken("file://" + plain, plain + "/.hoodie"));
}

TEST_F(LocalWakeUpsTest, ATableThatIsNotThereYetIsToldWhenItComesAbout) {
  const std::string later = folder_.path() + "/later";
  const std::string other = Table("other", false);
  wake_ups_->Set(Of({later, other}));
  ASSERT_TRUE(AwaitWoken(other, other + "/.hoodie"));
  Table("later", false);
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, 20s, [&] { return woken_[later] > 0; }));
}

}  // namespace
}  // namespace tidemark::app
