/// From the blocks of a slice's logs to versions: key, ordering value, kind and place, while the
/// rows stay encoded where they are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/record_decoder.h"
#include "lake/avro/datum.h"
#include "lake/finding.h"
#include "lake/hudi/delete_block.h"
#include "lake/hudi/log_file.h"
#include "merge/ordering_value.h"
#include "merge/version.h"
#include "scan/file_columns.h"
#include "scan/row_store.h"
#include "scan/table_columns.h"

namespace tidemark::scan {

/// One block that counts, and where it stands.
struct PlacedBlock {
  lake::hudi::LogBlock
      block;  ///< its bytes outlive the call, or as long as the rows when they stay
  std::string_view file_name;  ///< its key, relative to the table
  std::string_view instant;    ///< that wrote it
  merge::Place place;          ///< of its first record
};

/// One version as it is met; `version.row` is left to whoever keeps it. Key, record and what the
/// ordering value views lie in the log file's bytes, or in the RowStore and the arena.
struct MetVersion {
  enum class Row : uint8_t { kNone, kRecord, kBatchRow };

  std::string_view key;
  merge::Version version;
  Row row = Row::kNone;  ///< a delete record has none
  RowStore::SourceId source = 0;
  std::string_view record;  ///< kRecord: encoded
  size_t batch_row = 0;     ///< kBatchRow

  /// Its handle in the store.
  merge::RowHandle Keep(RowStore& rows) const;
};

/// Reads the blocks of one slice. Borrows columns and rows. Single-threaded.
class LogVersions {
 public:
  using Take = std::function<Status(const MetVersion& met)>;

  LogVersions(const TableColumns& columns, RowStore& rows, FileColumns of_files,
              columnar::WidenedFloats floats = columnar::WidenedFloats::kAsPrinted)
      : columns_(columns), rows_(rows), of_files_(std::move(of_files)), floats_(floats) {}

  /// Hands out the versions of a data or delete block, in the order written. kUnsupported: HFile
  /// blocks, and what the decoders do not read.
  Status Read(const PlacedBlock& placed, const Take& take);

  /// Sets Version::has_unavailable from now on, which reading does without.
  void LookForUnavailable() { looks_for_unavailable_ = true; }
  /// "no_ordering_column": deletes with ordering values were met in a table whose rows have none,
  /// so that nobody knows which is the later; nullopt: it was not so.
  std::optional<lake::Finding> FindingOfOrdering() const;
  /// Whether a block of partial updates was met.
  bool is_partial_mode() const { return is_partial_mode_; }
  /// Whether the rows of a set of columns have a column. Set 0 has them all.
  bool HasColumn(uint32_t columns, size_t column) const {
    return columns == 0 || column_sets_[columns - 1][column];
  }
  /// Owns what ordering values of several fields view.
  merge::OrderingArena& arena() { return arena_; }
  uint64_t versions_read() const { return versions_read_; }

 private:
  /// One writer's schema, looked up once while it is remembered.
  struct Writer {
    explicit Writer(lake::avro::Schema written) : schema(std::move(written)) {}
    lake::avro::Schema schema;
    std::optional<lake::avro::Selection> selection;
    std::optional<RowStore::SourceId> source;
    uint32_t columns = 0;
  };

  Status ReadRecords(const PlacedBlock& placed, const Take& take);
  Status ReadDeletes(const PlacedBlock& placed, const Take& take);
  Status ReadParquet(const PlacedBlock& placed, const Take& take);
  bool HasUnavailable(const Writer& writer, std::string_view record);
  Result<Writer*> WriterOf(const PlacedBlock& placed, bool is_partial);
  using Names = std::vector<columnar::FileColumnName>;
  uint32_t ColumnSetOf(const lake::avro::Schema& writer, const Names& names);

  const TableColumns& columns_;
  RowStore& rows_;
  FileColumns of_files_;
  columnar::WidenedFloats floats_;
  // By schema and what else tells one writer from another; the keys are in rows_.
  std::map<std::string_view, Writer> writers_;  // the latest ones
  std::map<std::string_view, RowStore::SourceId> sources_;
  std::vector<std::vector<bool>> column_sets_;
  merge::OrderingArena arena_;
  std::string key_scratch_;
  bool is_partial_mode_ = false;
  bool looks_for_unavailable_ = false;
  uint64_t versions_read_ = 0;
  std::string ordered_delete_;  // the first log file with one, in a table whose rows have no value
};

}  // namespace tidemark::scan
