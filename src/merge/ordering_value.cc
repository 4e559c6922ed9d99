#include "merge/ordering_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "merge/decimal.h"

namespace tidemark::merge {
namespace {

__extension__ typedef __int128 Int128;

using Kind = OrderingValue::Kind;

Kind KindOf(ColumnType type) {
  switch (type) {
    case ColumnType::kBoolean: return Kind::kBoolean;
    case ColumnType::kInt:
    case ColumnType::kLong:
    case ColumnType::kUnknown: return Kind::kInteger;
    case ColumnType::kFloat:
    case ColumnType::kDouble: return Kind::kReal;
    case ColumnType::kString:
    case ColumnType::kEnum:
    case ColumnType::kUuid: return Kind::kText;
    case ColumnType::kBytes:
    case ColumnType::kFixed: return Kind::kBinary;
    case ColumnType::kDecimalBytes:
    case ColumnType::kDecimalFixed: return Kind::kDecimal;
    case ColumnType::kDate: return Kind::kDate;
    case ColumnType::kTimeMillis:
    case ColumnType::kTimeMicros: return Kind::kTime;
    default: return Kind::kTimestamp;
  }
}

std::partial_ordering CompareReals(double a, double b) {
  if (a < b) return std::partial_ordering::less;
  if (a > b) return std::partial_ordering::greater;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
  return std::signbit(b) <=> std::signbit(a);  // 0.0 and -0.0 are what is left to differ
}

/// Exact, where a conversion of the integer to double would round.
std::partial_ordering CompareIntegerWithReal(int64_t a, double b) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(b) || b >= kTwoTo63) return std::partial_ordering::less;
  if (b < -kTwoTo63) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  if (const auto order = a <=> static_cast<int64_t>(whole); order != 0) return order;
  if (b != whole) return 0.0 <=> b - whole;
  return b == 0 ? CompareReals(0.0, b) : std::partial_ordering::equivalent;
}

std::partial_ordering CompareIntegerWithDecimal(int64_t a, const OrderingValue& b) {
  char bytes[8];
  for (int i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>(static_cast<uint64_t>(a) >> (56 - 8 * i));
  return CompareDecimals({bytes, 8}, 0, b.bytes(), b.scale());
}

std::partial_ordering CompareInUnits(const OrderingValue& a, const OrderingValue& b) {
  if (a.unit() == b.unit()) return a.integer() <=> b.integer();
  const auto nanos = [](const OrderingValue& value) {
    Int128 scaled = value.integer();
    for (int unit = value.unit(); unit < 9; unit += 3) scaled *= 1000;
    return scaled;
  };
  const Int128 left = nanos(a);
  const Int128 right = nanos(b);
  return left < right   ? std::partial_ordering::less
         : left > right ? std::partial_ordering::greater
                        : std::partial_ordering::equivalent;
}

/// IntWrapper 0 inside an array: a real 0 where the field is an int, else what stands for null.
OrderingValue ItemOf(const OrderingValue& item) {
  if (!item.is_sentinel()) return item;
  const OrderingColumn column{item.column_type(), 0};
  const bool is_int = item.branch() == DeleteBranch::kInt &&
                      (column.type == ColumnType::kInt || column.type == ColumnType::kDate ||
                       column.type == ColumnType::kTimeMillis);
  return is_int ? OrderingValue::OfInteger(column, 0) : OrderingValue::Null(column);
}

std::partial_ordering CompareItems(const OrderingValue& a, const OrderingValue& b) {
  const auto left = a.items();
  const auto right = b.items();
  if (left.size() != right.size()) return std::partial_ordering::unordered;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto order = CompareByValue(ItemOf(left[i]), ItemOf(right[i]));
    if (order != 0) return order;
  }
  return std::partial_ordering::equivalent;
}

bool IsText(Kind kind) {
  return kind == Kind::kText || kind == Kind::kBinary;
}

std::partial_ordering CompareUnlike(const OrderingValue& a, const OrderingValue& b) {
  const auto reversed = [](std::partial_ordering order) { return 0 <=> order; };
  switch (a.kind()) {
    case Kind::kInteger:
      if (b.kind() == Kind::kReal) return CompareIntegerWithReal(a.integer(), b.real());
      if (b.kind() == Kind::kDecimal) return CompareIntegerWithDecimal(a.integer(), b);
      break;
    case Kind::kReal:
      if (b.kind() == Kind::kInteger)
        return reversed(CompareIntegerWithReal(b.integer(), a.real()));
      break;
    case Kind::kDecimal:
      if (b.kind() == Kind::kInteger) return reversed(CompareIntegerWithDecimal(b.integer(), a));
      break;
    default:
      if (IsText(a.kind()) && IsText(b.kind())) return a.bytes() <=> b.bytes();
      break;
  }
  return std::partial_ordering::unordered;
}

}  // namespace

OrderingValue::OrderingValue(Kind kind, Source source, uint8_t form, OrderingColumn column)
    : kind_(kind), source_(source), form_(form), column_(column.type), scale_(column.scale) {}

void OrderingValue::SetBytes(std::string_view bytes) {
  CHECK(bytes.size() <= UINT32_MAX, "an ordering value beyond what a log block can hold");
  payload_.bytes = bytes.data();
  size_ = static_cast<uint32_t>(bytes.size());
}

OrderingValue OrderingValue::Null(OrderingColumn column) {
  return {Kind::kNull, Source::kData, static_cast<uint8_t>(column.type), column};
}

void OrderingValue::Place(int64_t stored) {
  payload_.integer = stored;
  if (kind_ == Kind::kTime || kind_ == Kind::kTimestamp) scale_ = SecondDigits(column_);
}

OrderingValue OrderingValue::OfInteger(OrderingColumn column, int64_t stored) {
  OrderingValue value(KindOf(column.type), Source::kData, static_cast<uint8_t>(column.type),
                      column);
  value.Place(stored);
  return value;
}

OrderingValue OrderingValue::OfReal(OrderingColumn column, double stored) {
  OrderingValue value(Kind::kReal, Source::kData, static_cast<uint8_t>(column.type), column);
  value.payload_.real = stored;
  return value;
}

Result<OrderingValue> OrderingValue::Decimal(OrderingValue shape, std::string_view bytes,
                                             uint8_t scale) {
  if (bytes.empty()) return Fail(ErrorKind::kCorrupt, "ordering value: a decimal without bytes");
  if (bytes.size() > kDecimalBytesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("ordering value: decimal too long bytes={} max={}", bytes.size(),
                            kDecimalBytesMax));
  }
  shape.kind_ = Kind::kDecimal;
  shape.SetBytes(bytes);
  shape.scale_ = scale;
  return shape;
}

Result<OrderingValue> OrderingValue::OfBytes(OrderingColumn column, std::string_view stored) {
  OrderingValue value(KindOf(column.type), Source::kData, static_cast<uint8_t>(column.type),
                      column);
  if (value.kind_ == Kind::kDecimal) return Decimal(value, stored, column.scale);
  if (!IsText(value.kind_)) value.kind_ = Kind::kBinary;
  value.SetBytes(stored);
  return value;
}

OrderingValue OrderingValue::NoneDeleted(OrderingColumn column) {
  return {Kind::kSentinel, Source::kDeleteBlock, static_cast<uint8_t>(DeleteBranch::kNull), column};
}

OrderingValue OrderingValue::DeletedInteger(DeleteBranch branch, int64_t stored,
                                            OrderingColumn column) {
  Kind kind = Kind::kInteger;
  const Kind asked = KindOf(column.type);
  switch (branch) {
    case DeleteBranch::kBoolean: kind = Kind::kBoolean; break;
    case DeleteBranch::kInt:
      if (stored == 0) {
        kind = Kind::kSentinel;
      } else if (asked == Kind::kDate || column.type == ColumnType::kTimeMillis) {
        kind = asked;
      }
      break;
    case DeleteBranch::kLong:
      if (asked == Kind::kTimestamp || asked == Kind::kTime) kind = asked;
      break;
    case DeleteBranch::kDate: kind = Kind::kDate; break;
    case DeleteBranch::kTimeMicros: kind = Kind::kTime; break;
    case DeleteBranch::kTimestampMicros: kind = Kind::kTimestamp; break;
    default: break;
  }
  OrderingValue value(kind, Source::kDeleteBlock, static_cast<uint8_t>(branch), column);
  value.Place(stored);
  if (branch == DeleteBranch::kTimeMicros || branch == DeleteBranch::kTimestampMicros) {
    value.scale_ = 6;
  }
  return value;
}

OrderingValue OrderingValue::DeletedReal(DeleteBranch branch, double stored,
                                         OrderingColumn column) {
  OrderingValue value(Kind::kReal, Source::kDeleteBlock, static_cast<uint8_t>(branch), column);
  value.payload_.real = stored;
  return value;
}

Result<OrderingValue> OrderingValue::DeletedBytes(DeleteBranch branch, std::string_view stored,
                                                  OrderingColumn column, uint8_t scale) {
  OrderingValue value(Kind::kText, Source::kDeleteBlock, static_cast<uint8_t>(branch), column);
  if (branch == DeleteBranch::kDecimal) return Decimal(value, stored, scale);
  if (branch == DeleteBranch::kBytes) {
    // A decimal that its writer had as raw bytes has the column's scale.
    if (KindOf(column.type) == Kind::kDecimal) return Decimal(value, stored, column.scale);
    value.kind_ = Kind::kBinary;
  }
  value.SetBytes(stored);
  return value;
}

OrderingValue OrderingValue::Array(std::span<const OrderingValue> items) {
  OrderingValue value(Kind::kArray, items.empty() ? Source::kData : items[0].source(), 0, {});
  value.payload_.items = items.data();
  value.size_ = static_cast<uint32_t>(items.size());
  if (value.source_ != Source::kData) value.form_ = static_cast<uint8_t>(DeleteBranch::kArray);
  return value;
}

OrderingValue OrderingValue::WithClass(JavaClass java_class) const {
  OrderingValue value = *this;
  value.source_ = Source::kNamedClass;
  value.form_ = static_cast<uint8_t>(java_class);
  return value;
}

OrderingValue OrderingValue::Rebased(std::string_view copy) const {
  OrderingValue value = *this;
  value.SetBytes(copy);
  return value;
}

std::partial_ordering CompareByValue(const OrderingValue& a, const OrderingValue& b) {
  if (a.is_sentinel() || b.is_sentinel()) return std::partial_ordering::unordered;
  if (a.is_null() || b.is_null()) return b.is_null() <=> a.is_null();
  if (a.kind() != b.kind()) return CompareUnlike(a, b);
  switch (a.kind()) {
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kDate: return a.integer() <=> b.integer();
    case Kind::kTime:
    case Kind::kTimestamp: return CompareInUnits(a, b);
    case Kind::kReal: return CompareReals(a.real(), b.real());
    case Kind::kText:
    case Kind::kBinary: return a.bytes() <=> b.bytes();
    case Kind::kDecimal: return CompareDecimals(a.bytes(), a.scale(), b.bytes(), b.scale());
    case Kind::kArray: return CompareItems(a, b);
    default: return std::partial_ordering::unordered;
  }
}

std::string_view OrderingArena::KeepBytes(std::string_view bytes) {
  constexpr size_t kChunkBytes = 64 << 10;
  if (bytes.size() > room_) {
    room_ = std::max(kChunkBytes, bytes.size());
    free_ = chunks_.emplace_back(std::make_unique_for_overwrite<char[]>(room_)).get();
    byte_count_ += room_;
  }
  char* const copy = free_;
  std::copy(bytes.begin(), bytes.end(), copy);
  free_ += bytes.size();
  room_ -= bytes.size();
  return {copy, bytes.size()};
}

OrderingValue OrderingArena::Keep(const OrderingValue& value) {
  OrderingValue kept = value;
  switch (value.kind()) {
    case Kind::kText:
    case Kind::kBinary:
    case Kind::kDecimal: {
      kept = value.Rebased(KeepBytes(value.bytes()));
      break;
    }
    case Kind::kArray: {
      std::vector<OrderingValue> items;
      for (const auto& item : value.items()) items.push_back(Keep(item));
      byte_count_ += items.capacity() * sizeof(OrderingValue);
      kept = OrderingValue::Array(items_.emplace_back(std::move(items)));
      break;
    }
    default: break;
  }
  return kept;
}

}  // namespace tidemark::merge
