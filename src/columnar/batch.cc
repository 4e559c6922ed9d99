#include "columnar/batch.h"

#include <utility>

#include "base/check.h"
#include "columnar/row_builder.h"

namespace tidemark::columnar {

ColumnView ColumnView::Slice(size_t first, size_t count) const {
  CHECK(first <= rows && count <= rows - first, "slice outside of the column");
  ColumnView slice = *this;
  slice.rows = count;
  slice.bit_offset += first;
  if (offsets != nullptr) {
    slice.offsets += first;
  } else if (values != nullptr) {
    slice.values += first * type->width;  // 0 for booleans, which go by the bit
  }
  if (type->kind == ValueKind::kStruct) {
    for (auto& child : slice.children) child = child.Slice(first, count);
  }
  return slice;
}

Batch Batch::Slice(size_t first, size_t count) const {
  if (first == 0 && count == rows()) return *this;
  auto slice =
      std::make_shared<Storage>(Storage{storage_->type, count, {}, storage_, storage_->bytes});
  slice->columns.reserve(storage_->columns.size());
  for (const auto& column : storage_->columns) {
    slice->columns.push_back(column.Slice(first, count));
  }
  return Batch(std::move(slice));
}

Result<Batch> Select(const Batch& batch, std::span<const uint32_t> rows) {
  bool is_run = true;
  for (size_t i = 1; i < rows.size() && is_run; ++i) is_run = rows[i] == rows[i - 1] + 1;
  if (is_run) return batch.Slice(rows.empty() ? 0 : rows[0], rows.size());
  RowBuilder builder(batch.type());
  TRY(builder.Append(batch, rows));
  return builder.Finish();
}

}  // namespace tidemark::columnar
