#include "scan/ordering_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::scan {
namespace {

using columnar::ColumnView;
using columnar::ValueKind;
using lake::avro::Datum;
using lake::avro::Kind;
using lake::avro::Logical;
using merge::ColumnType;
using merge::OrderingColumn;
using merge::OrderingValue;

/// The only branch that is not null; the type itself when it is no union.
const lake::avro::Type* Solid(const lake::avro::Type& type) {
  if (type.kind != Kind::kUnion) return &type;
  const lake::avro::Type* solid = nullptr;
  for (const auto* branch : type.branches) {
    if (branch->kind == Kind::kNull) continue;
    if (solid != nullptr) return nullptr;
    solid = branch;
  }
  return solid;
}

std::optional<ColumnType> TimeTypeOf(Logical logical) {
  switch (logical) {
    case Logical::kDate: return ColumnType::kDate;
    case Logical::kTimeMillis: return ColumnType::kTimeMillis;
    case Logical::kTimeMicros: return ColumnType::kTimeMicros;
    case Logical::kTimestampMillis: return ColumnType::kTimestampMillis;
    case Logical::kTimestampMicros: return ColumnType::kTimestampMicros;
    case Logical::kTimestampNanos: return ColumnType::kTimestampNanos;
    case Logical::kLocalTimestampMillis: return ColumnType::kLocalTimestampMillis;
    case Logical::kLocalTimestampMicros: return ColumnType::kLocalTimestampMicros;
    case Logical::kLocalTimestampNanos: return ColumnType::kLocalTimestampNanos;
    default: return std::nullopt;
  }
}

bool IsReal(ColumnType type) {
  return type == ColumnType::kFloat || type == ColumnType::kDouble;
}
bool IsText(ColumnType type) {
  return type == ColumnType::kString || type == ColumnType::kEnum || type == ColumnType::kUuid;
}

/// A time written in one unit, in the column's. nullopt: it does not fit.
std::optional<int64_t> InUnit(int64_t value, int from, int to) {
  for (; from < to; ++from) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return std::nullopt;
  }
  for (; from > to; --from) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  return value;
}

std::unexpected<Error> Unfit(const Datum& datum, OrderingColumn column) {
  return Fail(
      ErrorKind::kUnsupported,
      fmt::format("ordering value was written as another type than the column's, "
                  "written={} column={} offset={}",
                  KindName(datum.type().kind), ColumnTypeName(column.type), datum.offset()));
}

/// A whole number, in a column that may have become wider since.
Result<OrderingValue> OfNumber(OrderingColumn column, int64_t number, const Datum& datum,
                               merge::OrderingArena& arena) {
  if (IsReal(column.type)) return OrderingValue::OfReal(column, static_cast<double>(number));
  if (IsText(column.type)) {
    const std::string text = std::to_string(number);
    TRY_ASSIGN(const OrderingValue value, OrderingValue::OfBytes(column, text));
    return arena.Keep(value);
  }
  const auto written = TimeTypeOf(datum.type().logical);
  const int to = merge::SecondDigits(column.type);
  if (written && to != 0 && merge::SecondDigits(*written) != to) {
    const auto converted = InUnit(number, merge::SecondDigits(*written), to);
    if (!converted) return Unfit(datum, column);
    number = *converted;
  }
  switch (column.type) {
    case ColumnType::kBytes:
    case ColumnType::kFixed:
    case ColumnType::kDecimalBytes:
    case ColumnType::kDecimalFixed:
    case ColumnType::kUnknown: return Unfit(datum, column);
    default: return OrderingValue::OfInteger(column, number);
  }
}

/// Little-endian two's complement of a fixed width as Avro would have it: big-endian, of `size`
/// bytes, or as few as hold it when that is 0.
std::string BigEndian(std::string_view little, uint64_t size) {
  std::string big(little.rbegin(), little.rend());
  const auto is_padding = [&](size_t at) {
    const char sign = (big[at + 1] & 0x80) != 0 ? '\xff' : '\0';
    return big[at] == sign;
  };
  const size_t wanted = size == 0 ? 1 : static_cast<size_t>(size);
  size_t cut = 0;
  while (big.size() - cut > wanted && is_padding(cut)) ++cut;
  big.erase(0, cut);
  return big;
}

}  // namespace

std::optional<OrderingColumn> OrderingColumnOf(const lake::avro::Type& type) {
  const lake::avro::Type* solid = Solid(type);
  if (solid == nullptr) return std::nullopt;
  const bool is_decimal = solid->logical == Logical::kDecimal;
  const auto scale = static_cast<uint8_t>(is_decimal ? solid->scale : 0);
  if (is_decimal && solid->scale > UINT8_MAX) return std::nullopt;
  switch (solid->kind) {
    case Kind::kBoolean: return OrderingColumn{ColumnType::kBoolean, 0};
    case Kind::kInt: return OrderingColumn{TimeTypeOf(solid->logical).value_or(ColumnType::kInt)};
    case Kind::kLong: return OrderingColumn{TimeTypeOf(solid->logical).value_or(ColumnType::kLong)};
    case Kind::kFloat: return OrderingColumn{ColumnType::kFloat, 0};
    case Kind::kDouble: return OrderingColumn{ColumnType::kDouble, 0};
    case Kind::kString:
      return OrderingColumn{solid->logical == Logical::kUuid ? ColumnType::kUuid
                                                             : ColumnType::kString};
    case Kind::kEnum: return OrderingColumn{ColumnType::kEnum, 0};
    case Kind::kBytes:
      return OrderingColumn{is_decimal ? ColumnType::kDecimalBytes : ColumnType::kBytes, scale};
    case Kind::kFixed:
      return OrderingColumn{is_decimal ? ColumnType::kDecimalFixed : ColumnType::kFixed, scale};
    default: return std::nullopt;
  }
}

Result<OrderingFields> OrderingFields::Make(const lake::avro::Schema& table,
                                            std::span<const std::string> names) {
  OrderingFields made;
  for (const std::string& name : names) {
    Field field;
    const size_t dot = name.find('.');
    const std::string top = name.substr(0, dot);
    const auto known = std::ranges::find(made.columns_, top);
    field.top = static_cast<size_t>(known - made.columns_.begin());
    if (known == made.columns_.end()) made.columns_.push_back(top);
    for (size_t at = dot; at != std::string::npos;) {
      const size_t next = name.find('.', at + 1);
      field.path.push_back(name.substr(at + 1, next - at - 1));
      at = next;
    }
    const lake::avro::Type* type = &table.root();
    std::vector<std::string_view> steps = {top};
    steps.insert(steps.end(), field.path.begin(), field.path.end());
    for (const std::string_view step : steps) {
      const auto place =
          type == nullptr || type->kind != Kind::kRecord ? std::nullopt : type->FindField(step);
      type = place ? Solid(*type->fields[*place].type) : nullptr;
    }
    field.is_column = type != nullptr;
    if (type != nullptr) {
      const auto column = OrderingColumnOf(*type);
      if (!column) {
        return Fail(ErrorKind::kUnsupported,
                    fmt::format("ordering column has a type without an order, column={} type={}",
                                name, KindName(type->kind)));
      }
      field.column = *column;
      field.fixed_size = type->fixed_size;
    }
    made.fields_.push_back(std::move(field));
  }
  return made;
}

bool OrderingFields::are_columns() const {
  return !fields_.empty() && std::ranges::all_of(fields_, &Field::is_column);
}

Result<OrderingValue> OrderingFields::ReadField(const Field& field, const Datum& datum,
                                                merge::OrderingArena& arena) const {
  Datum value = datum;
  for (const std::string& step : field.path) {
    if (value.is_null()) break;
    TRY_ASSIGN(const auto inner, value.Field(step));
    if (!inner) return OrderingValue::Null(field.column);
    value = *inner;
  }
  if (value.is_null()) return OrderingValue::Null(field.column);
  OrderingColumn column = field.column;
  switch (value.type().kind) {
    case Kind::kBoolean: {
      bool is_true = false;
      TRY(value.Boolean(is_true));
      if (column.type != ColumnType::kBoolean) return Unfit(value, column);
      return OrderingValue::OfInteger(column, is_true ? 1 : 0);
    }
    case Kind::kInt:
    case Kind::kLong: {
      TRY_ASSIGN(const int64_t number, value.Long());
      return OfNumber(column, number, value, arena);
    }
    case Kind::kFloat:
    case Kind::kDouble: {
      TRY_ASSIGN(const double number, value.Double());
      if (!IsReal(column.type)) return Unfit(value, column);
      return OrderingValue::OfReal(column, number);
    }
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kBytes:
    case Kind::kFixed: {
      const bool is_symbol = value.type().kind == Kind::kEnum;
      TRY_ASSIGN(const std::string_view bytes, is_symbol ? value.String() : value.Bytes());
      // What was written has its own scale, and compares by value all the same.
      if (value.type().logical == Logical::kDecimal) {
        column.scale = static_cast<uint8_t>(value.type().scale);
      }
      return OrderingValue::OfBytes(column, bytes);
    }
    default: return Unfit(value, column);
  }
}

Result<OrderingValue> OrderingFields::Read(std::span<const std::optional<Datum>> row,
                                           merge::OrderingArena& arena) const {
  if (size() == 0) return OrderingValue();
  if (size() == 1) {
    const auto& cell = row[fields_[0].top];
    return cell ? ReadField(fields_[0], *cell, arena) : OrderingValue::Null(fields_[0].column);
  }
  std::vector<OrderingValue> items;
  for (const Field& field : fields_) {
    OrderingValue item = OrderingValue::Null(field.column);
    if (const auto& cell = row[field.top]) {
      TRY_ASSIGN(item, ReadField(field, *cell, arena));
    }
    items.push_back(item);
  }
  return arena.Keep(OrderingValue::Array(items));
}

std::vector<std::optional<size_t>> OrderingFields::PlacesIn(const columnar::RowType& type) const {
  std::vector<std::optional<size_t>> places;
  for (const std::string& name : columns_) places.push_back(type.Find(name));
  return places;
}

namespace {

Result<OrderingValue> OfCell(const ColumnView& view, size_t row, OrderingColumn column,
                             uint64_t fixed_size, std::string& scratch) {
  switch (view.type->kind) {
    case ValueKind::kBoolean: return OrderingValue::OfInteger(column, view.Boolean(row) ? 1 : 0);
    case ValueKind::kInt32:
    case ValueKind::kDate: return OrderingValue::OfInteger(column, view.Value<int32_t>(row));
    case ValueKind::kInt64:
    case ValueKind::kTimestamp: return OrderingValue::OfInteger(column, view.Value<int64_t>(row));
    case ValueKind::kTime:
      return OrderingValue::OfInteger(
          column, view.type->width == 4 ? view.Value<int32_t>(row) : view.Value<int64_t>(row));
    case ValueKind::kFloat: return OrderingValue::OfReal(column, view.Value<float>(row));
    case ValueKind::kDouble: return OrderingValue::OfReal(column, view.Value<double>(row));
    case ValueKind::kString:
    case ValueKind::kBinary: return OrderingValue::OfBytes(column, view.Text(row));
    case ValueKind::kFixed: return OrderingValue::OfBytes(column, view.Fixed(row));
    case ValueKind::kDecimal:
      scratch = BigEndian(view.Fixed(row), fixed_size);
      return OrderingValue::OfBytes(column, scratch);
    default:
      return Fail(ErrorKind::kUnsupported, fmt::format("ordering column has a type without an "
                                                       "order, type={}",
                                                       view.type->ToString()));
  }
}

}  // namespace

Result<OrderingValue> OrderingFields::Read(const columnar::Batch& batch,
                                           std::span<const std::optional<size_t>> places,
                                           size_t row, Scratch& scratch) const {
  if (size() == 0) return OrderingValue();
  scratch.items.resize(size());
  scratch.bytes.resize(size());
  for (size_t i = 0; i < size(); ++i) {
    const Field& field = fields_[i];
    OrderingValue& item = scratch.items[i];
    item = OrderingValue::Null(field.column);
    if (!places[field.top]) continue;
    const ColumnView* view = &batch.column(*places[field.top]);
    bool is_null = view->IsNull(row);
    for (const std::string& step : field.path) {
      if (is_null || view->type->kind != ValueKind::kStruct) break;
      const auto& inner = view->type->fields;
      const auto found = std::ranges::find(inner, step, &columnar::ValueField::name);
      if (found == inner.end()) {
        is_null = true;
        break;
      }
      view = &view->children[static_cast<size_t>(found - inner.begin())];
      is_null = view->IsNull(row);
    }
    if (is_null) continue;
    TRY_ASSIGN(item, OfCell(*view, row, field.column, field.fixed_size, scratch.bytes[i]));
  }
  return size() == 1 ? scratch.items[0] : OrderingValue::Array(scratch.items);
}

}  // namespace tidemark::scan
