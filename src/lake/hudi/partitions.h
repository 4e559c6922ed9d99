/// The partitions of a table: which folders hold its files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "lake/finding.h"
#include "lake/hudi/properties.h"
#include "storage/object_store.h"

namespace tidemark::lake::hudi {

/// One folder with files of the table.
struct Partition {
  /// The folder relative to the table, without trailing '/', encoded as the writer encoded it:
  /// what `_hoodie_partition_path` holds. Empty in a table without partitions.
  std::string path;
  /// Its files in the order of their keys; not those of deeper folders. The writer's own mark is
  /// left out.
  std::vector<storage::ObjectInfo> files;
};

struct PartitionListing {
  std::vector<Partition> partitions;  ///< by path, byte-wise ascending
  /// "unmarked_partition": a folder with data files that lacks the writer's mark (a copy without
  /// hidden files loses it), which counts as a partition all the same; "nested_table": another
  /// table inside this one, left out; on a local store "repeated_partition": a folder that holds
  /// the very files of another one, as a link to it does.
  std::vector<Finding> findings;
};

/// Says by its path whether a partition is wanted; empty wants all.
using PartitionFilter = std::function<bool(std::string_view path)>;

/// Finds the partitions by their files; `.hoodie` and with it the metadata table are not looked at.
/// Cost: one listing of the table's folders, and one of everything behind `.hoodie`; one more for
/// each folder that sorts before it. A listing that cannot be had whole is an Error.
Result<PartitionListing> ListPartitions(const storage::ObjectStore& store,
                                        const PartitionFilter& wants, const Budget& budget);

/// What a partition's path says about one partition column.
struct PartitionValue {
  std::string column;                ///< empty where the table names fewer columns than folders
  std::optional<std::string> value;  ///< decoded; nullopt for Hive's word for null

  friend bool operator==(const PartitionValue&, const PartitionValue&) = default;
};

/// The columns in `hoodie.table.partition.fields`, without what key generators append (":SIMPLE").
std::vector<std::string> PartitionColumns(const TableProperties& properties);

/// Takes a path apart: hive style ("dt=2026-01-31") where the folder says so, decoded where the
/// table is url-encoded. One column over several folders has the whole path ("2026/01/31") as its
/// value. Values are text: whoever needs another type converts.
std::vector<PartitionValue> PartitionValues(std::string_view path,
                                            const TableProperties& properties);

}  // namespace tidemark::lake::hudi
