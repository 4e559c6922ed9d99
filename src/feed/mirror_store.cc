#include "feed/mirror_store.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "api/replica_json.h"
#include "state/open_session.h"

namespace tidemark::feed {

namespace {

using change::Replica;
using state::SqlRow;
using state::SqlSession;
using state::Transaction;

constexpr std::string_view kFileName = "mirror.db";
/// Raised with every change of the tables below.
constexpr int64_t kFormat = 1;
/// Rows of one call, so that a table of millions of partitions is not copied whole.
constexpr size_t kRowsPerCall = 10'000;

constexpr std::string_view kTables[] = {
    "CREATE TABLE IF NOT EXISTS tidemark_mirror (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tidemark_mirror_table (uid TEXT PRIMARY KEY, "
    "record TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tidemark_mirror_partition (uid TEXT NOT NULL, path TEXT NOT NULL, "
    "seq BIGINT NOT NULL, PRIMARY KEY (uid, path))",
    "CREATE TABLE IF NOT EXISTS tidemark_mirror_offset (kafka_partition BIGINT PRIMARY KEY, "
    "next_offset BIGINT NOT NULL)",
};
constexpr std::string_view kContents[] = {"tidemark_mirror_table", "tidemark_mirror_partition",
                                          "tidemark_mirror_offset"};

Result<std::optional<std::string>> ValueOf(SqlSession& session, const std::string& name) {
  TRY_ASSIGN(const auto rows,
             session.Query("SELECT value FROM tidemark_mirror WHERE name = $1", {name}));
  if (rows.empty() || rows[0].empty()) return std::nullopt;
  const auto* text = std::get_if<std::string>(&rows[0][0]);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

Status SetValue(SqlSession& session, const std::string& name, const std::string& value) {
  TRY(session.Query("INSERT INTO tidemark_mirror (name, value) VALUES ($1, $2) "
                    "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    {name, value}));
  return {};
}

Status Prepare(SqlSession& session, const std::string& feed) {
  TRY_ASSIGN(auto transaction, Transaction::Begin(session));
  TRY(session.LockOut());
  for (const std::string_view table : kTables) TRY(session.Run(table));
  TRY_ASSIGN(const auto format, ValueOf(session, "format"));
  if (format && *format != fmt::format("{}", kFormat)) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("the mirror's state was written by a newer release format={} known={}",
                            *format, kFormat));
  }
  TRY_ASSIGN(const auto known, ValueOf(session, "feed"));
  if (known && *known != feed) {
    for (const std::string_view table : kContents)
      TRY(session.Run(fmt::format("DELETE FROM {}", table)));
  }
  TRY(SetValue(session, "format", fmt::format("{}", kFormat)));
  TRY(SetValue(session, "feed", feed));
  return std::move(transaction).Commit();
}

/// Partitions of one table after the other: `take(path, seq)` for each.
Result<change::Digest> LoadPartitions(SqlSession& session, Replica& replica) {
  change::Digest digest;
  std::string after;
  bool is_first = true;
  while (true) {
    TRY_ASSIGN(const auto rows,
               session.Query(is_first
                                 ? "SELECT path, seq FROM tidemark_mirror_partition WHERE "
                                   "uid = $1 AND path >= $2 ORDER BY path LIMIT $3"
                                 : "SELECT path, seq FROM tidemark_mirror_partition WHERE "
                                   "uid = $1 AND path > $2 ORDER BY path LIMIT $3",
                             {replica.uid, after, int64_t{kRowsPerCall}}));
    is_first = false;
    for (const SqlRow& row : rows) {
      const auto* path = row.size() == 2 ? std::get_if<std::string>(&row[0]) : nullptr;
      const auto* seq = row.size() == 2 ? std::get_if<int64_t>(&row[1]) : nullptr;
      if (path == nullptr || seq == nullptr)
        return Fail(ErrorKind::kCorrupt, "not a partition in the mirror's state");
      digest += change::HashOf(*path);
      replica.partitions.emplace(*path, *seq);
      after = *path;
    }
    if (rows.size() < kRowsPerCall) return digest;
  }
}

Result<Replica> LoadReplica(SqlSession& session, const std::string& text) {
  TRY_ASSIGN(auto replica, api::ParseReplicaText(text));
  TRY_ASSIGN(const auto digest, LoadPartitions(session, replica));
  if (digest == replica.partition_digest) return replica;
  return Fail(ErrorKind::kCorrupt, "the partitions kept are not those of the table");
}

Status SavePartitions(SqlSession& session, const ReplicaChange& change) {
  const Replica& replica = *change.replica;
  std::vector<SqlRow> gone, there;
  const auto flush = [&]() -> Status {
    TRY(session.RunForEach("DELETE FROM tidemark_mirror_partition WHERE uid = $1 AND path = $2",
                           gone));
    TRY(session.RunForEach(
        "INSERT INTO tidemark_mirror_partition (uid, path, seq) VALUES ($1, $2, $3) "
        "ON CONFLICT (uid, path) DO UPDATE SET seq = excluded.seq",
        there));
    gone.clear();
    there.clear();
    return {};
  };
  const auto add = [&](const std::string& path, const int64_t* seq) -> Status {
    seq != nullptr ? there.push_back({replica.uid, path, *seq})
                   : gone.push_back({replica.uid, path});
    return gone.size() + there.size() < kRowsPerCall ? Status() : flush();
  };
  if (change.is_whole) {
    TRY(session.Query("DELETE FROM tidemark_mirror_partition WHERE uid = $1", {replica.uid}));
    for (const auto& [path, seq] : replica.partitions) TRY(add(path, &seq));
  } else {
    for (const auto& path : *change.paths) {
      const auto found = replica.partitions.find(path);
      TRY(add(path, found == replica.partitions.end() ? nullptr : &found->second));
    }
  }
  return flush();
}

}  // namespace

Result<std::unique_ptr<MirrorStore>> MirrorStore::Open(std::unique_ptr<SqlSession> session,
                                                       const std::string& feed) {
  TRY(Prepare(*session, feed));
  return std::make_unique<MirrorStore>(Private{}, std::move(session));
}

Result<StoredMirror> MirrorStore::Load() {
  StoredMirror stored;
  TRY_ASSIGN(auto transaction, Transaction::Begin(*session_));
  TRY_ASSIGN(const auto tables,
             session_->Query("SELECT uid, record FROM tidemark_mirror_table ORDER BY uid", {}));
  for (const SqlRow& row : tables) {
    const auto* uid = row.size() == 2 ? std::get_if<std::string>(&row[0]) : nullptr;
    const auto* text = row.size() == 2 ? std::get_if<std::string>(&row[1]) : nullptr;
    if (uid == nullptr || text == nullptr)
      return Fail(ErrorKind::kCorrupt, "not a table in the mirror's state");
    auto replica = LoadReplica(*session_, *text);
    if (replica && replica->uid == *uid) {
      stored.replicas.push_back(*std::move(replica));
    } else if (!replica && replica.error().kind != ErrorKind::kCorrupt) {
      return internal::Pass(replica);
    } else {
      stored.damaged.emplace_back(*uid,
                                  replica ? "it bears another name" : replica.error().message);
    }
  }
  TRY_ASSIGN(
      const auto offsets,
      session_->Query("SELECT kafka_partition, next_offset FROM tidemark_mirror_offset", {}));
  for (const SqlRow& row : offsets) {
    const auto* partition = row.size() == 2 ? std::get_if<int64_t>(&row[0]) : nullptr;
    const auto* offset = row.size() == 2 ? std::get_if<int64_t>(&row[1]) : nullptr;
    if (partition == nullptr || offset == nullptr)
      return Fail(ErrorKind::kCorrupt, "not an offset in the mirror's state");
    stored.offsets[static_cast<kafka::PartitionId>(*partition)] = *offset;
  }
  TRY(std::move(transaction).Commit());
  return stored;
}

Status MirrorStore::Save(std::span<const ReplicaChange> changes,
                         const std::map<kafka::PartitionId, kafka::Offset>& offsets) {
  TRY_ASSIGN(auto transaction, Transaction::Begin(*session_));
  std::vector<SqlRow> records;
  for (const ReplicaChange& change : changes) {
    TRY(SavePartitions(*session_, change));
    records.push_back({change.replica->uid, api::ReplicaText(*change.replica)});
  }
  TRY(session_->RunForEach("INSERT INTO tidemark_mirror_table (uid, record) VALUES ($1, $2) "
                           "ON CONFLICT (uid) DO UPDATE SET record = excluded.record",
                           records));
  std::vector<SqlRow> positions;
  for (const auto& [partition, offset] : offsets)
    positions.push_back({int64_t{partition}, int64_t{offset}});
  TRY(session_->RunForEach(
      "INSERT INTO tidemark_mirror_offset (kafka_partition, next_offset) VALUES ($1, $2) "
      "ON CONFLICT (kafka_partition) DO UPDATE SET next_offset = excluded.next_offset",
      positions));
  return std::move(transaction).Commit();
}

Result<std::unique_ptr<MirrorStore>> OpenMirrorStore(const state::StateOptions& options,
                                                     const std::string& feed) {
  auto session = state::OpenSession(options, kFileName);
  if (!session) return internal::Pass(session);
  auto store = MirrorStore::Open(*std::move(session), feed);
  if (store || store.error().kind != ErrorKind::kCorrupt || !options.url.empty()) return store;
  TRY_ASSIGN(auto anew, state::OpenSessionAnew(options, kFileName, store.error()));
  return MirrorStore::Open(std::move(anew), feed);
}

}  // namespace tidemark::feed
