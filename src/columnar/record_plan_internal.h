/// How the records of one writer become rows: a step for each value on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/cells_internal.h"
#include "columnar/record_decoder.h"
#include "lake/avro/schema.h"

namespace tidemark::columnar {

/// What is read, and as what.
enum class DecodeOp : uint8_t {
  kImpossible,  ///< only behind a branch of a union
  kNull,
  kNullable,  ///< a union of null and one other
  kUnion,
  kBoolean,
  kInt,   ///< int as 4 bytes
  kLong,  ///< long as 8 bytes
  kIntToLong,
  kFloat,
  kDouble,
  kIntToFloat,
  kLongToFloat,
  kFloatToDouble,
  kPrintedFloatToDouble,
  kIntToDouble,
  kLongToDouble,
  kText,  ///< string or bytes
  kEnum,
  kFixed,
  kDecimal,  ///< bytes or fixed
  kIntToDecimal,
  kLongToDecimal,
  kScaledTime,  ///< a time or timestamp in another unit
  kBooleanText,
  kIntText,
  kLongText,
  kFloatText,
  kDoubleText,
  kDateText,
  kDecimalText,
  kUuidText,  ///< fixed of 16 bytes
  kRecord,
  kItems,  ///< array and map
};

struct DecodeField;
struct DecodeMissing;

struct DecodeStep {
  DecodeOp op = DecodeOp::kImpossible;
  const lake::avro::Type* writer = nullptr;
  size_t null_branch = 0;                         ///< kNullable
  std::vector<DecodeStep> inner;                  ///< kNullable, kItems: one; kUnion: per branch
  std::vector<std::optional<std::string>> texts;  ///< kEnum, by symbol; nullopt: not known
  uint32_t width = 0;                  ///< of a decimal in the row; of a time where it goes to
  int digits = 0;                      ///< decimals: times 10^digits; kDecimalText: the scale
  int64_t multiplier = 1;              ///< kScaledTime
  int64_t divisor = 1;                 ///< kScaledTime
  bool is_from_int = false;            ///< kScaledTime: written as int
  std::vector<DecodeField> fields;     ///< kRecord: the writer's, up to the last wanted
  std::vector<DecodeMissing> missing;  ///< kRecord
  std::string path;                    ///< for messages: column, and why it is impossible
};

struct DecodeField {
  const lake::avro::Type* type = nullptr;
  size_t cell = 0;
  std::optional<DecodeStep> step;  ///< nullopt: passed over
};

/// A field of the row that the writer does not have.
struct DecodeMissing {
  size_t cell = 0;
  std::string bytes;               ///< the default, encoded as the row's schema has it
  std::optional<DecodeStep> step;  ///< of the default; nullopt: null
};

struct RecordDecoder::Plan {
  lake::avro::Schema writer;  // keeps the types alive
  DecodeStep root;            // kRecord
};

/// How a file calls the field `field` at `path`; nullopt: not at all. `Has` says whether the file
/// has a name.
template <class Has>
std::optional<std::string> WrittenName(const ValueField& field, std::string_view path,
                                       const DecodeOptions& options, Has has) {
  for (const auto& renamed : options.names) {
    if (renamed.path != path) continue;
    return renamed.name && has(*renamed.name) ? renamed.name : std::nullopt;
  }
  if (has(field.name)) return field.name;
  for (const auto& alias : field.aliases) {
    if (has(alias)) return alias;
  }
  return std::nullopt;
}

/// What stands in for a field that is not there. kUnsupported: it has to be there. kCorrupt: its
/// default, or a constant, does not fit its type.
Result<DecodeMissing> PlanMissingField(const ValueField& field, const std::string& path,
                                       const DecodeOptions& options);

/// The plan of the root record, or of a row type's field when it is nested.
Result<DecodeStep> PlanRecord(const lake::avro::Type& writer, const RowType& type,
                              const DecodeOptions& options);

/// Appends what stands in for a missing field.
Status AppendMissing(const DecodeMissing& missing, Cells& cells, const bool& is_full);

/// Appends one row to `cells`, or a part of one and an error.
Status DecodeRecord(const RecordDecoder::Plan& plan, std::string_view record, uint64_t offset,
                    std::span<const std::unique_ptr<Cells>> cells, const bool& is_full);

}  // namespace tidemark::columnar
