/// A subscriber's tables as JSON: what the daemon's resources show, and what a mirror keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "change/subscriber.h"

namespace tidemark::api {

/// One table, and how its subscription stands.
struct TableStatus {
  std::string uid{};
  std::string table_id{};
  std::string base_path{};
  int64_t epoch = 0;
  int64_t seq = 0;
  /// "following", "waiting" (for what is missing), "loading" (nothing is known yet), "dropped".
  std::string_view status;
  std::optional<change::RelistReason> waiting_for{};
  int64_t lag = 0;  ///< groups
  int64_t partition_count = 0;
  std::string partition_digest{};
  std::string schema_fingerprint{};
  int64_t schema_version = 0;
  int table_version = 0;
  std::optional<change::LatestCommit> latest{};
  std::optional<WallTime> newest_time{};
};

/// `GET tables` and `GET tables/{table}`. `next`: where the following page begins; empty: it was
/// the last.
std::string TablesJson(std::span<const TableStatus> tables, std::string_view next);
std::string TableStatusJson(const TableStatus& table);
/// `GET tables/{table}/commit`.
std::string LatestCommitJson(const TableStatus& table);
/// `GET tables/{table}/schema`.
std::string TableSchemaJson(const TableStatus& table, const change::Schema& schema);

struct PartitionEntry {
  std::string path{};
  int64_t seq = 0;  ///< of the group that named it last
};
/// `GET tables/{table}/partitions`. `next` as in TablesJson.
std::string TablePartitionsJson(const TableStatus& table, std::span<const PartitionEntry> entries,
                                const std::optional<std::string>& next);
/// `GET tables/{table}/wait`.
std::string WaitJson(const TableStatus& table, bool is_reached, Milliseconds waited);

/// The event `table`: what happened, "applied", "replaced", "waiting" or "healed", and where the
/// table stands now.
std::string TableNewsJson(const TableStatus& table, change::DecisionKind kind,
                          const std::optional<change::InstantKey>& instant,
                          size_t partitions_changed);

/// Everything of a replica but its partitions, and back. kCorrupt for any other text.
std::string ReplicaText(const change::Replica& replica);
Result<change::Replica> ParseReplicaText(std::string_view text);

}  // namespace tidemark::api
