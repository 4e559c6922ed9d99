/// From the bytes of an Avro record, as one writer's schema lays them out, to a row: planned once
/// for many records.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/row_type.h"
#include "lake/avro/schema.h"

namespace tidemark::columnar {

/// What one file or log block calls a column that was renamed: schema-on-read evolution keeps field
/// ids, and the caller finds out by them. `path` is the row type's name, nested fields with dots
/// ("address.street"), through lists and maps as "tags.item.x" and "m.value.x". nullopt: not there,
/// even if something else goes by the name.
struct FileColumnName {
  std::string path;
  std::optional<std::string> name;
};

/// What a column holds in every row of a file or block that does not have it: the folder says it.
struct ConstantColumn {
  std::string name;
  std::string
      json;  ///< as a default of the row type's schema would be written: "\"p1\"", "7", "null"
};

/// What a column that the file or block does not have becomes.
enum class MissingColumns {
  kDefault,  ///< its default in the row type's schema, null if there is none; where it may not be
             ///< null and has no default, planning ends as kUnsupported
  kNull,     ///< always null: blocks of partial updates
};

/// Which double a float becomes.
enum class WidenedFloats {
  kNearest,    ///< the same number: 1.10000002384185791 of the float 1.1
  kAsPrinted,  ///< the number it is printed as: 1.1
};

struct DecodeOptions {
  std::vector<FileColumnName> names;
  MissingColumns missing = MissingColumns::kDefault;
  WidenedFloats floats = WidenedFloats::kNearest;
  std::vector<ConstantColumn> constants{};  ///< come before `missing`
};

/// Immutable; copies share; any thread. Fields are matched by name, then by the row type's aliases.
/// A written type may be another one than the row type's when every value of it is one of the row
/// type's: int to long, float, double, decimal; long to float, double (nearest), decimal; float to
/// double as the options say; string and bytes to each other; a decimal to one of more digits; a
/// timestamp or time to another unit. int, long, float, double, boolean, date and decimal to
/// string, as Java prints them. Timestamps count as UTC or local as the row type says. A single
/// value that does not fit (a lost digit, microseconds that are no whole milliseconds, an enum
/// symbol or union branch that the row type lacks, a null where none may be) is kUnsupported when
/// it is met.
class RecordDecoder {
 public:
  /// kUnsupported: a column cannot be read as the row type's (named), or `writer` is no record.
  static Result<RecordDecoder> Make(const lake::avro::Schema& writer, const RowType& type,
                                    const DecodeOptions& options = {});

  const RowType& type() const { return type_; }
  /// Whether the writer has the column: false for one that got its default or null.
  bool HasColumn(size_t column) const;

  struct Plan;  // of the decoder
  const Plan& plan() const { return *plan_; }

 private:
  RecordDecoder(RowType type, std::shared_ptr<const Plan> plan)
      : type_(std::move(type)), plan_(std::move(plan)) {}

  RowType type_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace tidemark::columnar
