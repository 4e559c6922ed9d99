#include "scan/text_check.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/utf8.h"
#include "scan/table_columns.h"

namespace tidemark::scan {
namespace {

using columnar::ColumnView;
using columnar::ValueKind;

bool IsUtf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

/// Bytes in the middle of a character: 10xxxxxx.
bool IsInside(uint8_t byte) {
  return (byte & 0xC0) == 0x80;
}

/// All values of a string column at once: their bytes lie one behind the other. Of valid bytes each
/// value is valid when none begins inside of a character.
bool IsAllUtf8(const ColumnView& column) {
  const auto begin = static_cast<size_t>(column.offsets[0]);
  const auto end = static_cast<size_t>(column.offsets[column.rows]);
  if (!IsUtf8({reinterpret_cast<const char*>(column.values) + begin, end - begin})) return false;
  for (size_t row = 0; row < column.rows; ++row) {
    const auto at = static_cast<size_t>(column.offsets[row]);
    if (at < end && IsInside(column.values[at])) return false;
  }
  return true;
}

/// Calls `take` with the row of each value that is not UTF-8, as often as it has such.
void ForEachInvalid(const ColumnView& column, const std::function<void(size_t row)>& take) {
  if (column.rows == 0) return;
  switch (column.type->kind) {
    case ValueKind::kString:
      if (IsAllUtf8(column)) return;
      for (size_t row = 0; row < column.rows; ++row) {
        if (!column.IsNull(row) && !IsUtf8(column.Text(row))) take(row);
      }
      return;
    case ValueKind::kStruct:
      for (const ColumnView& child : column.children) {
        ForEachInvalid(child, [&](size_t row) {
          if (!column.IsNull(row)) take(row);
        });
      }
      return;
    case ValueKind::kList:
    case ValueKind::kMap: {
      const auto first = static_cast<size_t>(column.offsets[0]);
      const auto count = static_cast<size_t>(column.offsets[column.rows]) - first;
      for (const ColumnView& child : column.children) {
        ForEachInvalid(child.Slice(first, count), [&](size_t item) {
          const int32_t* after = std::upper_bound(column.offsets, column.offsets + column.rows,
                                                  static_cast<int32_t>(first + item));
          take(static_cast<size_t>(after - column.offsets) - 1);
        });
      }
      return;
    }
    default: return;
  }
}

}  // namespace

void TextCheck::Look(const columnar::Batch& batch) {
  const auto& columns = batch.type().columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].is_visible) continue;
    ForEachInvalid(batch.column(i), [&](size_t row) {
      if (++values_ > 1) return;
      column_ = columns[i].name;
      const auto key = std::ranges::find(columns, kRecordKeyColumn, &columnar::Column::name);
      if (key == columns.end()) return;
      const ColumnView& keys = batch.column(static_cast<size_t>(key - columns.begin()));
      if (!keys.IsNull(row)) key_ = Printable(keys.Text(row));
    });
  }
}

std::optional<lake::Finding> TextCheck::Found(std::string place) const {
  if (values_ == 0) return std::nullopt;
  return lake::Finding{
      "invalid_text", std::move(place),
      fmt::format(
          "text is not UTF-8; JSON and CSV show U+FFFD for its bytes, values={} column={}{}",
          values_, Printable(column_), key_.empty() ? "" : " key=" + key_)};
}

}  // namespace tidemark::scan
