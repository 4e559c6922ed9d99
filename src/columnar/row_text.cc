#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/utf8.h"
#include "columnar/batch_writer.h"
#include "columnar/row_text_internal.h"
#include "columnar/value_text_internal.h"
#include "columnar/wide_decimal_internal.h"

namespace tidemark::columnar {
namespace {

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char byte : text) {
    switch (byte) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<uint8_t>(byte) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
        } else {
          out += byte;
        }
    }
  }
}

template <class T>
void AppendReal(T value, std::string& out) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char text[48];
  const auto end = std::to_chars(text, std::end(text), value).ptr;
  out.append(text, end);
  const std::string_view digits(text, static_cast<size_t>(end - text));
  if (digits.find_first_of(".e") == digits.npos) out += ".0";
}

// Whether the text of a value of this kind is a JSON literal by itself.
bool IsLiteral(const ColumnView& column, size_t row) {
  switch (column.type->kind) {
    case ValueKind::kBoolean:
    case ValueKind::kInt32:
    case ValueKind::kInt64: return true;
    case ValueKind::kFloat: return std::isfinite(column.Value<float>(row));
    case ValueKind::kDouble: return std::isfinite(column.Value<double>(row));
    default: return false;
  }
}

void AppendItems(const ColumnView& column, size_t row, std::string& out) {
  const bool is_map = column.type->kind == ValueKind::kMap;
  out += is_map ? '{' : '[';
  const auto begin = static_cast<size_t>(column.offsets[row]);
  for (auto i = begin; i < static_cast<size_t>(column.offsets[row + 1]); ++i) {
    if (i > begin) out += ',';
    if (is_map) {
      AppendJsonString(column.children[0].Text(i), out);
      out += ':';
    }
    AppendValueJson(column.children[is_map ? 1 : 0], i, out);
  }
  out += is_map ? '}' : ']';
}

void AppendStruct(const ColumnView& column, size_t row, std::string& out) {
  out += '{';
  for (size_t i = 0; i < column.children.size(); ++i) {
    if (i > 0) out += ',';
    AppendJsonString(column.type->fields[i].name, out);
    out += ':';
    AppendValueJson(column.children[i], row, out);
  }
  out += '}';
}

}  // namespace

bool IsPlainAscii(std::string_view text) {
  // Without a way out in between the compiler looks at many bytes at once.
  bool is_plain = true;
  for (const char byte : text) {
    is_plain &= byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
  }
  return is_plain;
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  if (IsPlainAscii(text)) {
    out += text;
  } else {
    AppendEscaped(ToValidUtf8(text), out);
  }
  out += '"';
}

bool IsNested(const ValueType& type) {
  return type.kind == ValueKind::kStruct || type.kind == ValueKind::kList ||
         type.kind == ValueKind::kMap;
}

void AppendValueText(const ColumnView& column, size_t row, std::string& out) {
  const ValueType& type = *column.type;
  switch (type.kind) {
    case ValueKind::kBoolean: out += column.Boolean(row) ? "true" : "false"; return;
    case ValueKind::kInt32: return AppendInteger(column.Value<int32_t>(row), out);
    case ValueKind::kInt64: return AppendInteger(column.Value<int64_t>(row), out);
    case ValueKind::kFloat: return AppendReal(column.Value<float>(row), out);
    case ValueKind::kDouble: return AppendReal(column.Value<double>(row), out);
    case ValueKind::kString: out += column.Text(row); return;
    case ValueKind::kBinary: return AppendBase64(column.Text(row), out);
    case ValueKind::kFixed: return AppendBase64(column.Fixed(row), out);
    case ValueKind::kDecimal:
      return WideDecimal::FromArrow(column.Fixed(row)).AppendText(type.scale, out);
    case ValueKind::kDate: return AppendDate(column.Value<int32_t>(row), out);
    case ValueKind::kTime:
      return AppendTime(type.width == 4 ? column.Value<int32_t>(row) : column.Value<int64_t>(row),
                        type.unit, out);
    case ValueKind::kTimestamp:
      return AppendTimestamp(column.Value<int64_t>(row), type.unit, type.is_local, out);
    case ValueKind::kStruct: return AppendStruct(column, row, out);
    case ValueKind::kList:
    case ValueKind::kMap: return AppendItems(column, row, out);
  }
}

void AppendValueJson(const ColumnView& column, size_t row, std::string& out) {
  if (column.IsNull(row)) {
    out += "null";
  } else if (column.type->kind == ValueKind::kString) {
    AppendJsonString(column.Text(row), out);
  } else if (IsLiteral(column, row) || IsNested(*column.type)) {
    AppendValueText(column, row, out);
  } else {
    out += '"';
    AppendValueText(column, row, out);
    out += '"';
  }
}

void AppendRowJson(const Batch& batch, size_t row, std::string& out) {
  char before = '{';
  for (const size_t i : batch.type().visible()) {
    out += before;
    before = ',';
    AppendJsonString(batch.type().columns()[i].name, out);
    out += ':';
    AppendValueJson(batch.column(i), row, out);
  }
  if (before == '{') out += before;
  out += '}';
}

std::string RowJson(const Batch& batch, size_t row) {
  std::string text;
  AppendRowJson(batch, row, text);
  return text;
}

}  // namespace tidemark::columnar
