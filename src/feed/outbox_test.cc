#include "feed/outbox.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "api/feed_json.h"
#include "feed/memory_log.h"
#include "feed/table_publisher.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using nlohmann::json;
using support::IsError;
using support::IsOk;
using ::testing::_;

constexpr WallTime kNow = WallTimeFromMillis(1'700'000'000'000);

Budget Hurry() {
  Budget budget = Budget::For(std::chrono::minutes(5));
  budget.retry_delay = Milliseconds(0);
  return budget;
}

lake::ColumnReaderSource NoColumns() {
  return []() -> Result<const lake::ColumnReader*> {
    return Fail(ErrorKind::kUnavailable, "no columns in this test");
  };
}

/// A table of layout 1 in memory that a writer adds commits to.
class LiveTable {
 public:
  explicit LiveTable(int number)
      : store_(std::make_shared<storage::MemoryStore>(fmt::format("memory://t{}", number))) {
    Put(".hoodie/hoodie.properties",
        fmt::format("hoodie.table.name=t{}\nhoodie.table.type=COPY_ON_WRITE\n"
                    "hoodie.table.version=6\nhoodie.timeline.layout.version=1\n"
                    "hoodie.table.partition.fields=p\n",
                    number));
  }

  /// A commit into one partition; overwrites everything in it when asked.
  void Commit(int partition) {
    const std::string instant = fmt::format("2024010112{:04}000", ++commits_);
    const std::string path = fmt::format("p={}", partition);
    const std::string file = fmt::format("f{}_0-1-1_{}.parquet", commits_, instant);
    Put(path + "/.hoodie_partition_metadata", "x");
    Put(path + "/" + file, "x");
    const json stat = {{"fileId", fmt::format("f{}", commits_)},
                       {"path", path + "/" + file},
                       {"prevCommit", "null"},
                       {"numWrites", 1}};
    json body = {{"partitionToWriteStats", {{path, json::array({stat})}}},
                 {"compacted", false},
                 {"extraMetadata", {{"schema", SchemaText()}}},
                 {"operationType", "UPSERT"}};
    Put(".hoodie/" + instant + ".commit", body.dump());
    partitions_.insert(path);
  }
  void AddColumn() { ++columns_; }

  std::shared_ptr<storage::MemoryStore> store() const { return store_; }
  const std::set<std::string>& partitions() const { return partitions_; }
  int commits() const { return commits_; }

 private:
  std::string SchemaText() const {
    json fields = json::array();
    for (int i = 0; i < columns_; ++i)
      fields.push_back({{"name", fmt::format("c{}", i)}, {"type", "int"}});
    return json({{"type", "record"}, {"name", "r"}, {"fields", fields}}).dump();
  }
  void Put(const std::string& key, const std::string& bytes) {
    EXPECT_THAT(store_->Put(key, bytes, Budget()), IsOk());
  }

  std::shared_ptr<storage::MemoryStore> store_;
  std::set<std::string> partitions_;
  int commits_ = 0;
  int columns_ = 1;
};

/// What a reader of committed events holds of one table, checked as they come.
class Listener {
 public:
  void Take(const ReadRecord& record) {
    const json event = json::parse(*record.value);
    const json& data = event["data"];
    if (data["changeType"] == "BOOKMARK") return;
    const std::string id = event["id"];
    ASSERT_TRUE(seen_.emplace(id, *record.value).second) << "told twice: " << id;
    const int64_t epoch = data["epoch"], seq = data["seq"];
    const int part = data["part"]["index"], count = data["part"]["count"];
    if (part == 0) {
      ASSERT_TRUE((epoch == epoch_ && seq == seq_ + 1) || (epoch == epoch_ + 1 && seq == 1))
          << "a hole before " << id;
      ASSERT_EQ(next_part_, 0) << "a group inside another: " << id;
    } else {
      ASSERT_EQ(epoch, epoch_);
      ASSERT_EQ(seq, seq_);
    }
    ASSERT_EQ(part, next_part_) << id;
    next_part_ = part + 1 == count ? 0 : part + 1;
    epoch_ = epoch;
    seq_ = seq;
    if (data["changeType"] == "COMMIT") {
      ASSERT_TRUE(told_.insert(data["instantTime"]).second);
    }
    if (data["changeType"] != "PARTITION") return;
    for (const json& change : data["changeDetail"]["partitions"]) {
      if (change["op"] == "ADD") partitions_.insert(change["path"]);
      if (change["op"] == "DROP") partitions_.erase(change["path"]);
    }
  }
  void Load(const std::vector<ReadRecord>& state, const std::string& uid) {
    for (const auto& record : state) {
      if (!record.key.starts_with(uid + "/p/") || !record.value) continue;
      const json detail = json::parse(*record.value)["data"]["changeDetail"];
      if (detail["asOfSeq"] != 1) continue;  // that of the beginning
      for (const json& page : detail["partitions"]) partitions_.insert(page["path"]);
    }
  }
  const std::set<std::string>& partitions() const { return partitions_; }
  size_t commits() const { return told_.size(); }

 private:
  std::map<std::string, std::string> seen_;
  std::set<std::string> told_;
  std::set<std::string> partitions_;
  int64_t epoch_ = 0;
  int64_t seq_ = 0;
  int next_part_ = 0;
};

/// A process that publishes tables of one partition, to be killed at any moment.
class Process {
 public:
  Process(MemoryLog& log, const std::vector<std::unique_ptr<LiveTable>>& tables) : outbox_(log, 0) {
    for (size_t i = 0; i < tables.size(); ++i) {
      publishers_.push_back(std::make_unique<TablePublisher>(
          tables[i]->store(), nullptr, NoColumns(), fmt::format("memory://t{}", i),
          PublishOptions{.snapshot_groups_max = 1'000'000}));
    }
  }

  /// One round over all tables, in which anything may fail. False: somebody else owns the
  /// partition, or it cannot be opened.
  bool Round() {
    if (!outbox_.is_open()) {
      if (!outbox_.Open(Hurry())) return false;
      if (waiting_.empty()) BeginAll();
    }
    std::vector<const Parcel*> parcels;
    for (size_t i = 0; i < publishers_.size(); ++i) {
      if (!waiting_.contains(i)) {
        auto look = publishers_[i]->Look({}, kNow, Hurry());
        EXPECT_THAT(look, IsOk());
        if (look && look->parcel) waiting_.emplace(i, *std::move(look->parcel));
      }
    }
    std::vector<size_t> places;
    for (const auto& [place, parcel] : waiting_) {
      parcels.push_back(&parcel);
      places.push_back(place);
    }
    const auto outcomes = outbox_.Send(parcels, Hurry());
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].status) {
        publishers_[places[i]]->Sent(std::move(waiting_.at(places[i])));
        waiting_.erase(places[i]);
      } else if (outcomes[i].status.error().kind == ErrorKind::kConflict) {
        if (!outcomes[i].is_stale) return false;
        waiting_.erase(places[i]);
        BeginOne(places[i]);
      }
    }
    return true;
  }
  bool is_idle() const { return waiting_.empty(); }

 private:
  void BeginAll() {
    for (size_t i = 0; i < publishers_.size(); ++i) BeginOne(i);
  }
  void BeginOne(size_t i) {
    const auto found = outbox_.tables().find(publishers_[i]->uid());
    publishers_[i]->Begin(found == outbox_.tables().end() ? std::nullopt
                                                          : std::optional(found->second));
  }

  Outbox outbox_;
  std::vector<std::unique_ptr<TablePublisher>> publishers_;
  std::map<size_t, Parcel> waiting_;
};

/// One random history: tables are written, processes come, die and take over from each other, and
/// the log fails in every way it can.
void RunHistory(uint32_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::minstd_rand random(seed);
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  MemoryLog log(1);
  std::vector<std::unique_ptr<LiveTable>> tables;
  for (int i = 0; i < 2; ++i) {
    tables.push_back(std::make_unique<LiveTable>(i));
    if (chance(50)) tables.back()->Commit(0);
  }
  bool is_calm = false;
  log.SetFaults([&](PartitionId) {
    if (is_calm) return SendFault::kNone;
    const auto roll = random() % 10;
    return roll < 4 ? static_cast<SendFault>(1 + roll) : SendFault::kNone;
  });
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 2; ++i) processes.push_back(std::make_unique<Process>(log, tables));
  for (int step = 0; step < 12; ++step) {
    auto& table = *tables[random() % tables.size()];
    if (chance(20)) table.AddColumn();
    if (chance(60)) table.Commit(static_cast<int>(random() % 4));
    auto& process = processes[random() % processes.size()];
    if (!process->Round() || chance(15)) process = std::make_unique<Process>(log, tables);
  }
  is_calm = true;
  Process last(log, tables);
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(last.Round());
  ASSERT_TRUE(last.is_idle());
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string uid = api::TableUid(fmt::format("memory://t{}", i));
    Listener listener;
    listener.Load(log.Records(LogTopic::kState, 0), uid);
    for (const auto& record : log.Records(LogTopic::kEvents, 0))
      if (record.key == uid) listener.Take(record);
    EXPECT_EQ(listener.partitions(), tables[i]->partitions());
  }
}

/// A part of 10,000 histories: one test for all would be slow on a busy machine.
class OutboxHistoriesTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(OutboxHistoriesTest, NoneOfFaultsAndKillsLeavesAHoleOrARepeat) {
  constexpr uint32_t kPart = 1250;
  for (uint32_t i = 1; i <= kPart && !HasFailure(); ++i) RunHistory(GetParam() * kPart + i);
}

INSTANTIATE_TEST_SUITE_P(Parts, OutboxHistoriesTest, ::testing::Range(0U, 8U));

class OutboxCasesTest : public ::testing::Test {
 protected:
  OutboxCasesTest() : log_(1), outbox_(log_, 0) {}

  static Parcel ParcelOf(const std::string& uid, const std::string& before_table_id,
                         const std::string& table_id) {
    std::optional<TableRecord> before;
    if (!before_table_id.empty()) before = TableRecord{.uid = uid, .table_id = before_table_id};
    return MakeQuietParcel(before, {.uid = uid, .table_id = table_id}, {});
  }
  std::vector<ParcelOutcome> Send(const std::vector<Parcel>& parcels) {
    std::vector<const Parcel*> pointers;
    for (const auto& parcel : parcels) pointers.push_back(&parcel);
    return outbox_.Send(pointers, Hurry());
  }
  size_t written() const { return log_.Records(LogTopic::kCursor, 0).size(); }

  MemoryLog log_;
  Outbox outbox_;
};

TEST_F(OutboxCasesTest, ALostAnswerIsFoundOutBeforeTheSameIsSentAgain) {
  ASSERT_THAT(outbox_.Open(Hurry()), IsOk());
  bool is_first = true;
  log_.SetFaults([&](PartitionId) {
    return std::exchange(is_first, false) ? SendFault::kLostAnswer : SendFault::kNone;
  });
  EXPECT_THAT(Send({ParcelOf("a", "", "one")})[0].status, IsError(ErrorKind::kUnavailable, _));
  EXPECT_FALSE(outbox_.is_open());
  EXPECT_THAT(Send({ParcelOf("a", "", "one")})[0].status, IsOk());
  EXPECT_EQ(written(), 1);
}

TEST_F(OutboxCasesTest, ALostRequestIsSentAgain) {
  ASSERT_THAT(outbox_.Open(Hurry()), IsOk());
  bool is_first = true;
  log_.SetFaults([&](PartitionId) {
    return std::exchange(is_first, false) ? SendFault::kLostRequest : SendFault::kNone;
  });
  EXPECT_FALSE(Send({ParcelOf("a", "", "one")})[0].status);
  EXPECT_THAT(Send({ParcelOf("a", "", "one")})[0].status, IsOk());
  EXPECT_EQ(written(), 1);
}

TEST_F(OutboxCasesTest, WhatGoesOnFromAnotherRecordIsStale) {
  EXPECT_THAT(Send({ParcelOf("a", "", "one")})[0].status, IsOk());
  const auto outcome = Send({ParcelOf("a", "", "two")})[0];
  EXPECT_TRUE(outcome.is_stale);
  EXPECT_THAT(outcome.status, IsError(ErrorKind::kConflict, _));
  EXPECT_THAT(Send({ParcelOf("a", "one", "two")})[0].status, IsOk());
}

TEST_F(OutboxCasesTest, ATableWhoseCursorWasLostGoesBeyondTheEpochThatSubscribersHold) {
  TableRecord lost{.uid = "a", .table_id = "one", .cursor = change::Cursor{}};
  lost.cursor->epoch = 4;
  lost.cursor->seq = 17;
  log_.Append(0, HeadOf(lost, kNow));
  for (const int64_t page : {0, 1, 2}) {
    log_.Append(0, {.topic = LogTopic::kState, .key = api::StatePageKey("a", page), .value = "{}"});
  }
  log_.Append(0, {.topic = LogTopic::kState, .key = api::StatePageKey("a", 2), .value = {}});
  log_.Append(0, {.topic = LogTopic::kState, .key = "junk/head", .value = "[[["});
  const auto outcomes = Send({ParcelOf("a", "", "one"), ParcelOf("b", "", "two")});
  EXPECT_TRUE(outcomes[0].is_stale);
  EXPECT_THAT(outcomes[1].status, IsOk());
  ASSERT_TRUE(outbox_.tables().contains("a"));
  const TableRecord& found = outbox_.tables().at("a");
  EXPECT_EQ(found.epochs_over, 4);
  EXPECT_FALSE(found.cursor);
  // So that the pages of the former snapshot go when a new one is shorter.
  ASSERT_TRUE(found.snapshot);
  EXPECT_EQ(found.snapshot->page_count, 3);
  auto parcel = MakeQuietParcel(found, {.uid = "a", .table_id = "one", .epochs_over = 4}, {});
  EXPECT_THAT(Send({parcel})[0].status, IsOk());
}

TEST_F(OutboxCasesTest, ATableThatWasDroppedAndHasNoHeadBeginsAsANewOne) {
  log_.Append(0, HeadOf({.uid = "a", .cursor = change::Cursor{}}, kNow));
  log_.Append(0, {.topic = LogTopic::kState, .key = api::StateHeadKey("a"), .value = {}});
  EXPECT_THAT(Send({ParcelOf("a", "", "one")})[0].status, IsOk());
}

TEST_F(OutboxCasesTest, AnOwnerThatWasReplacedSendsNothing) {
  ASSERT_THAT(outbox_.Open(Hurry()), IsOk());
  Outbox other(log_, 0);
  ASSERT_THAT(other.Open(Hurry()), IsOk());
  for (int i = 0; i < 2; ++i) {
    const auto outcome = Send({ParcelOf("a", "", "one")})[0];
    EXPECT_THAT(outcome.status, IsError(ErrorKind::kConflict, _));
    EXPECT_FALSE(outcome.is_stale);
  }
  EXPECT_EQ(written(), 0);
}

TEST_F(OutboxCasesTest, WhatTheLogRefusesKeepsNobodyElseBack) {
  ASSERT_THAT(outbox_.Open(Hurry()), IsOk());
  int sendings = 0;
  // The two together, then the first alone, then the second.
  log_.SetFaults(
      [&](PartitionId) { return ++sendings <= 2 ? SendFault::kTooLarge : SendFault::kNone; });
  const auto outcomes = Send({ParcelOf("a", "", "large"), ParcelOf("b", "", "small")});
  EXPECT_THAT(outcomes[0].status, IsError(ErrorKind::kExhausted, _));
  EXPECT_THAT(outcomes[1].status, IsOk());
}

TEST_F(OutboxCasesTest, WhatANewerReleaseWroteIsLeftAlone) {
  std::string text = TableRecordText({.uid = "a"});
  text.replace(text.find("\"format\":1"), 10, "\"format\":2");
  log_.Append(0, {.topic = LogTopic::kCursor, .key = "a", .value = text});
  const auto outcomes = Send({ParcelOf("a", "", "one"), ParcelOf("b", "", "two")});
  EXPECT_THAT(outcomes[0].status, IsError(ErrorKind::kUnsupported, _));
  EXPECT_THAT(outcomes[1].status, IsOk());
  EXPECT_TRUE(outbox_.refused().contains("a"));
}

}  // namespace
}  // namespace tidemark::feed
