/// Profiles: the rule sets users can ask for by name, and how a table's properties shape them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "merge/rules.h"

namespace tidemark::merge {

enum class MergeMode : uint8_t { kEventTime, kCommitTime, kCustom };

/// hoodie.compaction.payload.class and its successors, the classes Hudi ships.
enum class Payload : uint8_t {
  kNone,
  kOverwriteWithLatest,
  kDefault,
  kEventTime,
  kFirstValue,
  kPartialUpdate,
  kOverwriteNonDefaults,
  kPostgresDebezium,
  kMySqlDebezium,
  kAwsDms,
  kCustom,
};

/// What a table's properties say about merging.
struct TableSettings {
  int version = 0;
  std::optional<MergeMode> mode;  ///< hoodie.record.merge.mode, when it is set
  std::string strategy_id;
  Payload payload = Payload::kNone;
  std::string payload_class;  ///< full name, "" when none
  std::vector<std::string> ordering_fields;
  std::string partial_update_mode;
  std::string unavailable_value;  ///< for Fill::kUnavailable
  /// A data record whose `delete_field` holds `delete_marker` is an Op::kDeletedRow; "": none.
  std::string delete_field;
  std::string delete_marker;
  /// The files of this merge-on-read table lack its partition columns
  /// (hoodie.datasource.write.drop.partition.columns).
  bool drops_partition_columns = false;
};

/// From every property of hoodie.properties. kCorrupt: hoodie.table.version is no number, or the
/// merge mode is no word Hudi has.
Result<TableSettings> ReadTableSettings(const std::map<std::string, std::string>& properties);

/// How a release merges a table with these settings.
struct Merging {
  MergeMode mode = MergeMode::kEventTime;
  Payload payload = Payload::kNone;  ///< that merges: always up to 0.15, in kCustom from 1.0 on
  Fill fill = Fill::kNone;
};

/// kUnsupported: a payload or merger that is not Hudi's own, or one that the release does not have.
Result<Merging> InferMerging(Release release, const TableSettings& settings);

/// What the table itself takes for not there, whatever releases make of it.
Fill RightFill(const TableSettings& settings);

/// Which engine's reader of a release; they differ in _hoodie_operation only, which Flink's
/// changelog mode writes.
enum class Engine : uint8_t { kFlink, kSpark };

struct Profile {
  std::string name;
  Rules read;   ///< log merge, base merge and compaction
  Rules dedup;  ///< a writer's dedup inside a batch
  Merging merging;
};

/// "event-time", "commit-time", "hudi-0.10", …, "table", in the order shown to users.
std::span<const std::string_view> ProfileNames();

/// kInvalidArgument: no such name (with the nearest ones); kUnsupported: as InferMerging.
/// "event-time" and "commit-time" always exist: they do not ask the payload. Where the table itself
/// declares COMMIT_TIME_ORDERING, "event-time" is R7 too. "table" is what the newest known
/// reader, 1.1, makes of the table's own settings.
Result<Profile> MakeProfile(std::string_view name, const TableSettings& settings,
                            Engine engine = Engine::kFlink);

/// "DefaultHoodieRecordPayload", …
std::string_view PayloadName(Payload payload);

}  // namespace tidemark::merge
