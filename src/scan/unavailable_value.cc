#include "scan/unavailable_value.h"

#include <algorithm>

namespace tidemark::scan {

std::vector<uint32_t> RowsWithValue(const columnar::Batch& batch, std::string_view value) {
  using columnar::ValueKind;
  std::vector<uint32_t> found;
  if (value.empty()) return found;
  for (size_t i = 0; i < batch.type().size(); ++i) {
    const auto& column = batch.type().columns()[i];
    const bool is_text =
        column.type.kind == ValueKind::kString || column.type.kind == ValueKind::kBinary;
    if (!is_text || !column.is_visible) continue;
    const columnar::ColumnView& view = batch.column(i);
    for (size_t row = 0; row < batch.rows(); ++row) {
      const auto size = static_cast<size_t>(view.offsets[row + 1] - view.offsets[row]);
      if (size == value.size() && !view.IsNull(row) && view.Text(row) == value) {
        found.push_back(static_cast<uint32_t>(row));
      }
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace tidemark::scan
