#include "lake/hudi/delete_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace tidemark::lake::hudi {
namespace {

/// Longer decimals (of more than 300 digits) are shown in hex: writing one out takes quadratic
/// time.
constexpr size_t kDecimalBytesMax = 128;
constexpr int32_t kScaleShownMax = 1000;
constexpr uint32_t kBillion = 1'000'000'000;

std::string Hex(std::string_view bytes) {
  std::string hex = "0x";
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

/// The digits of a big-endian unsigned number.
std::string Digits(std::string_view bytes) {
  std::vector<uint32_t> parts = {0};  // of nine digits each, the least first
  for (const char c : bytes) {
    uint64_t carry = static_cast<unsigned char>(c);
    for (uint32_t& part : parts) {
      carry += uint64_t{part} * 256;
      part = static_cast<uint32_t>(carry % kBillion);
      carry /= kBillion;
    }
    if (carry != 0) parts.push_back(static_cast<uint32_t>(carry));
  }
  std::string digits = std::to_string(parts.back());
  for (size_t i = parts.size() - 1; i-- > 0;) digits += fmt::format("{:09}", parts[i]);
  return digits;
}

std::string Negated(std::string_view bytes) {
  std::string negated(bytes);
  bool has_carry = true;
  for (size_t i = negated.size(); i-- > 0;) {
    const auto flipped = static_cast<unsigned char>(~static_cast<unsigned char>(negated[i]));
    negated[i] = static_cast<char>(flipped + (has_carry ? 1 : 0));
    has_carry = has_carry && negated[i] == 0;
  }
  return negated;
}

std::string DecimalText(std::string_view unscaled, int32_t scale) {
  if (unscaled.empty() || unscaled.size() > kDecimalBytesMax || scale > kScaleShownMax ||
      scale < -kScaleShownMax) {
    return fmt::format("{}e{}", Hex(unscaled), -int64_t{scale});
  }
  const bool is_negative = (static_cast<unsigned char>(unscaled[0]) & 0x80) != 0;
  std::string digits = Digits(is_negative ? Negated(unscaled) : std::string(unscaled));
  if (scale > 0) {
    const auto places = static_cast<size_t>(scale);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, 1, '.');
  } else if (digits != "0") {
    digits.append(static_cast<size_t>(-scale), '0');
  }
  return (is_negative ? "-" : "") + digits;
}

std::string DateText(int64_t days) {
  // What a date of the calendar can be.
  constexpr int64_t kDaysMax = 2'932'896;  // 9999-12-31
  constexpr int64_t kDaysMin = -719'528;   // 0000-01-01
  if (days > kDaysMax || days < kDaysMin) return std::to_string(days);
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

template <class Text>
std::string Listed(std::span<const DeleteOrdering> items, Text text) {
  std::string list = "[";
  for (const DeleteOrdering& item : items) {
    if (list.size() > 1) list += ", ";
    list += text(item);
  }
  return list + "]";
}

}  // namespace

std::string OrderingText(const DeleteOrdering& ordering) {
  switch (ordering.branch) {
    case DeleteBranch::kNull: return "null";
    case DeleteBranch::kBoolean: return ordering.integer != 0 ? "true" : "false";
    case DeleteBranch::kFloat: return fmt::format("{}", static_cast<float>(ordering.real));
    case DeleteBranch::kDouble: return fmt::format("{}", ordering.real);
    case DeleteBranch::kBytes: return Hex(ordering.bytes);
    case DeleteBranch::kString: return std::string(ordering.bytes);
    case DeleteBranch::kDecimal: return DecimalText(ordering.bytes, ordering.scale);
    case DeleteBranch::kDate:
    case DeleteBranch::kLocalDate: return DateText(ordering.integer);
    case DeleteBranch::kArray: return Listed(ordering.items, OrderingText);
    case DeleteBranch::kInt:
    case DeleteBranch::kLong:
    case DeleteBranch::kTimeMicros:
    case DeleteBranch::kTimestampMicros: break;
  }
  return std::to_string(ordering.integer);
}

std::string OrderingTypeText(const DeleteOrdering& ordering) {
  if (!ordering.is_stored) return "none";
  if (!ordering.java_class.empty()) return std::string(ordering.java_class);
  std::string name(DeleteBranchName(ordering.branch));
  if (ordering.branch == DeleteBranch::kArray) name += Listed(ordering.items, OrderingTypeText);
  return name;
}

}  // namespace tidemark::lake::hudi
