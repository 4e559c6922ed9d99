/// Which columns one reading of a table needs, and what they mean for merging.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_type.h"
#include "lake/avro/datum.h"
#include "lake/avro/schema.h"
#include "lake/hudi/properties.h"
#include "merge/profile.h"
#include "merge/version.h"
#include "scan/ordering_fields.h"

namespace tidemark::scan {

inline constexpr std::string_view kRecordKeyColumn = "_hoodie_record_key";
inline constexpr std::string_view kCommitTimeColumn = "_hoodie_commit_time";
inline constexpr std::string_view kIsDeletedColumn = "_hoodie_is_deleted";
inline constexpr std::string_view kOperationColumn = "_hoodie_operation";

/// What `_hoodie_operation` says; nullopt for an insert, an update, or nothing.
std::optional<merge::Op> OpOfOperation(std::string_view word);

/// The columns of a table that versions are made of: the key, the ordering fields, and what marks a
/// record as a delete. Immutable. Any thread.
class TableColumns {
 public:
  /// kUnsupported: as OrderingFields; a table without Hudi's meta columns that names no key fields.
  static Result<TableColumns> Make(const lake::avro::Schema& table,
                                   const lake::hudi::TableProperties& properties,
                                   const merge::TableSettings& settings);

  const OrderingFields& ordering() const { return ordering_; }
  /// Empty when the key is a meta column; else the fields it is made of.
  const std::vector<std::string>& key_fields() const { return key_fields_; }
  const merge::TableSettings& settings() const { return settings_; }
  /// Names a record's Selection needs: the key's, the ordering's, and kMarks.
  std::vector<std::string> SelectedNames() const;
  enum class Need : uint8_t {
    kMarks,    ///< what tells that a row is deleted
    kMerging,  ///< that, keys and ordering fields
  };
  /// What a batch needs besides the columns that are shown.
  std::vector<columnar::WantedColumn> HiddenColumns(const lake::avro::Schema& table,
                                                    Need need) const;

  /// Of a record whose SelectedNames() are in `row`; made of several fields it lies in `scratch`.
  /// kUnsupported: a key field of a type that has no text. kCorrupt: no key.
  Result<std::string_view> KeyOf(std::span<const std::optional<lake::avro::Datum>> row,
                                 std::string& scratch) const;
  Result<merge::OrderingValue> OrderingOf(std::span<const std::optional<lake::avro::Datum>> row,
                                          merge::OrderingArena& arena) const;
  Result<merge::Op> OpOf(std::span<const std::optional<lake::avro::Datum>> row) const;

  /// Places of the columns in a row type.
  struct Places {
    std::optional<size_t> key;
    std::vector<std::optional<size_t>> key_fields;
    std::vector<std::optional<size_t>> ordering;
    std::optional<size_t> is_deleted;
    std::optional<size_t> delete_field;
    std::optional<size_t> operation;
    std::optional<size_t> commit_time;
  };
  Places PlacesIn(const columnar::RowType& type) const;
  Result<std::string_view> KeyOf(const columnar::Batch& batch, const Places& places, size_t row,
                                 std::string& scratch) const;
  merge::Op OpOf(const columnar::Batch& batch, const Places& places, size_t row) const;

 private:
  OrderingFields ordering_;
  std::vector<std::string> key_fields_;
  merge::TableSettings settings_;
};

}  // namespace tidemark::scan
