// One suite for what a mirror keeps, on SQLite and on PostgreSQL.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "feed/mirror_store.h"
#include "state/postgres_session.h"
#include "support/change_publisher.h"
#include "support/child_process.h"
#include "support/postgres_server.h"
#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using change::Replica;
using support::ChangePublisher;
using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Started once from the main thread; ended with the program.
support::PostgresServer& Server() {
  static const auto server = support::PostgresServer::Start();
  if (!server) ADD_FAILURE() << server.error().message;
  return **server;
}

/// A database of its own.
state::StateOptions NewDatabase() {
  static int count = 0;
  const std::string name = fmt::format("mirror_{}", ++count);
  const auto session = state::OpenPostgres(Server().url());
  EXPECT_THAT(session, IsOk());
  if (!session) return {};
  EXPECT_THAT((*session)->Run("CREATE DATABASE " + name), IsOk());
  std::string url = Server().url();
  url.replace(url.rfind('/') + 1, std::string::npos, name);
  return {.path = {}, .url = url};
}

state::StateOptions NewFolder() {
  static std::vector<std::unique_ptr<support::TemporaryFolder>> folders;
  folders.push_back(std::make_unique<support::TemporaryFolder>());
  return {.path = folders.back()->path() + "/made/on/the/way", .url = {}};
}

struct StoreUnderTest {
  std::string name;
  std::function<state::StateOptions()> make;
};
void PrintTo(const StoreUnderTest& store, std::ostream* out) {
  *out << store.name;
}

/// A table as a subscriber holds it after some groups.
Replica ReplicaOf(const std::string& uid, const std::vector<std::string>& paths) {
  ChangePublisher publisher;
  publisher.SetColumn("x");
  publisher.Tell(change::TableReason::kCreated);
  change::Subscriber subscriber;
  for (auto& page : support::PagesOf(publisher.Snapshot(), 10, uid))
    subscriber.Take(std::move(page), {});
  std::vector<std::string> marks;
  for (const auto& path : paths) marks.push_back("+" + path);
  for (auto& part : support::PartsOf(publisher.Commit(marks), uid))
    subscriber.Take(std::move(part), {});
  return subscriber.replica();
}

class MirrorStoreContract : public ::testing::TestWithParam<StoreUnderTest> {
 protected:
  MirrorStoreContract() : options_(GetParam().make()) { Reopen(); }

  void Reopen(const std::string& feed = "events") {
    store_.reset();
    auto store = OpenMirrorStore(options_, feed);
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  void Save(const Replica& replica, const std::map<kafka::PartitionId, kafka::Offset>& offsets) {
    const ReplicaChange change{.replica = &replica, .paths = nullptr, .is_whole = true};
    ASSERT_THAT(store_->Save({&change, 1}, offsets), IsOk());
  }
  StoredMirror Load() {
    auto stored = store_->Load();
    EXPECT_THAT(stored, IsOk());
    return stored ? *std::move(stored) : StoredMirror{};
  }

  state::StateOptions options_;
  std::unique_ptr<MirrorStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, MirrorStoreContract,
                         ::testing::Values(StoreUnderTest{"sqlite", NewFolder}));
INSTANTIATE_TEST_SUITE_P(Postgres, MirrorStoreContract,
                         ::testing::Values(StoreUnderTest{"postgres", NewDatabase}));

TEST_P(MirrorStoreContract, ANewOneIsEmpty) {
  const auto stored = Load();
  EXPECT_THAT(stored.replicas, IsEmpty());
  EXPECT_THAT(stored.offsets, IsEmpty());
}

TEST_P(MirrorStoreContract, TablesAndOffsetsComeBackAsTheyWere) {
  const auto a = ReplicaOf("a", {"dt=1", "dt=2", "", "käse/ü=\"x\"'$1"});
  const auto b = ReplicaOf("b", {});
  Save(a, {{0, 10}, {5, 20}});
  Save(b, {{5, 21}});
  Reopen();
  const auto stored = Load();
  EXPECT_THAT(stored.replicas, ElementsAre(a, b));
  EXPECT_THAT(stored.offsets, ElementsAre(Pair(0, 10), Pair(5, 21)));
  EXPECT_THAT(stored.damaged, IsEmpty());
}

TEST_P(MirrorStoreContract, OnlyThePathsThatChangedAreWritten) {
  auto replica = ReplicaOf("a", {"dt=1", "dt=2", "dt=3"});
  Save(replica, {});
  replica.partitions.erase("dt=1");
  replica.partition_digest -= change::HashOf("dt=1");
  replica.partitions["dt=2"] = 9;
  replica.partitions["dt=4"] = 9;
  replica.partition_digest += change::HashOf("dt=4");
  const std::set<std::string> paths = {"dt=1", "dt=2", "dt=4"};
  const ReplicaChange change{.replica = &replica, .paths = &paths, .is_whole = false};
  ASSERT_THAT(store_->Save({&change, 1}, {{1, 1}}), IsOk());
  Reopen();
  EXPECT_THAT(Load().replicas, ElementsAre(replica));
}

TEST_P(MirrorStoreContract, ManyPartitionsComeBackInOrder) {
  std::vector<std::string> paths;
  for (int i = 0; i < 25'000; ++i) paths.push_back(fmt::format("dt={:05}", i));
  const auto replica = ReplicaOf("a", paths);
  Save(replica, {});
  const auto stored = Load();
  ASSERT_THAT(stored.replicas, SizeIs(1));
  EXPECT_EQ(stored.replicas[0], replica);
}

TEST_P(MirrorStoreContract, AnotherFeedBeginsAnew) {
  Save(ReplicaOf("a", {"dt=1"}), {{0, 10}});
  Reopen("others");
  const auto stored = Load();
  EXPECT_THAT(stored.replicas, IsEmpty());
  EXPECT_THAT(stored.offsets, IsEmpty());
}

TEST_P(MirrorStoreContract, ATableThatContradictsItselfIsLeftOut) {
  auto wrong = ReplicaOf("a", {"dt=1"});
  wrong.partition_digest.low ^= 1;
  const auto right = ReplicaOf("b", {"dt=1"});
  Save(wrong, {{0, 10}});
  Save(right, {});
  const auto stored = Load();
  EXPECT_THAT(stored.replicas, ElementsAre(right));
  EXPECT_THAT(stored.damaged, SizeIs(1));
  EXPECT_THAT(stored.offsets, SizeIs(1));
}

TEST_P(MirrorStoreContract, AKilledWriterLeavesTablesAndOffsetsOfOneMoment) {
  constexpr int kKills = 20;
  store_.reset();
  for (int kill = 0; kill < kKills; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = OpenMirrorStore(options_, "events");
      if (!store) std::_Exit(1);
      // Every save gives both tables, all their partitions and the offset one number.
      for (int round = 1;; ++round) {
        auto a = ReplicaOf("a", {"dt=1", "dt=2"}), b = ReplicaOf("b", {"dt=1"});
        for (Replica* replica : {&a, &b}) {
          replica->seq = round;
          for (auto& [path, seq] : replica->partitions) seq = round;
        }
        const std::vector<ReplicaChange> changes = {{&a, nullptr, true}, {&b, nullptr, true}};
        if (!(*store)->Save(changes, {{0, round}})) std::_Exit(1);
      }
    }
    ::poll(nullptr, 0, 20 + kill * 7);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    Reopen();
    const auto stored = Load();
    store_.reset();
    EXPECT_THAT(stored.damaged, IsEmpty());
    if (stored.replicas.empty()) continue;
    ASSERT_THAT(stored.replicas, SizeIs(2));
    const int64_t round = stored.offsets.at(0);
    for (const Replica& replica : stored.replicas) {
      EXPECT_EQ(replica.seq, round) << "kill " << kill;
      for (const auto& [path, seq] : replica.partitions) EXPECT_EQ(seq, round) << path;
    }
  }
}

}  // namespace
}  // namespace tidemark::feed
