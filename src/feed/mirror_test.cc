#include "feed/mirror.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "api/change_json.h"
#include "api/feed_json.h"
#include "feed/memory_log.h"
#include "kafka/group_lease.h"
#include "support/change_publisher.h"
#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

namespace fs = std::filesystem;
using support::ChangePublisher;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StepClock final : public Clock {
 public:
  WallTime Now() const override { return WallTimeFromMillis(1'700'000'000'000); }
  MonoTime Mono() const override { return now; }
  MonoTime now{std::chrono::hours(1)};
};

class RecordingOutlet final : public MirrorOutlet {
 public:
  Status Ask(PartitionId, const ControlRequest& request, const Budget&) override {
    asked.push_back(request.uid);
    return {};
  }
  Status Bury(const ReadRecord& record, const Error& why, const Budget&) override {
    ++tries;
    if (!takes) return Fail(ErrorKind::kUnavailable, "no broker");
    if (before_burial) before_burial();
    buried.push_back(record.value.value_or("") + " because " + why.message);
    return {};
  }
  bool takes = true;
  int tries = 0;
  std::function<void()> before_burial{};
  std::vector<std::string> asked;
  std::vector<std::string> buried;
};

/// One table of a publisher, written to a log in memory.
class PublishedTable {
 public:
  PublishedTable(MemoryLog& log, const std::string& name) : log_(log) {
    properties_.name = name;
    properties_.version = 8;
    identity_ = api::IdentityOf("file:///lake/" + name, properties_);
    publisher_.SetColumn("x");
  }
  const std::string& uid() const { return identity_.uid; }
  ChangePublisher& publisher() { return publisher_; }
  PartitionId partition() const { return kafka::PartitionOfKey(uid(), log_.partition_count()); }

  std::vector<std::string> Bodies(const change::Group& group) const {
    std::vector<std::string> bodies;
    for (auto& event : ChangeEvents(identity_, properties_, group, {}))
      bodies.push_back(std::move(event.body));
    return bodies;
  }
  void Append(const std::string& body) {
    log_.Append(partition(), {.topic = LogTopic::kEvents, .key = uid(), .value = body});
  }
  void Append(const change::Group& group) {
    for (const auto& body : Bodies(group)) Append(body);
  }
  void Snap() {
    int64_t page = 0;
    for (auto& event :
         SnapshotEvents(identity_, properties_, publisher_.Snapshot(), {.partitions_max = 2})) {
      log_.Append(partition(), {.topic = LogTopic::kState,
                                .key = api::StatePageKey(uid(), page++),
                                .value = std::move(event.body)});
    }
  }
  void Begin() {
    Append(publisher_.Tell(change::TableReason::kCreated));
    Snap();
  }

 private:
  MemoryLog& log_;
  lake::hudi::TableProperties properties_;
  api::TableIdentity identity_;
  ChangePublisher publisher_;
};

class MirrorTest : public ::testing::Test {
 protected:
  MirrorTest() {
    std::string name = fs::temp_directory_path() / "tidemark-mirror-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    Restart();
  }
  ~MirrorTest() override {
    mirror_.reset();
    store_.reset();
    fs::remove_all(folder_);
  }

  /// As after a kill: what was not saved is lost.
  void Restart(const std::string& feed = "events") {
    mirror_.reset();
    store_.reset();
    auto store = OpenMirrorStore({.path = folder_, .url = {}}, feed);
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
    mirror_ = std::make_unique<Mirror>(log_, store_.get(), &outlet_, clock_,
                                       MirrorOptions{.save_every = Milliseconds(0)});
    ASSERT_THAT(mirror_->Open(), IsOk());
  }
  void Round(Milliseconds later = Milliseconds(300)) {
    clock_.now += later;
    mirror_->Round(Milliseconds(0), Budget::For(std::chrono::seconds(10)));
  }
  std::vector<std::string> Partitions(PublishedTable& table) {
    std::vector<api::PartitionEntry> entries;
    api::TableStatus status;
    const auto more = mirror_->tables().ReadPartitions(table.uid(), "", {}, 100, status, entries);
    EXPECT_THAT(more, IsOk());
    std::vector<std::string> paths;
    for (const auto& entry : entries) paths.push_back(entry.path);
    return paths;
  }
  api::TableStatus Status(PublishedTable& table) {
    api::TableStatus status;
    EXPECT_THAT(mirror_->tables().Read(table.uid(),
                                       [&](const api::TableStatus& now, const change::Replica&) {
                                         status = now;
                                       }),
                IsOk());
    return status;
  }
  void ExpectInStep(PublishedTable& table) {
    const auto status = Status(table);
    EXPECT_EQ(status.status, "following");
    EXPECT_EQ(status.epoch, table.publisher().epoch());
    EXPECT_EQ(status.seq, table.publisher().seq());
    const auto& expected = table.publisher().partitions();
    EXPECT_EQ(Partitions(table), std::vector<std::string>(expected.begin(), expected.end()));
  }

  MemoryLog log_{4};
  StepClock clock_;
  RecordingOutlet outlet_;
  std::string folder_;
  std::unique_ptr<MirrorStore> store_;
  std::unique_ptr<Mirror> mirror_;
};

TEST_F(MirrorTest, ListsAndThenFollowsEveryTable) {
  PublishedTable a(log_, "a"), b(log_, "b");
  a.Begin();
  b.publisher().Commit({"+old1", "+old2", "+old3"});
  b.Begin();
  b.Append(b.publisher().Commit({"+p"}));
  Round();
  EXPECT_TRUE(mirror_->is_ready());
  ExpectInStep(a);
  ExpectInStep(b);
  a.Append(a.publisher().Commit({"+q"}));
  Round();
  ExpectInStep(a);
  EXPECT_EQ(mirror_->tables().counts().relists, decltype(MirrorCounts{}.relists){});
}

TEST_F(MirrorTest, GoesOnWhereItWasAfterARestart) {
  PublishedTable a(log_, "a");
  a.Begin();
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  Restart();
  ExpectInStep(a);
  a.Append(a.publisher().Commit({"+q", "-p"}));
  Round();
  ExpectInStep(a);
  EXPECT_EQ(mirror_->tables().counts().repeats, 0);
}

TEST_F(MirrorTest, AFeedThatWasMadeAnewIsListedAnew) {
  for (const bool is_running : {false, true}) {
    SCOPED_TRACE(is_running);
    PublishedTable former(log_, "a");
    former.Begin();
    for (const char* const change : {"+p", "+q", "+r"})
      former.Append(former.publisher().Commit({change}));
    Round();
    ExpectInStep(former);
    for (const LogTopic topic : {LogTopic::kEvents, LogTopic::kState}) log_.MakeAnew(topic);
    // Nothing is remembered, so what it tells looks older than what the mirror holds.
    PublishedTable table(log_, "a");
    table.publisher().Commit({"+x"});
    table.Begin();
    if (!is_running) Restart();
    for (int i = 0; i < 3; ++i) Round();
    ExpectInStep(table);
    Restart();
    Round();
    ExpectInStep(table);
    for (const LogTopic topic : {LogTopic::kEvents, LogTopic::kState}) log_.MakeAnew(topic);
    Restart("anew");
  }
}

TEST_F(MirrorTest, AHalfGroupIsReadAgainAfterARestart) {
  PublishedTable a(log_, "a");
  a.Begin();
  const auto bodies = a.Bodies(a.publisher().Commit({"+p"}));
  a.Append(bodies[0]);
  Round();
  Restart();
  a.Append(bodies[1]);
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, AGapIsListedAndThePublisherAskedWhenThatDoesNotHelp) {
  PublishedTable a(log_, "a"), b(log_, "b");
  a.Begin();
  b.Begin();
  Round();
  a.publisher().Commit({"+lost"});
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  Round(Milliseconds(6'000));
  EXPECT_THAT(outlet_.asked, ElementsAre(a.uid()));
  EXPECT_EQ(Status(a).status, "waiting");
  EXPECT_EQ(Status(a).waiting_for, change::RelistReason::kGap);
  b.Append(b.publisher().Commit({"+q"}));
  Round();
  ExpectInStep(b);
  EXPECT_THAT(outlet_.asked, SizeIs(1)) << "not asked again at once";
  a.Snap();
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, WhatIsParkedOutlivesARestart) {
  PublishedTable a(log_, "a");
  a.Begin();
  Round();
  const auto lost = a.publisher().Commit({"+lost"});
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  Restart();
  Round();
  a.Append(lost);
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, PoisonIsBuriedAndOnlyItsTableWaits) {
  PublishedTable a(log_, "a"), b(log_, "b");
  a.Begin();
  b.Begin();
  Round();
  a.Append("{\"no\":\"event\"}");
  a.Append(a.publisher().Commit({"+p"}));
  b.Append(b.publisher().Commit({"+q"}));
  Round();
  EXPECT_THAT(outlet_.buried, SizeIs(1));
  ExpectInStep(b);
  // The snapshot that is there is as new as what was held.
  ExpectInStep(a);
  EXPECT_THAT(outlet_.asked, IsEmpty());

  a.Append("{\"no\":\"event\"}");
  a.Append(a.publisher().Commit({"+r"}));
  Round();
  EXPECT_EQ(Status(a).waiting_for, change::RelistReason::kPoison);
  EXPECT_THAT(outlet_.asked, ElementsAre(a.uid()));
  a.Snap();
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, PoisonThatCannotBeBuriedIsMetAgainAfterARestart) {
  PublishedTable a(log_, "a");
  a.Begin();
  Round();
  outlet_.takes = false;
  a.Append("poison");
  Round();
  outlet_.takes = true;
  Restart();
  Round();
  EXPECT_THAT(outlet_.buried, SizeIs(1));
}

TEST_F(MirrorTest, PoisonIsBuriedWhileItIsReadAndNotKeptUntilThen) {
  PublishedTable a(log_, "a");
  a.Begin();
  for (int i = 0; i < 500; ++i) a.Append("poison");
  int64_t most = 0;
  outlet_.before_burial = [&] {
    most = std::max(most, mirror_->tables().counts().poison - mirror_->buried());
  };
  Round();
  EXPECT_THAT(outlet_.buried, SizeIs(500));
  EXPECT_LE(most, 64);
  for (int i = 0; i < 500; ++i) a.Append("poison");
  Round();
  EXPECT_THAT(outlet_.buried, SizeIs(1000));
  EXPECT_LE(most, 64);
}

TEST_F(MirrorTest, ATopicOfTheDeadThatCannotBeWrittenIsNotAskedEachTime) {
  PublishedTable a(log_, "a");
  a.Begin();
  outlet_.takes = false;
  for (int i = 0; i < 500; ++i) a.Append("poison");
  for (int i = 0; i < 10; ++i) Round();
  EXPECT_EQ(outlet_.tries, 1);
  outlet_.takes = true;
  Round(std::chrono::minutes(1));
  EXPECT_THAT(outlet_.buried, SizeIs(500));
}

TEST_F(MirrorTest, AnEventUnderAnotherTablesKeyIsPoison) {
  PublishedTable a(log_, "a"), b(log_, "b");
  a.Begin();
  b.Begin();
  Round();
  const auto bodies = b.Bodies(b.publisher().Commit({"+q"}));
  log_.Append(a.partition(), {.topic = LogTopic::kEvents, .key = a.uid(), .value = bodies[0]});
  Round();
  EXPECT_THAT(outlet_.buried, SizeIs(1));
  EXPECT_EQ(Status(b).seq, 1);
}

TEST_F(MirrorTest, ADamagedFileIsPutAsideAndTheTablesAreListedAnew) {
  PublishedTable a(log_, "a");
  a.Begin();
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  mirror_.reset();
  store_.reset();
  fs::resize_file(folder_ + "/mirror.db", 1000);
  Restart();
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, TheStateOfAnotherFeedIsForgotten) {
  PublishedTable a(log_, "a");
  a.Begin();
  Round();
  Restart("other events");
  EXPECT_EQ(mirror_->tables().table_count(), 0u);
}

TEST_F(MirrorTest, ATableWhosePartitionsWereLostIsListedAnew) {
  PublishedTable a(log_, "a");
  a.Begin();
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  {
    const auto stored = store_->Load();
    ASSERT_THAT(stored, IsOk());
    auto replica = stored->replicas.at(0);
    replica.partition_digest.low ^= 1;
    const ReplicaChange change{.replica = &replica, .paths = nullptr, .is_whole = true};
    ASSERT_THAT(store_->Save({&change, 1}, {}), IsOk());
  }
  Restart();
  EXPECT_EQ(mirror_->tables().table_count(), 0u);
  a.Snap();
  Round();
  ExpectInStep(a);
}

TEST_F(MirrorTest, ListenersLearnWhatIsNewAndNotWhatWasThere) {
  PublishedTable a(log_, "a");
  a.Begin();
  std::vector<std::string> told;
  mirror_->SetListener([&](const std::vector<TableNews>& news) {
    for (const auto& one : news)
      told.push_back(fmt::format("{} {}", one.table.seq, one.partitions_changed));
  });
  Round();
  EXPECT_THAT(told, IsEmpty());
  a.Append(a.publisher().Commit({"+p", "+q"}));
  Round();
  EXPECT_THAT(told, ElementsAre("2 2"));
}

TEST_F(MirrorTest, WaitingForACommitEndsWhenItIsApplied) {
  PublishedTable a(log_, "a");
  a.Begin();
  Round();
  const auto is_there = [](const change::Replica& replica) { return replica.seq >= 2; };
  EXPECT_FALSE(mirror_->tables().WaitFor(a.uid(), is_there, MonoTime::min(), {}));
  a.Append(a.publisher().Commit({"+p"}));
  Round();
  EXPECT_TRUE(mirror_->tables().WaitFor(a.uid(), is_there, MonoTime::min(), {}));
}

TEST_F(MirrorTest, PartitionsComeInPagesAndByPrefix) {
  PublishedTable a(log_, "a");
  a.Begin();
  a.Append(a.publisher().Commit({"+dt=1/h=1", "+dt=1/h=2", "+dt=1/h=3", "+dt=2/h=1"}));
  Round();
  std::vector<api::PartitionEntry> entries;
  api::TableStatus status;
  const auto& tables = mirror_->tables();
  ASSERT_OK_ASSIGN(bool has_more, tables.ReadPartitions(a.uid(), "dt=1/", {}, 2, status, entries));
  EXPECT_TRUE(has_more);
  ASSERT_THAT(entries, SizeIs(2));
  const std::string after = entries.back().path;
  entries.clear();
  ASSERT_OK_ASSIGN(has_more,
                   tables.ReadPartitions(a.uid(), "dt=1/", after, 2, status, entries));
  EXPECT_FALSE(has_more);
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].path, "dt=1/h=3");
}

}  // namespace
}  // namespace tidemark::feed
