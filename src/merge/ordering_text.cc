// The texts of ordering values; apart from the comparisons, which run per version.
#include <fmt/format.h>

#include <chrono>

#include "merge/decimal.h"
#include "merge/ordering_value.h"

namespace tidemark::merge {
namespace {

using Kind = OrderingValue::Kind;

constexpr int64_t kSecondsPerDay = 86'400;
// Where four digits of a year end.
constexpr int64_t kFirstDay = -719'528;  // 0000-01-01
constexpr int64_t kLastDay = 2'932'896;  // 9999-12-31

int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::string DateText(int64_t days) {
  if (days < kFirstDay || days > kLastDay) return fmt::format("day {}", days);
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(days)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

int64_t UnitsPerSecond(uint8_t unit) {
  int64_t units = 1;
  for (int i = 0; i < unit; ++i) units *= 10;
  return units;
}

std::string TimeText(int64_t units_of_day, uint8_t unit) {
  const int64_t per_second = UnitsPerSecond(unit);
  const int64_t seconds = units_of_day / per_second;
  return fmt::format("{:02}:{:02}:{:02}.{:0{}}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     units_of_day % per_second, unit);
}

bool IsLocal(ColumnType type) {
  return type == ColumnType::kLocalTimestampMillis || type == ColumnType::kLocalTimestampMicros ||
         type == ColumnType::kLocalTimestampNanos;
}

std::string TimestampText(const OrderingValue& value) {
  const int64_t per_day = UnitsPerSecond(value.unit()) * kSecondsPerDay;
  const int64_t days = FloorDivide(value.integer(), per_day);
  if (days < kFirstDay || days > kLastDay) return fmt::format("{}", value.integer());
  return fmt::format("{}T{}{}", DateText(days),
                     TimeText(value.integer() - days * per_day, value.unit()),
                     IsLocal(value.column_type()) ? "" : "Z");
}

std::string BinaryText(std::string_view bytes) {
  std::string text = "0x";
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

}  // namespace

std::string OrderingText(const OrderingValue& value) {
  switch (value.kind()) {
    case Kind::kNull: return "null";
    case Kind::kSentinel: return "none";
    case Kind::kBoolean: return value.integer() != 0 ? "true" : "false";
    case Kind::kInteger: return fmt::format("{}", value.integer());
    case Kind::kReal: return fmt::format("{}", value.real());
    case Kind::kText: return std::string(value.bytes());
    case Kind::kBinary: return BinaryText(value.bytes());
    case Kind::kDecimal: return DecimalText(value.bytes(), value.scale());
    case Kind::kDate: return DateText(value.integer());
    case Kind::kTime: {
      const int64_t per_day = UnitsPerSecond(value.unit()) * kSecondsPerDay;
      if (value.integer() < 0 || value.integer() >= per_day)
        return fmt::format("{}", value.integer());
      return TimeText(value.integer(), value.unit());
    }
    case Kind::kTimestamp: return TimestampText(value);
    case Kind::kArray: break;
  }
  std::string text = "[";
  for (const auto& item : value.items()) {
    if (text.size() > 1) text += ',';
    text += OrderingText(item);
  }
  return text + ']';
}

std::string OrderingTypeText(const OrderingValue& value) {
  if (value.kind() == Kind::kArray) {
    std::string text = "[";
    for (const auto& item : value.items()) {
      if (text.size() > 1) text += ',';
      text += OrderingTypeText(item);
    }
    return text + ']';
  }
  switch (value.source()) {
    case OrderingValue::Source::kData: return std::string(ColumnTypeName(value.column_type()));
    case OrderingValue::Source::kDeleteBlock: return std::string(DeleteBranchName(value.branch()));
    case OrderingValue::Source::kNamedClass: return std::string(JavaClassName(value.java_class()));
  }
  return {};
}

}  // namespace tidemark::merge
