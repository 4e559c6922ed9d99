#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "columnar/schema_witness_internal.h"
#include "lake/avro/schema.h"

namespace tidemark::columnar {
namespace {

using lake::avro::Kind;
using lake::avro::Logical;
using PhysicalType = parquet::Type::type;

// Recursive types have no leaves to count.
constexpr int kDepthMax = 64;

// How lists are written.
enum class ListForm { kTwoLevels, kThreeLevels };

// A column as Parquet has it.
struct Leaf {
  PhysicalType type = PhysicalType::BYTE_ARRAY;
  int length = 0;  // FIXED_LEN_BYTE_ARRAY
  int definition_max = 0;
  int repetition_max = 0;
  const lake::avro::Type* avro = nullptr;
};

// The leaves that parquet-avro makes of a schema.
class LeafList {
 public:
  explicit LeafList(ListForm form) : form_(form) {}

  // false: something whose form is not known here.
  bool Add(const lake::avro::Type& type, int definition, int repetition, int depth = 0) {
    if (depth > kDepthMax) return false;
    switch (type.kind) {
      case Kind::kUnion: return AddUnion(type, definition, repetition, depth);
      case Kind::kRecord:
        return std::ranges::all_of(type.fields, [&](const auto& field) {
          return Add(*field.type, definition, repetition, depth + 1);
        });
      case Kind::kArray: return AddItems(*type.items, definition, repetition, depth);
      case Kind::kMap:
        leaves.push_back({PhysicalType::BYTE_ARRAY, 0, definition + 1, repetition + 1, nullptr});
        return Add(*type.items, definition + 1, repetition + 1, depth + 1);
      case Kind::kNull: return false;
      default: AddPlain(type, definition, repetition); return true;
    }
  }

  std::vector<Leaf> leaves;

 private:
  // The one that is not null; nullptr: another union.
  static const lake::avro::Type* Other(const lake::avro::Type& type) {
    if (type.kind != Kind::kUnion || type.branches.size() != 2) return nullptr;
    const auto* const first = type.branches[0];
    const auto* const second = type.branches[1];
    if (first->kind == Kind::kNull) return second;
    return second->kind == Kind::kNull ? first : nullptr;
  }
  bool AddUnion(const lake::avro::Type& type, int definition, int repetition, int depth) {
    const auto* const other = Other(type);
    return other != nullptr && other->kind != Kind::kUnion &&
           Add(*other, definition + 1, repetition, depth + 1);
  }
  // Of two levels the item itself is what repeats, and cannot be null.
  bool AddItems(const lake::avro::Type& item, int definition, int repetition, int depth) {
    const auto* const other = form_ == ListForm::kTwoLevels ? Other(item) : nullptr;
    return Add(other == nullptr ? item : *other, definition + 1, repetition + 1, depth + 1);
  }
  void AddPlain(const lake::avro::Type& type, int definition, int repetition) {
    Leaf leaf{PhysicalType::BYTE_ARRAY, 0, definition, repetition, &type};
    switch (type.kind) {
      case Kind::kBoolean: leaf.type = PhysicalType::BOOLEAN; break;
      case Kind::kInt: leaf.type = PhysicalType::INT32; break;
      case Kind::kLong: leaf.type = PhysicalType::INT64; break;
      case Kind::kFloat: leaf.type = PhysicalType::FLOAT; break;
      case Kind::kDouble: leaf.type = PhysicalType::DOUBLE; break;
      case Kind::kFixed:
        leaf.type = PhysicalType::FIXED_LEN_BYTE_ARRAY;
        leaf.length = static_cast<int>(std::min<uint64_t>(type.fixed_size, INT32_MAX));
        break;
      default: break;
    }
    leaves.push_back(leaf);
  }

  ListForm form_;
};

std::optional<parquet::LogicalType::TimeUnit::unit> UnitOf(Logical logical) {
  using Unit = parquet::LogicalType::TimeUnit;
  switch (logical) {
    case Logical::kTimeMillis:
    case Logical::kTimestampMillis:
    case Logical::kLocalTimestampMillis: return Unit::MILLIS;
    case Logical::kTimeMicros:
    case Logical::kTimestampMicros:
    case Logical::kLocalTimestampMicros: return Unit::MICROS;
    case Logical::kTimestampNanos:
    case Logical::kLocalTimestampNanos: return Unit::NANOS;
    default: return std::nullopt;
  }
}

bool HasAnnotationOf(const parquet::ColumnDescriptor& column, const lake::avro::Type& avro) {
  const auto& logical = column.logical_type();
  if (logical == nullptr || !logical->is_valid()) return true;
  if (logical->is_decimal()) {
    const auto& decimal = static_cast<const parquet::DecimalLogicalType&>(*logical);
    return avro.logical == Logical::kDecimal && decimal.precision() == avro.precision &&
           decimal.scale() == avro.scale;
  }
  const auto unit = UnitOf(avro.logical);
  if (!unit) return true;
  if (logical->is_timestamp()) {
    return static_cast<const parquet::TimestampLogicalType&>(*logical).time_unit() == *unit;
  }
  return !logical->is_time() ||
         static_cast<const parquet::TimeLogicalType&>(*logical).time_unit() == *unit;
}

bool IsLeaf(const parquet::ColumnDescriptor& column, const Leaf& leaf) {
  const bool is_fixed_uuid = leaf.avro != nullptr && leaf.avro->logical == Logical::kUuid &&
                             column.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY;
  const bool is_type = column.physical_type() == leaf.type || is_fixed_uuid;
  const bool is_length = leaf.length == 0 || column.type_length() == leaf.length;
  return is_type && is_length && column.max_definition_level() == leaf.definition_max &&
         column.max_repetition_level() == leaf.repetition_max &&
         (leaf.avro == nullptr || HasAnnotationOf(column, *leaf.avro));
}

// The first column that is not what `leaves` say; the number of columns when all are.
int FirstOther(const parquet::SchemaDescriptor& schema, const std::vector<Leaf>& leaves) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    const auto place = static_cast<size_t>(i);
    if (place >= leaves.size() || !IsLeaf(*schema.Column(i), leaves[place])) return i;
  }
  return schema.num_columns();
}

}  // namespace

Status CheckAvroSchema(const parquet::FileMetaData& file) {
  const auto entries = file.key_value_metadata();
  if (entries == nullptr) return {};
  const int model = entries->FindKey("writer.model.name");
  const int json = entries->FindKey("parquet.avro.schema");
  if (model < 0 || json < 0 || entries->value(model) != "avro") return {};
  const auto avro = lake::avro::Schema::Parse(entries->value(json));
  if (!avro || avro->root().kind != Kind::kRecord) return {};
  int furthest = 0;
  for (const ListForm form : {ListForm::kTwoLevels, ListForm::kThreeLevels}) {
    LeafList list(form);
    if (!list.Add(avro->root(), 0, 0)) return {};
    const int other = FirstOther(*file.schema(), list.leaves);
    if (static_cast<size_t>(other) == list.leaves.size()) return {};
    furthest = std::max(furthest, other);
  }
  const std::string column = furthest < file.schema()->num_columns()
                                 ? file.schema()->Column(furthest)->path()->ToDotString()
                                 : "none";
  return Fail(
      ErrorKind::kCorrupt,
      fmt::format("a column is not what the Avro schema in the footer says column={}", column));
}

}  // namespace tidemark::columnar
