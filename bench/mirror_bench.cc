// What a mirror costs, without a broker: events as they come off a topic, through the parser and
// the rules into the tables, and from there into SQLite. Prints one line a figure; a limit that is
// not kept makes the exit code 1.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/change_json.h"
#include "api/feed_json.h"
#include "base/check.h"
#include "change/reconciliation.h"
#include "feed/mirror_store.h"
#include "feed/mirror_tables.h"

namespace {

using namespace tidemark;
using feed::LogTopic;
using feed::MirrorTables;
using feed::ReadRecord;

double SecondsSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Bytes of memory that are resident now.
size_t Resident() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

/// A table that commits to one partition after the other.
class Writer {
 public:
  Writer(const std::string& name, size_t partition_count) : partition_count_(partition_count) {
    properties_.name = name;
    properties_.version = 8;
    identity_ = api::IdentityOf("s3://lake/" + name, properties_);
    const auto schema = change::ParseAvroColumns(
        R"({"type":"record","name":"r","fields":[{"name":"id","type":"long"}]})");
    CHECK(schema.has_value(), "a schema of our own");
    schema_ = *schema;
    for (size_t i = 0; i < partition_count; ++i) digest_ += change::HashOf(PathOf(i));
  }
  static std::string PathOf(size_t i) {
    return fmt::format("dt=2026-{:02}-{:02}/hour={:02}/part={:05}", i % 12 + 1, i % 28 + 1, i % 24,
                       i);
  }

  std::vector<ReadRecord> Snapshot() {
    if (seq_ == 0) seq_ = 1;
    change::Snapshot snapshot{.epoch = 1,
                              .as_of_seq = seq_,
                              .schema = schema_,
                              .schema_version = 1,
                              .partition_digest = digest_,
                              .table_version = 8};
    for (size_t i = 0; i < partition_count_; ++i) snapshot.partitions.push_back(PathOf(i));
    std::ranges::sort(snapshot.partitions);
    std::vector<ReadRecord> records;
    int64_t page = 0;
    for (auto& event : SnapshotEvents(identity_, properties_, snapshot, {})) {
      records.push_back({.topic = LogTopic::kState,
                         .key = api::StatePageKey(identity_.uid, page++),
                         .value = std::move(event.body)});
    }
    return records;
  }

  /// A commit that touches `touched` partitions.
  std::vector<ReadRecord> Commit(size_t touched) {
    const change::Previous previous{.seq = seq_, .instant = last_};
    ++seq_;
    const change::InstantKey instant{fmt::format("2026{:013}", seq_), "commit"};
    change::Group group{.epoch = 1, .seq = seq_, .previous = previous, .instant = instant};
    group.time = WallTimeFromMillis(1'767'225'600'000 + seq_);
    for (size_t i = 0; i < touched; ++i) {
      group.partitions.push_back({.path = PathOf((next_++) % partition_count_),
                                  .op = change::PartitionOp::kTouch,
                                  .files_added = 1,
                                  .bytes = 1 << 20});
    }
    group.commit = change::CommitChange{.type = change::CommitType::kCommit};
    group.schema_fingerprint = schema_.fingerprint;
    group.schema_version = 1;
    group.partition_count = static_cast<int64_t>(partition_count_);
    group.partition_digest = digest_;
    group.table_version = 8;
    last_ = instant;
    std::vector<ReadRecord> records;
    for (auto& event : ChangeEvents(identity_, properties_, group, {})) {
      records.push_back({.topic = LogTopic::kEvents,
                         .offset = offset_++,
                         .key = identity_.uid,
                         .value = std::move(event.body)});
    }
    return records;
  }
  const std::string& uid() const { return identity_.uid; }

 private:
  lake::hudi::TableProperties properties_;
  api::TableIdentity identity_;
  size_t partition_count_;
  change::Schema schema_;
  change::Digest digest_;
  int64_t seq_ = 0;
  kafka::Offset offset_ = 0;
  size_t next_ = 0;
  std::optional<change::InstantKey> last_;
};

class Bench {
 public:
  void Show(const std::string& what, double value, const std::string& unit, double limit,
            bool is_most) {
    const bool is_kept = limit == 0 || (is_most ? value <= limit : value >= limit);
    all_kept_ = all_kept_ && is_kept;
    fmt::print("{:<52} {:>14.3f} {:<10} {}\n", what, value, unit,
               limit == 0 ? ""
                          : fmt::format("{} {} {}", is_most ? "<=" : ">=", limit,
                                        is_kept ? "ok" : "MISSED"));
  }
  bool all_kept() const { return all_kept_; }

 private:
  bool all_kept_ = true;
};

void TakeAll(MirrorTables& tables, std::vector<ReadRecord> records) {
  std::vector<feed::Poison> poison;
  for (auto& record : records) {
    if (record.topic == LogTopic::kState) {
      tables.TakeState(std::move(record), "", {}, nullptr, poison);
    } else {
      tables.TakeEvent(std::move(record), {}, nullptr, poison);
    }
  }
  CHECK(poison.empty(), "events of our own can be read");
}

/// With a listing in which one partition of a thousand is another.
void Compare(Bench& bench, const change::Replica& replica) {
  change::TableTruth truth;
  for (const auto& [path, seq] : replica.partitions)
    truth.partitions.push_back(truth.partitions.size() % 1000 == 999 ? path + "x" : path);
  change::Cursor cursor;
  cursor.epoch = replica.epoch;
  cursor.seq = replica.seq;
  const auto began = std::chrono::steady_clock::now();
  const auto found = change::Reconcile(truth, &cursor, &replica, {});
  bench.Show("compared with a listing", SecondsSince(began), "s", 0.2, true);
  CHECK(found.missing.size() == truth.partitions.size() / 1000, "every other one is found");
}

void LargeTable(Bench& bench, size_t partitions) {
  Writer writer("large", partitions);
  auto pages = writer.Snapshot();
  size_t bytes = 0;
  for (const auto& page : pages) bytes += page.value->size();
  fmt::print("snapshot of {} partitions: {} pages, {:.1f} MB\n", partitions, pages.size(),
             static_cast<double>(bytes) / 1e6);
  MirrorTables tables({});
  const size_t before = Resident();
  auto began = std::chrono::steady_clock::now();
  TakeAll(tables, std::move(pages));
  bench.Show("snapshot parsed and applied", SecondsSince(began), "s", 2, true);
  pages = {};
  bench.Show("memory of the table, freed pages included",
             static_cast<double>(Resident() - std::min(before, Resident())) / 1e6, "MB", 0, true);
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("tidemark-mirror-bench-{}", ::getpid());
  {
    auto store = feed::OpenMirrorStore({.path = folder, .url = {}}, "events");
    CHECK(store.has_value(), "a store in a new folder");
    began = std::chrono::steady_clock::now();
    CHECK((*store)->Save(tables.Changes(), {{0, 1}}).has_value(), "it is written");
    bench.Show("written to SQLite", SecondsSince(began), "s", 0, true);
    const size_t at_rest = Resident();
    began = std::chrono::steady_clock::now();
    auto loaded = (*store)->Load();
    CHECK(loaded && loaded->replicas.size() == 1, "it is read back");
    bench.Show("loaded from SQLite", SecondsSince(began), "s", 2, true);
    bench.Show("memory of a table that was loaded",
               static_cast<double>(Resident() - std::min(at_rest, Resident())) / 1e6, "MB", 30,
               true);
    Compare(bench, loaded->replicas.front());
  }
  std::filesystem::remove_all(folder);
  const auto group = writer.Commit(std::min<size_t>(10'000, partitions));
  began = std::chrono::steady_clock::now();
  TakeAll(tables, group);
  bench.Show("a commit of 10,000 partitions applied", SecondsSince(began), "s", 0.5, true);
}

void Backlog(Bench& bench, size_t groups) {
  constexpr size_t kBatch = 10'000;
  std::vector<Writer> writers;
  MirrorTables tables({});
  for (int i = 0; i < 100; ++i) {
    writers.emplace_back(fmt::format("t{}", i), 1000);
    TakeAll(tables, writers.back().Snapshot());
  }
  double seconds = 0;
  size_t events = 0;
  for (size_t done = 0; done < groups;) {
    std::vector<ReadRecord> records;
    for (size_t i = 0; i < kBatch && done < groups; ++i, ++done)
      for (auto& record : writers[done % writers.size()].Commit(2))
        records.push_back(std::move(record));
    events += records.size();
    const auto began = std::chrono::steady_clock::now();
    TakeAll(tables, std::move(records));
    seconds += SecondsSince(began);
  }
  CHECK(tables.counts().applied == static_cast<int64_t>(groups), "every group was applied");
  bench.Show(fmt::format("backlog of {} groups applied", groups), seconds, "s",
             60.0 * static_cast<double>(groups) / 1e6, true);
  bench.Show("groups applied", static_cast<double>(groups) / seconds, "groups/s", 20'000, false);
  bench.Show("events parsed", static_cast<double>(events) / seconds, "events/s", 0, false);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a mirror of the change feed costs");
  size_t partitions = 100'000, groups = 1'000'000;
  app.add_option("--partitions", partitions, "Of the large table");
  app.add_option("--groups", groups, "In the backlog");
  CLI11_PARSE(app, argc, argv);
  Bench bench;
  LargeTable(bench, partitions);
  Backlog(bench, groups);
  return bench.all_kept() ? 0 : 1;
}
