#include "columnar/value_type.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::columnar {
namespace {

using lake::avro::Field;
using lake::avro::Kind;
using lake::avro::Logical;
using lake::avro::Type;

// Deeper than tables go; a recursive type ends here.
constexpr int kNestingMax = 32;
constexpr int kDecimal128DigitsMax = 38;
constexpr int kDecimal256DigitsMax = 76;

std::unexpected<Error> Unsupported(std::string_view path, std::string_view what) {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("column type is not supported, column={} type={}", path, what));
}

ValueType Plain(ValueKind kind, uint32_t width) {
  ValueType type;
  type.kind = kind;
  type.width = width;
  return type;
}

ValueType Time(ValueKind kind, TimeUnit unit, bool is_local, uint32_t width) {
  ValueType type = Plain(kind, width);
  type.unit = unit;
  type.is_local = is_local;
  return type;
}

Result<ValueType> Decimal(std::string_view path, const Type& avro) {
  if (avro.precision > kDecimal256DigitsMax) {
    return Unsupported(path, fmt::format("decimal({},{})", avro.precision, avro.scale));
  }
  ValueType type = Plain(ValueKind::kDecimal, avro.precision > kDecimal128DigitsMax ? 32 : 16);
  type.precision = avro.precision;
  type.scale = avro.scale;
  return type;
}

ValueType LongType(Logical logical) {
  switch (logical) {
    case Logical::kTimeMicros: return Time(ValueKind::kTime, TimeUnit::kMicros, false, 8);
    case Logical::kTimestampMillis: return Time(ValueKind::kTimestamp, TimeUnit::kMillis, false, 8);
    case Logical::kTimestampMicros: return Time(ValueKind::kTimestamp, TimeUnit::kMicros, false, 8);
    case Logical::kTimestampNanos: return Time(ValueKind::kTimestamp, TimeUnit::kNanos, false, 8);
    case Logical::kLocalTimestampMillis:
      return Time(ValueKind::kTimestamp, TimeUnit::kMillis, true, 8);
    case Logical::kLocalTimestampMicros:
      return Time(ValueKind::kTimestamp, TimeUnit::kMicros, true, 8);
    case Logical::kLocalTimestampNanos:
      return Time(ValueKind::kTimestamp, TimeUnit::kNanos, true, 8);
    default: return Plain(ValueKind::kInt64, 8);
  }
}

// From an Avro type to a value type, level by level.
class TypeMaker {
 public:
  Result<ValueField> MakeField(const std::string& path, const Field& field, int depth) {
    ValueField made;
    made.name = field.name;
    made.aliases = field.aliases;
    made.default_json = field.default_json;
    made.avro = field.type;
    TRY(Fill(path, *field.type, depth, made));
    return made;
  }

 private:
  Status Fill(const std::string& path, const Type& avro, int depth, ValueField& made) {
    made.is_nullable = false;
    if (avro.kind != Kind::kUnion) {
      TRY_ASSIGN(made.type, MakeType(path, avro, depth));
      return {};
    }
    std::vector<const Type*> values;
    for (const Type* branch : avro.branches) {
      if (branch->kind == Kind::kNull) {
        made.is_nullable = true;
      } else {
        values.push_back(branch);
      }
    }
    TRY_ASSIGN(const Type* widest, Widest(path, values));
    TRY_ASSIGN(made.type, MakeType(path, *widest, depth));
    return {};
  }

  // The branch that holds the values of all: the only one, or the wider of two numbers.
  static Result<const Type*> Widest(const std::string& path,
                                    const std::vector<const Type*>& values) {
    if (values.size() == 1) return values[0];
    if (values.size() == 2) {
      const auto is = [&](Kind narrow, Kind wide) {
        const Kind first = values[0]->kind;
        const Kind second = values[1]->kind;
        return (first == narrow && second == wide) || (first == wide && second == narrow);
      };
      const bool is_plain =
          values[0]->logical == Logical::kNone && values[1]->logical == Logical::kNone;
      const bool is_second = values[1]->kind == Kind::kLong || values[1]->kind == Kind::kDouble;
      if (is_plain && (is(Kind::kInt, Kind::kLong) || is(Kind::kFloat, Kind::kDouble))) {
        return values[is_second ? 1 : 0];
      }
    }
    std::string names;
    for (const Type* branch : values) {
      names += names.empty() ? "" : "|";
      names += KindName(branch->kind);
    }
    return Unsupported(path, fmt::format("union<{}>", names));
  }

  Result<ValueType> MakeType(const std::string& path, const Type& avro, int depth) {
    if (depth > kNestingMax) return Unsupported(path, "types nested too deep, or recursive");
    switch (avro.kind) {
      case Kind::kNull:
      case Kind::kUnion: return Unsupported(path, KindName(avro.kind));
      case Kind::kBoolean: return Plain(ValueKind::kBoolean, 0);
      case Kind::kInt:
        if (avro.logical == Logical::kDate) return Plain(ValueKind::kDate, 4);
        if (avro.logical == Logical::kTimeMillis) {
          return Time(ValueKind::kTime, TimeUnit::kMillis, false, 4);
        }
        return Plain(ValueKind::kInt32, 4);
      case Kind::kLong: return LongType(avro.logical);
      case Kind::kFloat: return Plain(ValueKind::kFloat, 4);
      case Kind::kDouble: return Plain(ValueKind::kDouble, 8);
      case Kind::kString:
      case Kind::kEnum: return Plain(ValueKind::kString, 0);
      case Kind::kBytes:
        if (avro.logical == Logical::kDecimal) return Decimal(path, avro);
        return Plain(ValueKind::kBinary, 0);
      case Kind::kFixed:
        if (avro.logical == Logical::kDecimal) return Decimal(path, avro);
        if (avro.fixed_size > INT32_MAX) return Unsupported(path, "fixed over 2 GiB");
        return Plain(ValueKind::kFixed, static_cast<uint32_t>(avro.fixed_size));
      case Kind::kArray:
      case Kind::kMap:
      case Kind::kRecord: return MakeNested(path, avro, depth);
    }
    return Unsupported(path, "unknown");
  }

  Result<ValueType> MakeNested(const std::string& path, const Type& avro, int depth) {
    ValueType type;
    if (avro.kind == Kind::kRecord) {
      type = Plain(ValueKind::kStruct, 0);
      for (const Field& field : avro.fields) {
        TRY_ASSIGN(type.fields.emplace_back(),
                   MakeField(path + "." + field.name, field, depth + 1));
        if (++fields_ > kFieldsMax) return Unsupported(path, "too many nested fields");
      }
      return type;
    }
    const bool is_map = avro.kind == Kind::kMap;
    type = Plain(is_map ? ValueKind::kMap : ValueKind::kList, 0);
    if (is_map) {
      ValueField key;
      key.name = "key";
      key.type = Plain(ValueKind::kString, 0);
      key.is_nullable = false;
      type.fields.push_back(std::move(key));
    }
    ValueField item;
    item.name = is_map ? "value" : "item";
    item.avro = avro.items;
    TRY(Fill(path + "." + item.name, *avro.items, depth + 1, item));
    type.fields.push_back(std::move(item));
    return type;
  }

  // A named type may be used many times over in each of many.
  static constexpr size_t kFieldsMax = 1 << 16;
  size_t fields_ = 0;
};

std::string_view UnitName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis: return "ms";
    case TimeUnit::kMicros: return "us";
    case TimeUnit::kNanos: return "ns";
  }
  return "";
}

}  // namespace

std::string_view ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBoolean: return "boolean";
    case ValueKind::kInt32: return "int";
    case ValueKind::kInt64: return "long";
    case ValueKind::kFloat: return "float";
    case ValueKind::kDouble: return "double";
    case ValueKind::kString: return "string";
    case ValueKind::kBinary: return "binary";
    case ValueKind::kFixed: return "fixed";
    case ValueKind::kDecimal: return "decimal";
    case ValueKind::kDate: return "date";
    case ValueKind::kTime: return "time";
    case ValueKind::kTimestamp: return "timestamp";
    case ValueKind::kStruct: return "struct";
    case ValueKind::kList: return "list";
    case ValueKind::kMap: return "map";
  }
  return "";
}

std::string ValueType::ToString() const {
  const auto name = ValueKindName(kind);
  switch (kind) {
    case ValueKind::kFixed: return fmt::format("{}({})", name, width);
    case ValueKind::kDecimal: return fmt::format("{}({},{})", name, precision, scale);
    case ValueKind::kTime: return fmt::format("{}({})", name, UnitName(unit));
    case ValueKind::kTimestamp:
      return fmt::format("{}({}{})", name, UnitName(unit), is_local ? ",local" : "");
    case ValueKind::kStruct:
    case ValueKind::kList:
    case ValueKind::kMap: break;
    default: return std::string(name);
  }
  std::string text(name);
  text += '<';
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ',';
    if (kind == ValueKind::kStruct) text += fields[i].name + ":";
    text += fields[i].type.ToString();
  }
  return text + ">";
}

bool ValueType::HasLayoutOf(const ValueType& other) const {
  return kind == other.kind && unit == other.unit && is_local == other.is_local &&
         width == other.width && precision == other.precision && scale == other.scale &&
         std::ranges::equal(fields, other.fields, [](const ValueField& a, const ValueField& b) {
           return a.type.HasLayoutOf(b.type);
         });
}

Result<ValueField> FieldOf(std::string_view path, const Field& field) {
  return TypeMaker().MakeField(std::string(path), field, 0);
}

}  // namespace tidemark::columnar
