// What Arrow's schema does not keep: of two annotations of a column it takes the newer.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "columnar/schema_witness_internal.h"

namespace tidemark::columnar {
namespace {

// Structs inside structs.
constexpr int kDepthMax = 16;

// Types of Thrift's compact protocol, as they stand in the low half of a field's first byte.
enum class Wire : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct WireField {
  int id = 0;
  Wire type = Wire::kStop;
};

// Thrift's compact protocol. After what cannot be one everything is a stop, and ok() is false.
class ThriftCursor {
 public:
  explicit ThriftCursor(std::string_view bytes) : cursor_(bytes) {}

  bool ok() const { return ok_; }

  // `last`: of the field before it, 0 for the first.
  WireField NextField(int last) {
    const auto head = Byte();
    const auto type = static_cast<Wire>(head & 0x0f);
    if (!ok_ || type == Wire::kStop) return {};
    const int delta = head >> 4;
    return {delta != 0 ? last + delta : static_cast<int>(Number()), type};
  }
  int64_t Number() {
    const uint64_t raw = Varint();
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }
  std::string_view Binary() {
    const auto taken = cursor_.Take(Varint());
    if (!taken) ok_ = false;
    return taken.value_or(std::string_view());
  }
  struct List {
    uint64_t size = 0;
    Wire type = Wire::kStop;
  };
  List NextList() {
    const auto head = Byte();
    List list{static_cast<uint64_t>(head >> 4), static_cast<Wire>(head & 0x0f)};
    if (list.size == 15) list.size = Varint();
    if (list.size > cursor_.remaining()) ok_ = false;
    return list;
  }
  void Skip(Wire type, int depth = 0) {
    if (depth > kDepthMax) ok_ = false;
    if (!ok_) return;
    switch (type) {
      case Wire::kTrue:
      case Wire::kFalse: return;
      case Wire::kByte: Byte(); return;
      case Wire::kI16:
      case Wire::kI32:
      case Wire::kI64: Varint(); return;
      case Wire::kBinary: Binary(); return;
      case Wire::kStruct:
        for (auto field = NextField(0); field.type != Wire::kStop; field = NextField(field.id)) {
          Skip(field.type, depth + 1);
        }
        return;
      default: ok_ = false;  // none of them stands in a schema element
    }
  }

 private:
  uint8_t Byte() {
    const auto byte = cursor_.TakeBig<uint8_t>();
    if (!byte) ok_ = false;
    return byte.value_or(0);
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

  ByteCursor cursor_;
  bool ok_ = true;
};

// Of parquet.thrift's LogicalType: the branch, and what is in it.
struct LogicalText {
  int branch = 0;
  int scale = 0;
  int precision = 0;
  int unit = 0;  // 1 milliseconds, 2 microseconds, 3 nanoseconds
  int bits = 0;
  bool is_signed = false;
};

struct Element {
  std::string_view name;
  std::optional<int> type;
  int length = 0;  // bytes, of a value of fixed length
  int repetition = 0;
  std::optional<int> converted;
  std::optional<int> scale;
  std::optional<int> precision;
  std::optional<LogicalText> logical;
};

// Branches of LogicalType.
enum : int {
  kString = 1,
  kMap = 2,
  kList = 3,
  kEnum = 4,
  kDecimal = 5,
  kDate = 6,
  kTime = 7,
  kTimestamp = 8,
  kInteger = 10,
  kJson = 12,
  kBson = 13,
};

int Branch(ThriftCursor& cursor) {
  int branch = 0;
  for (auto field = cursor.NextField(0); field.type != Wire::kStop;
       field = cursor.NextField(field.id)) {
    branch = field.id;
    cursor.Skip(field.type);
  }
  return branch;
}

LogicalText ReadLogical(ThriftCursor& cursor) {
  LogicalText text;
  for (auto branch = cursor.NextField(0); branch.type != Wire::kStop;
       branch = cursor.NextField(branch.id)) {
    text.branch = branch.id;
    if (branch.type != Wire::kStruct) {
      cursor.Skip(branch.type);
      continue;
    }
    for (auto field = cursor.NextField(0); field.type != Wire::kStop;
         field = cursor.NextField(field.id)) {
      if (text.branch == kDecimal && field.type == Wire::kI32) {
        (field.id == 1 ? text.scale : text.precision) = static_cast<int>(cursor.Number());
      } else if ((text.branch == kTime || text.branch == kTimestamp) && field.id == 2 &&
                 field.type == Wire::kStruct) {
        text.unit = Branch(cursor);
      } else if (text.branch == kInteger && field.type == Wire::kTrue) {
        text.is_signed = true;
      } else {
        cursor.Skip(field.type);
      }
    }
  }
  return text;
}

Element ReadElement(ThriftCursor& cursor) {
  Element element;
  for (auto field = cursor.NextField(0); field.type != Wire::kStop;
       field = cursor.NextField(field.id)) {
    const bool is_number = field.type == Wire::kI32;
    if (field.id == 1 && is_number) {
      element.type = static_cast<int>(cursor.Number());
    } else if (field.id == 2 && is_number) {
      element.length = static_cast<int>(cursor.Number());
    } else if (field.id == 3 && is_number) {
      element.repetition = static_cast<int>(cursor.Number());
    } else if (field.id == 4 && field.type == Wire::kBinary) {
      element.name = cursor.Binary();
    } else if (field.id == 6 && is_number) {
      element.converted = static_cast<int>(cursor.Number());
    } else if (field.id == 7 && is_number) {
      element.scale = static_cast<int>(cursor.Number());
    } else if (field.id == 8 && is_number) {
      element.precision = static_cast<int>(cursor.Number());
    } else if (field.id == 10 && field.type == Wire::kStruct) {
      element.logical = ReadLogical(cursor);
    } else {
      cursor.Skip(field.type);
    }
  }
  return element;
}

constexpr int kConvertedDecimal = 5;

// Whether ConvertedType `converted` is an older word for `logical`.
bool IsSame(int converted, const LogicalText& logical) {
  constexpr int kMillis = 1;
  constexpr int kMicros = 2;
  switch (converted) {
    case 0: return logical.branch == kString;
    case 1:
    case 2: return logical.branch == kMap;
    case 3: return logical.branch == kList;
    case 4: return logical.branch == kEnum;
    case kConvertedDecimal: return logical.branch == kDecimal;
    case 6: return logical.branch == kDate;
    case 7: return logical.branch == kTime && logical.unit == kMillis;
    case 8: return logical.branch == kTime && logical.unit == kMicros;
    case 9: return logical.branch == kTimestamp && logical.unit == kMillis;
    case 10: return logical.branch == kTimestamp && logical.unit == kMicros;
    case 11:
    case 12:
    case 13:
    case 14: return logical.branch == kInteger && !logical.is_signed;
    case 15:
    case 16:
    case 17:
    case 18: return logical.branch == kInteger && logical.is_signed;
    case 19: return logical.branch == kJson;
    case 20: return logical.branch == kBson;
    default: return false;
  }
}

// Of decimals in so many bytes.
double DigitsMax(int length) {
  return std::floor(std::log10(2.0) * (8.0 * length - 1.0));
}

std::optional<std::string_view> FaultOf(const Element& element) {
  constexpr int kRepeated = 2;
  if (element.repetition < 0 || element.repetition > kRepeated) {
    return "neither required, optional nor repeated";
  }
  constexpr int kFixed = 7;
  const bool is_decimal = element.logical ? element.logical->branch == kDecimal
                                          : element.converted == kConvertedDecimal;
  const int precision =
      element.logical ? element.logical->precision : element.precision.value_or(0);
  if (element.type == kFixed && is_decimal && precision > DigitsMax(element.length)) {
    return "more digits than its length holds";
  }
  if (!element.logical) return std::nullopt;
  const auto& logical = *element.logical;
  if (element.converted && !IsSame(*element.converted, logical)) return "two types";
  if (logical.branch == kDecimal && element.converted) {
    if (element.scale.value_or(0) != logical.scale) return "two scales";
    if (element.precision.value_or(0) != logical.precision) return "two precisions";
  }
  return std::nullopt;
}

}  // namespace

Status CheckAnnotations(std::string_view footer) {
  constexpr int kSchema = 2;
  ThriftCursor cursor(footer);
  auto field = cursor.NextField(0);
  while (field.type != Wire::kStop && field.id != kSchema) {
    cursor.Skip(field.type);
    field = cursor.NextField(field.id);
  }
  if (field.type != Wire::kList) return {};
  const auto list = cursor.NextList();
  for (uint64_t i = 0; i < list.size && cursor.ok() && list.type == Wire::kStruct; ++i) {
    const Element element = ReadElement(cursor);
    if (!cursor.ok()) break;
    if (const auto fault = FaultOf(element)) {
      return Fail(ErrorKind::kCorrupt,
                  fmt::format("the schema contradicts itself: {} column={}", *fault, element.name));
    }
  }
  return {};
}

}  // namespace tidemark::columnar
