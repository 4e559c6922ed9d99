#include "app/publisher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "api/change_json.h"
#include "api/feed_json.h"
#include "feed/control.h"
#include "feed/memory_log.h"
#include "kafka/group_lease.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using feed::ControlAction;
using feed::LogTopic;
using feed::MemoryLog;
using feed::SendFault;
using support::IsOk;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// Longer than anything here takes on a loaded machine.
constexpr auto kPatience = 60s;
constexpr int kPartitions = 4;

/// A store that stops answering when it is told to.
class SulkingStore final : public storage::ObjectStore {
 public:
  SulkingStore(storage::MemoryStore store, std::shared_ptr<std::atomic<bool>> sulks)
      : store_(std::move(store)), sulks_(std::move(sulks)) {}

  const std::string& uri() const override { return store_.uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override {
    TRY(Answer(budget));
    return store_.List(folder, options, budget);
  }
  Result<std::string> Read(std::string_view key, const Budget& budget) const override {
    TRY(Answer(budget));
    return store_.Read(key, budget);
  }
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override {
    TRY(Answer(budget));
    return store_.ReadRange(key, offset, length, budget);
  }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override {
    TRY(Answer(budget));
    return store_.Stat(key, budget);
  }
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.Put(key, bytes, budget);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.PutIfAbsent(key, bytes, budget);
  }
  Status Remove(std::string_view key, const Budget& budget) override {
    return store_.Remove(key, budget);
  }

 private:
  Status Answer(const Budget& budget) const {
    if (!*sulks_) return {};
    Budget wait = budget.Within(kPatience);
    wait.retry_delay = Milliseconds(10);
    wait.tries_max = 1'000'000;
    while (*sulks_ && wait.WaitForTry(2)) {
    }
    return budget.Check();
  }

  storage::MemoryStore store_;
  std::shared_ptr<std::atomic<bool>> sulks_;
};

/// What the group says, as the test says it.
class ToldShare final : public PartitionShare {
 public:
  struct Words {
    std::mutex mutex;
    std::vector<ShareChange> changes;
  };
  explicit ToldShare(std::shared_ptr<Words> words) : words_(std::move(words)) {}

  ShareChange Serve(Milliseconds limit) override {
    {
      const std::lock_guard lock(words_->mutex);
      if (!words_->changes.empty()) {
        auto change = words_->changes.front();
        words_->changes.erase(words_->changes.begin());
        return change;
      }
    }
    WaitUnlessStopped(limit / 4, {});
    return {};
  }
  void Leave() override {}

 private:
  std::shared_ptr<Words> words_;
};

class PublisherTest : public ::testing::Test {
 protected:
  PublisherTest() : log_(std::make_shared<MemoryLog>(kPartitions)) {
    config_.feed.emplace();
    config_.feed->poll = Milliseconds(100);
    config_.feed->bookmark_every = Milliseconds(200);
    config_.clusters["main"] = {};
    config_.feed->cluster = "main";
    words_ = std::make_shared<ToldShare::Words>();
    words_->changes.push_back(Everything());
  }

  /// Names are unique in the process: memory stores are.
  std::string Table(const std::string& name) {
    const std::string uri = fmt::format(
        "memory://{}-{}", ::testing::UnitTest::GetInstance()->current_test_info()->name(), name);
    auto store = StoreOf(uri);
    Put(uri, ".hoodie/hoodie.properties",
        "hoodie.table.name=" + name +
            "\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
            "hoodie.timeline.layout.version=1\nhoodie.table.partition.fields=p\n");
    config_.feed->tables.push_back(uri);
    sulks_[uri] = std::make_shared<std::atomic<bool>>(false);
    return uri;
  }
  void Commit(const std::string& uri, int number, const std::string& partition = "p=1") {
    const std::string instant = fmt::format("2024010112{:04}000", number);
    const std::string file = fmt::format("{}/f{}_0-1-1_{}.parquet", partition, number, instant);
    Put(uri, partition + "/.hoodie_partition_metadata", "x");
    Put(uri, file, "x");
    Put(uri, ".hoodie/" + instant + ".commit",
        fmt::format(R"({{"partitionToWriteStats":{{"{}":[{{"fileId":"f{}","path":"{}",)"
                    R"("prevCommit":"null","numWrites":1}}]}},"compacted":false,)"
                    R"("extraMetadata":{{"schema":""}},"operationType":"UPSERT"}})",
                    partition, number, file));
  }
  static storage::MemoryStore StoreOf(const std::string& uri) {
    return storage::MemoryStore::Named(uri.substr(std::string("memory://").size()));
  }
  static void Put(const std::string& uri, const std::string& key, const std::string& bytes) {
    ASSERT_THAT(StoreOf(uri).Put(key, bytes, Budget()), IsOk());
  }

  void Start(const PublisherOptions& options = {}) {
    FreshnessEdges edges;
    edges.clock = &clock_;
    edges.columns = []() -> Result<const lake::ColumnReader*> {
      return Fail(ErrorKind::kUnavailable, "no columns in this test");
    };
    edges.open_store =
        [this](const std::string& uri,
               const storage::StoreOptions&) -> Result<std::unique_ptr<storage::ObjectStore>> {
      return std::make_unique<SulkingStore>(StoreOf(uri), sulks_.at(uri));
    };
    publisher_ = std::make_unique<Publisher>(config_, log_, std::make_unique<ToldShare>(words_),
                                             edges, options);
  }

  /// Another process in its place: the group gives it everything.
  void Restart() {
    publisher_.reset();
    words_->changes.push_back(Everything());
    Start();
  }
  static ShareChange Everything() {
    ShareChange all;
    all.gained.resize(kPartitions);
    std::iota(all.gained.begin(), all.gained.end(), 0);
    return all;
  }

  void Ask(const std::string& uri, ControlAction action) {
    const auto uid = api::TableUid(uri);
    log_->Append(PartitionOf(uri), {.topic = LogTopic::kControl,
                                    .key = uid,
                                    .value = feed::ControlJson({.action = action, .uid = uid})});
  }
  bool IsPaused() const {
    const auto report = publisher_->Report();
    return !report.tables.empty() && report.tables[0].is_paused;
  }

  static int PartitionOf(const std::string& uri) {
    return kafka::PartitionOfKey(api::TableUid(uri), kPartitions);
  }
  /// Bodies of a table's events, in order.
  std::vector<std::string> EventsOf(const std::string& uri) const {
    std::vector<std::string> bodies;
    for (const auto& record : log_->Records(LogTopic::kEvents, PartitionOf(uri)))
      if (record.key == api::TableUid(uri)) bodies.push_back(*record.value);
    return bodies;
  }
  size_t CommitsOf(const std::string& uri) const {
    const auto events = EventsOf(uri);
    return static_cast<size_t>(std::ranges::count_if(events, [](const std::string& body) {
      return body.find(R"("changeType":"COMMIT")") != std::string::npos;
    }));
  }
  bool HasSnapshot(const std::string& uri) const {
    const auto records = log_->Records(LogTopic::kState, PartitionOf(uri));
    return std::ranges::any_of(
        records, [&](const auto& record) { return record.key == api::TableUid(uri) + "/head"; });
  }
  /// Each is of one page here.
  size_t SnapshotsOf(const std::string& uri) const {
    const auto records = log_->Records(LogTopic::kState, PartitionOf(uri));
    const auto page = api::StatePageKey(api::TableUid(uri), 0);
    return static_cast<size_t>(
        std::ranges::count_if(records, [&](const auto& each) { return each.key == page; }));
  }
  static void Await(const std::function<bool()>& is_so) {
    Budget budget = Budget::For(kPatience);
    budget.retry_delay = Milliseconds(5);
    budget.tries_max = 1'000'000;
    while (!is_so() && budget.WaitForTry(2)) {
    }
    ASSERT_TRUE(is_so()) << "waited in vain";
  }

  SystemClock clock_;
  Config config_;
  std::shared_ptr<MemoryLog> log_;
  std::shared_ptr<ToldShare::Words> words_;
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> sulks_;
  std::unique_ptr<Publisher> publisher_;
};

TEST_F(PublisherTest, EachCommitIsToldOnce) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  for (int number = 2; number <= 5; ++number) {
    Commit(table, number);
    Await([&] { return CommitsOf(table) == static_cast<size_t>(number - 1); });
  }
}

TEST_F(PublisherTest, ATableThatDoesNotAnswerDelaysNobody) {
  const auto silent = Table("silent"), good = Table("good");
  Commit(silent, 1);
  Commit(good, 1);
  *sulks_[silent] = true;
  Start();
  Await([&] { return HasSnapshot(good); });
  Commit(good, 2);
  Await([&] { return CommitsOf(good) == 1; });
  EXPECT_FALSE(HasSnapshot(silent));
  *sulks_[silent] = false;
  Await([&] { return HasSnapshot(silent); });
}

TEST_F(PublisherTest, APartitionThatIsDownDelaysNoOther) {
  std::vector<std::string> tables;
  std::set<int> partitions;
  for (int i = 0; partitions.size() < 2; ++i) {
    tables.push_back(Table(fmt::format("t{}", i)));
    Commit(tables.back(), 1);
    partitions.insert(PartitionOf(tables.back()));
  }
  const int down = PartitionOf(tables[0]);
  std::atomic<bool> is_down = true;
  log_->SetFaults([&](int partition) {
    return is_down && partition == down ? SendFault::kRefused : SendFault::kNone;
  });
  Start();
  Await([&] {
    return std::ranges::all_of(tables, [&](const auto& table) {
      return PartitionOf(table) == down || HasSnapshot(table);
    });
  });
  EXPECT_FALSE(HasSnapshot(tables[0]));
  is_down = false;
  Await([&] { return std::ranges::all_of(tables, [&](auto& each) { return HasSnapshot(each); }); });
  publisher_.reset();
}

TEST_F(PublisherTest, WhatCannotBeSentIsTriedUntilItIs) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  std::atomic<int> tries = 0;
  log_->SetFaults([&](int) { return ++tries <= 3 ? SendFault::kRefused : SendFault::kNone; });
  Commit(table, 2);
  Await([&] { return CommitsOf(table) == 1; });
  Await([&] { return publisher_->Report().send_failures >= 1; });
  EXPECT_GE(publisher_->Report().send_tries, publisher_->Report().send_failures + 1);
  publisher_.reset();
}

TEST_F(PublisherTest, ATableThatSomebodyTellsOfIsLookedAtAsOneThatIsNotified) {
  const auto table = Table("a");
  Commit(table, 1);
  config_.feed->poll = 24h;
  config_.feed->poll_notified = 50ms;
  // Asked once a look: by poll, the twentieth would come after weeks.
  std::atomic<int> asked = 0;
  Start({.is_told = [&](std::string_view base_path) {
    EXPECT_EQ(base_path, table);
    ++asked;
    return true;
  }});
  Await([&] { return asked >= 20; });
  publisher_.reset();
}

TEST_F(PublisherTest, BookmarksSayWhereEachTableStands) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  const auto bookmarks = [&] {
    std::vector<std::string> bodies;
    for (const auto& record : log_->Records(LogTopic::kEvents, PartitionOf(table)))
      if (record.key.empty()) bodies.push_back(*record.value);
    return bodies;
  };
  Await([&] { return bookmarks().size() >= 2; });
  EXPECT_THAT(bookmarks().back(),
              HasSubstr(fmt::format(R"({{"uid":"{}","epoch":1,"headSeq":1,"lastCheckedAt":)",
                                    api::TableUid(table))));
}

TEST_F(PublisherTest, APausedTableIsQuietUntilItMayGoOn) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  Ask(table, ControlAction::kPause);
  Await([&] { return IsPaused(); });
  Commit(table, 2);
  // What was paused is told then.
  Ask(table, ControlAction::kResume);
  Await([&] { return CommitsOf(table) == 1; });
  EXPECT_FALSE(log_->Records(LogTopic::kCursor, PartitionOf(table)).empty());
}

TEST_F(PublisherTest, WhatIsAskedWhileNobodyPublishesIsDoneOnceByWhoComesNext) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return SnapshotsOf(table) == 1; });
  publisher_.reset();
  Ask(table, ControlAction::kSnapshot);
  Restart();
  Await([&] { return SnapshotsOf(table) == 2; });
  Restart();
  Commit(table, 2);
  Await([&] { return CommitsOf(table) == 1; });
  EXPECT_EQ(SnapshotsOf(table), 2U);
}

TEST_F(PublisherTest, AskedToPauseAndToGoOnWhileNobodyPublishesItGoesOn) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  publisher_.reset();
  Ask(table, ControlAction::kPause);
  Ask(table, ControlAction::kResume);
  Commit(table, 2);
  Restart();
  Await([&] { return CommitsOf(table) == 1; });
  publisher_.reset();
  Ask(table, ControlAction::kPause);
  Commit(table, 3);
  Restart();
  Await([&] { return IsPaused(); });
  EXPECT_EQ(CommitsOf(table), 1U);
}

TEST_F(PublisherTest, ASnapshotThatIsAskedOfAPausedTableComesWhenItGoesOnWhoeverPublishesItThen) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return SnapshotsOf(table) == 1; });
  Ask(table, ControlAction::kPause);
  Await([&] { return IsPaused(); });
  Ask(table, ControlAction::kSnapshot);
  Restart();
  Await([&] { return IsPaused(); });
  EXPECT_EQ(SnapshotsOf(table), 1U);
  Ask(table, ControlAction::kResume);
  Await([&] { return SnapshotsOf(table) == 2; });
}

TEST_F(PublisherTest, ARequestForATableThatIsNotOfThisFeedYetIsDoneWhenItIs) {
  const auto known = Table("known"), late = Table("late");
  Commit(known, 1);
  Commit(late, 1);
  config_.feed->tables = {known};
  Start();
  Await([&] { return HasSnapshot(known); });
  Ask(late, ControlAction::kPause);
  Await([&] { return publisher_->Report().control_refused == 1; });
  publisher_.reset();
  config_.feed->tables = {known, late};
  Restart();
  Await([&] {
    const auto report = publisher_->Report();
    return std::ranges::any_of(report.tables, [](const auto& each) { return each.is_paused; });
  });
}

TEST_F(PublisherTest, WhatIsAskedWhileAPartitionIsNobodysIsDoneWhenItIsGained) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return SnapshotsOf(table) == 1; });
  {
    const std::lock_guard lock(words_->mutex);
    words_->changes.push_back({.gained = {}, .lost = {0, 1, 2, 3}});
  }
  Await([&] { return publisher_->Report().partitions_held == 0; });
  Ask(table, ControlAction::kResync);
  {
    const std::lock_guard lock(words_->mutex);
    words_->changes.push_back(Everything());
  }
  Await([&] { return SnapshotsOf(table) == 2; });
}

TEST_F(PublisherTest, WhoDiesBetweenHearingAndSendingHasDoneNothing) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return SnapshotsOf(table) == 1; });
  std::atomic<int> tries = 0;
  log_->SetFaults([&](int partition) {
    if (partition == PartitionOf(table)) ++tries;
    return SendFault::kRefused;
  });
  Ask(table, ControlAction::kSnapshot);
  Await([&] { return tries >= 2; });
  publisher_.reset();
  log_->SetFaults(nullptr);
  EXPECT_EQ(SnapshotsOf(table), 1U);
  Restart();
  Await([&] { return SnapshotsOf(table) == 2; });
}

TEST_F(PublisherTest, ARoundHearsNoRequestAndForgetsNone) {
  const auto table = Table("a");
  Commit(table, 1);
  Ask(table, ControlAction::kPause);
  Start({.is_once = true});
  EXPECT_EQ(publisher_->AwaitRound(Budget::For(kPatience)).told, 1U);
  EXPECT_TRUE(HasSnapshot(table));
  Restart();
  Await([&] { return IsPaused(); });
}

TEST_F(PublisherTest, AnotherOwnerIsLeftAlone) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  // As a publisher that the group does not know of.
  ASSERT_OK_ASSIGN(const auto other, log_->OpenWriter(PartitionOf(table), Budget()));
  Commit(table, 2);
  Await([&] { return publisher_->Report().fenced == 1; });
  EXPECT_EQ(CommitsOf(table), 0U);
}

TEST_F(PublisherTest, WhatTheGroupTakesAwayIsPublishedNoMore) {
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  {
    const std::lock_guard lock(words_->mutex);
    words_->changes.push_back({.gained = {}, .lost = {0, 1, 2, 3}});
  }
  Await([&] { return publisher_->Report().partitions_held == 0; });
  Commit(table, 2);
  {
    const std::lock_guard lock(words_->mutex);
    words_->changes.push_back({.gained = {0, 1, 2, 3}, .lost = {}});
  }
  Await([&] { return CommitsOf(table) == 1; });
}

TEST_F(PublisherTest, ARoundTellsAllAndNamesWhatItCannotTell) {
  const auto good = Table("good"), bad = Table("bad");
  Commit(good, 1);
  Put(bad, ".hoodie/hoodie.properties", "hoodie.table.name=bad\nhoodie.table.version=99\n");
  Start({.is_once = true});
  const auto round = publisher_->AwaitRound(Budget::For(kPatience));
  EXPECT_EQ(round.tables, 2U);
  EXPECT_EQ(round.told, 1U);
  ASSERT_EQ(round.failures.size(), 1U);
  EXPECT_THAT(round.failures[0], HasSubstr(bad));
  EXPECT_TRUE(HasSnapshot(good));
}

TEST_F(PublisherTest, WhatSettlesIsToldInTheEnd) {
  config_.feed->settle = Milliseconds(50);
  config_.feed->rate = 20;
  const auto table = Table("a");
  Commit(table, 1);
  Start();
  Await([&] { return HasSnapshot(table); });
  for (const int number : {3, 2, 4}) Commit(table, number);
  Await([&] { return CommitsOf(table) == 3; });
}

}  // namespace
}  // namespace tidemark::app
