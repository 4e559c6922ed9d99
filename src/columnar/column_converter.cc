#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "columnar/column_converter_internal.h"
#include "columnar/row_text_internal.h"
#include "columnar/value_text_internal.h"
#include "columnar/wide_decimal_internal.h"

namespace tidemark::columnar {
namespace {

bool IsText(const ValueType& type) {
  return type.kind == ValueKind::kString || type.kind == ValueKind::kBinary;
}

// Numbers and what is kept as one.
bool IsInteger(const ValueType& type, uint32_t width) {
  return type.width == width && (type.kind == ValueKind::kInt32 || type.kind == ValueKind::kInt64);
}

bool IsDecimalLike(const ValueType& from) {
  return from.kind == ValueKind::kDecimal || from.kind == ValueKind::kBinary ||
         from.kind == ValueKind::kFixed || from.kind == ValueKind::kInt32 ||
         from.kind == ValueKind::kInt64;
}

// How the values of one type become those of the other; nullopt: they do not.
std::optional<ConvertOp> OpFor(const ValueType& from, const ValueType& to) {
  const bool is_integer = IsInteger(from, 4) || IsInteger(from, 8);
  switch (to.kind) {
    case ValueKind::kBoolean:
    case ValueKind::kFixed:
      if (from.HasLayoutOf(to)) return ConvertOp::kSame;
      return std::nullopt;
    case ValueKind::kInt32:
    case ValueKind::kDate:
      if (from.width == 4 && (from.kind == ValueKind::kInt32 || from.kind == ValueKind::kDate ||
                              (from.kind == ValueKind::kTime && to.kind == ValueKind::kInt32))) {
        return ConvertOp::kSame;
      }
      return std::nullopt;
    case ValueKind::kInt64:
      if (from.kind == ValueKind::kTimestamp || from.kind == ValueKind::kTime ||
          IsInteger(from, 8)) {
        return from.width == 8 ? ConvertOp::kSame : ConvertOp::kNumber;
      }
      if (IsInteger(from, 4)) return ConvertOp::kNumber;
      return std::nullopt;
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      if (from.kind == to.kind) return ConvertOp::kSame;
      if (is_integer || from.kind == ValueKind::kFloat) return ConvertOp::kNumber;
      return std::nullopt;
    case ValueKind::kString:
      if (IsText(from)) return ConvertOp::kSame;
      if (from.kind == ValueKind::kTime || from.kind == ValueKind::kTimestamp ||
          from.kind == ValueKind::kFixed || IsNested(from)) {
        return std::nullopt;
      }
      return ConvertOp::kText;
    case ValueKind::kBinary:
      if (IsText(from)) return ConvertOp::kSame;
      return std::nullopt;
    case ValueKind::kDecimal:
      if (from.kind == to.kind && from.width == to.width && from.scale == to.scale) {
        return ConvertOp::kSame;
      }
      if (IsDecimalLike(from)) return ConvertOp::kDecimal;
      return std::nullopt;
    case ValueKind::kTime:
    case ValueKind::kTimestamp:
      if (IsInteger(from, to.width)) return ConvertOp::kSame;
      if (from.kind != to.kind) return std::nullopt;
      return from.unit == to.unit ? ConvertOp::kSame : ConvertOp::kTime;
    case ValueKind::kStruct:
      if (from.kind == to.kind) return ConvertOp::kStruct;
      return std::nullopt;
    case ValueKind::kList:
    case ValueKind::kMap:
      if (from.kind == to.kind) return ConvertOp::kItems;
      return std::nullopt;
  }
  return std::nullopt;
}

int64_t IntegerAt(const ColumnView& from, size_t row) {
  return from.type->width == 4 ? from.Value<int32_t>(row) : from.Value<int64_t>(row);
}

template <class T>
T NumberAt(const ColumnView& from, size_t row) {
  if (from.type->kind == ValueKind::kFloat) return static_cast<T>(from.Value<float>(row));
  return static_cast<T>(IntegerAt(from, row));
}

void AppendNumber(const ColumnView& from, size_t row, Cells& cells, ValueKind to) {
  if (to == ValueKind::kInt64) {
    static_cast<Int64Cells&>(cells).Append(IntegerAt(from, row));
  } else if (to == ValueKind::kFloat) {
    static_cast<FloatCells&>(cells).Append(NumberAt<float>(from, row));
  } else {
    static_cast<DoubleCells&>(cells).Append(NumberAt<double>(from, row));
  }
}

void AppendText(const ColumnView& from, size_t row, Cells& cells) {
  std::string text;
  switch (from.type->kind) {
    case ValueKind::kFloat: AppendJavaFloat(from.Value<float>(row), text); break;
    case ValueKind::kDouble: AppendJavaDouble(from.Value<double>(row), text); break;
    default: AppendValueText(from, row, text);
  }
  static_cast<TextCells&>(cells).Append(text);
}

bool AppendDecimal(const ColumnView& from, size_t row, Cells& cells, const ValueType& to) {
  std::optional<WideDecimal> value;
  int digits = to.scale;
  switch (from.type->kind) {
    case ValueKind::kDecimal:
      value = WideDecimal::FromArrow(from.Fixed(row));
      digits -= from.type->scale;
      break;
    case ValueKind::kInt32:
    case ValueKind::kInt64: value = WideDecimal::Of(IntegerAt(from, row)); break;
    // Without its annotation: what parquet-avro wrote, of the table's own scale.
    case ValueKind::kBinary:
      value = WideDecimal::FromBigEndian(from.Text(row));
      digits = 0;
      break;
    default: value = WideDecimal::FromBigEndian(from.Fixed(row)); digits = 0;
  }
  if (!value || !value->Rescale(digits) || !value->FitsIn(to.width)) return false;
  const auto& words = value->words();
  if (to.width == 16) {
    static_cast<Decimal128Cells&>(cells).Append({words[0], words[1]});
  } else {
    static_cast<Decimal256Cells&>(cells).Append(words);
  }
  return true;
}

bool AppendScaledTime(const ColumnView& from, size_t row, Cells& cells, const ValueType& to) {
  int64_t value = IntegerAt(from, row);
  for (int i = static_cast<int>(from.type->unit); i < static_cast<int>(to.unit); ++i) {
    if (__builtin_mul_overflow(value, 1000, &value)) return false;
  }
  for (int i = static_cast<int>(to.unit); i < static_cast<int>(from.type->unit); ++i) {
    if (value % 1000 != 0) return false;
    value /= 1000;
  }
  if (to.width == 8) {
    static_cast<Int64Cells&>(cells).Append(value);
    return true;
  }
  static_cast<Int32Cells&>(cells).Append(static_cast<int32_t>(value));
  return value == static_cast<int32_t>(value);
}

Status AppendConverted(const ColumnConverter& converter, const ColumnView& from, Cells& cells,
                       const bool& is_full) {
  for (size_t row = 0; row < from.rows; ++row) {
    if (from.IsNull(row)) {
      cells.AppendNull();
      continue;
    }
    bool does_fit = true;
    switch (converter.op) {
      case ConvertOp::kNumber: AppendNumber(from, row, cells, converter.to->kind); break;
      case ConvertOp::kPrintedFloat:
        static_cast<DoubleCells&>(cells).Append(AsPrinted(from.Value<float>(row)));
        break;
      case ConvertOp::kText: AppendText(from, row, cells); break;
      case ConvertOp::kDecimal: does_fit = AppendDecimal(from, row, cells, *converter.to); break;
      default: does_fit = AppendScaledTime(from, row, cells, *converter.to);
    }
    if (!does_fit) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("value does not fit the column's type, column={} type={} written={}",
                              converter.path, converter.to->ToString(), from.type->ToString()));
    }
    if (is_full) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("column grows over what a batch holds, column={} bytes_max={}",
                              converter.path, INT32_MAX));
    }
  }
  return {};
}

// A list's items may begin anywhere: only those of these rows, and the offsets to go with them.
ColumnView WithOwnItems(const ColumnView& from, BatchOwner& owner) {
  ColumnView view = from;
  const int32_t first = from.offsets[0];
  const auto count = static_cast<size_t>(from.offsets[from.rows] - first);
  for (auto& child : view.children) child = child.Slice(static_cast<size_t>(first), count);
  if (first != 0) {
    std::vector<int32_t> offsets(from.offsets, from.offsets + from.rows + 1);
    for (int32_t& offset : offsets) offset -= first;
    view.offsets = reinterpret_cast<const int32_t*>(owner.Keep(std::move(offsets)));
  }
  return view;
}

}  // namespace

Result<ColumnConverter> ColumnConverter::MakeMissing(const ValueField& to, const std::string& path,
                                                     const DecodeOptions& options) {
  ColumnConverter converter;
  converter.op = ConvertOp::kMissing;
  converter.to = &to.type;
  converter.path = path;
  TRY_ASSIGN(converter.missing, PlanMissingField(to, path, options));
  return converter;
}

Result<ColumnConverter> ColumnConverter::Make(const ValueField& from, const ValueField& to,
                                              const std::string& path,
                                              const DecodeOptions& options) {
  ColumnConverter converter;
  converter.to = &to.type;
  converter.path = path;
  const auto op = OpFor(from.type, to.type);
  if (!op) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("column cannot be read as the table's, column={} written={} type={}",
                            path, from.type.ToString(), to.type.ToString()));
  }
  const bool is_float_to_double =
      from.type.kind == ValueKind::kFloat && to.type.kind == ValueKind::kDouble;
  const bool is_printed = is_float_to_double && options.floats == WidenedFloats::kAsPrinted;
  converter.op = is_printed ? ConvertOp::kPrintedFloat : *op;
  const auto& fields = from.type.fields;
  if (converter.op == ConvertOp::kItems) {
    for (size_t i = 0; i < to.type.fields.size(); ++i) {
      const auto& item = to.type.fields[i];
      TRY_ASSIGN(converter.inner.emplace_back(),
                 Make(fields[i], item, path + "." + item.name, options));
    }
  }
  if (converter.op != ConvertOp::kStruct) return converter;
  std::unordered_map<std::string_view, size_t> known;
  for (size_t i = 0; i < fields.size(); ++i) known.try_emplace(fields[i].name, i);
  for (const auto& field : to.type.fields) {
    const std::string place = path + "." + field.name;
    const auto name = WrittenName(field, place, options,
                                  [&](std::string_view one) { return known.contains(one); });
    if (!name) {
      TRY_ASSIGN(converter.inner.emplace_back(), MakeMissing(field, place, options));
      converter.places.push_back(0);
      continue;
    }
    const size_t found = known.at(*name);
    TRY_ASSIGN(converter.inner.emplace_back(), Make(fields[found], field, place, options));
    converter.places.push_back(found);
  }
  return converter;
}

Result<ColumnView> ColumnConverter::MakeRows(size_t rows, BatchOwner& owner) const {
  bool is_full = false;
  const auto one = MakeCells(*to, &is_full);
  TRY(AppendMissing(missing, *one, is_full));
  BatchOwner one_owner;
  const ColumnView value = one->Finish(one_owner);
  const auto cells = MakeCells(*to, &is_full);
  const std::vector<uint32_t> again(rows, 0);
  cells->AppendRows(value, again);
  if (is_full) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("column grows over what a batch holds, column={} bytes_max={}", path,
                            INT32_MAX));
  }
  return cells->Finish(owner);
}

Result<ColumnView> ColumnConverter::Convert(const ColumnView& from, BatchOwner& owner) const {
  if (op == ConvertOp::kMissing) return MakeRows(from.rows, owner);
  if (op == ConvertOp::kSame) {
    ColumnView view = from;
    view.type = to;
    return view;
  }
  if (op == ConvertOp::kStruct) {
    ColumnView view = from;
    view.type = to;
    view.children.clear();
    for (size_t i = 0; i < inner.size(); ++i) {
      if (inner[i].op == ConvertOp::kMissing) {
        TRY_ASSIGN(view.children.emplace_back(), inner[i].MakeRows(from.rows, owner));
      } else {
        TRY_ASSIGN(view.children.emplace_back(), inner[i].Convert(from.children[places[i]], owner));
      }
    }
    return view;
  }
  if (op == ConvertOp::kItems) {
    ColumnView view = WithOwnItems(from, owner);
    view.type = to;
    for (size_t i = 0; i < inner.size(); ++i) {
      TRY_ASSIGN(view.children[i], inner[i].Convert(view.children[i], owner));
    }
    return view;
  }
  bool is_full = false;
  const auto cells = MakeCells(*to, &is_full);
  TRY(AppendConverted(*this, from, *cells, is_full));
  return cells->Finish(owner);
}

}  // namespace tidemark::columnar
