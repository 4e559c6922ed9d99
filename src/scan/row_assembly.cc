#include "scan/row_assembly.h"

#include <optional>
#include <string>

#include "columnar/batch_writer.h"

namespace tidemark::scan {
namespace {

using columnar::ColumnView;
using columnar::ValueKind;
using merge::Fill;

/// Whether a value is, by the table's rule, as good as not there.
bool IsUnset(Fill fill, const columnar::Column& column, const ColumnView& view, size_t row,
             const merge::TableSettings& settings) {
  switch (fill) {
    case Fill::kNone: return false;
    case Fill::kNulls: return view.IsNull(row);
    case Fill::kNullDefaults:
      return view.IsNull(row) && column.default_json && *column.default_json == "null";
    case Fill::kDefaults: {
      if (!column.default_json) return false;
      std::string json;
      columnar::AppendValueJson(view, row, json);
      return json == *column.default_json;
    }
    case Fill::kUnavailable:
      return (column.type.kind == ValueKind::kString || column.type.kind == ValueKind::kBinary) &&
             !view.IsNull(row) && view.Text(row) == settings.unavailable_value;
  }
  return false;
}

}  // namespace

Status AppendLayers(const merge::Merged& merged, const merge::TableSettings& settings,
                    const LogVersions& logs, RowStore& rows, const BaseRow& base,
                    columnar::RowBuilder& builder) {
  std::vector<columnar::Batch> decoded;
  std::vector<columnar::CellSource> sources;
  decoded.reserve(merged.layers.size() + 1);  // the sources point into it
  for (const merge::Version& layer : merged.layers) {
    if (layer.row == kBaseRow) {
      sources.push_back({base.batch, base.row});
      continue;
    }
    TRY_ASSIGN(auto batch, rows.Decode(layer.row));
    decoded.push_back(std::move(batch));
    sources.push_back({&decoded.back(), 0});
  }
  std::optional<columnar::CellSource> meta;
  if (merged.meta_row != merge::kNoRow) {
    TRY_ASSIGN(auto batch, rows.Decode(merged.meta_row));
    decoded.push_back(std::move(batch));
    meta = columnar::CellSource{&decoded.back(), 0};
  }
  const auto& columns = rows.type().columns();
  std::vector<columnar::CellSource> cells(columns.size());
  for (size_t column = 0; column < columns.size(); ++column) {
    std::optional<columnar::CellSource> first;
    if (meta && columnar::IsMetaColumn(columns[column].name)) {
      cells[column] = *meta;
      continue;
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      if (!logs.HasColumn(merged.layers[i].columns, column)) continue;
      if (!first) first = sources[i];
      const ColumnView& view = sources[i].batch->column(column);
      if (IsUnset(merged.fill, columns[column], view, sources[i].row, settings)) continue;
      first = sources[i];
      break;
    }
    if (first) cells[column] = *first;
  }
  return builder.AppendCells(cells);
}

}  // namespace tidemark::scan
