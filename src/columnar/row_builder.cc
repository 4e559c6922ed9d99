#include "columnar/row_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "columnar/cells_internal.h"
#include "columnar/record_plan_internal.h"

namespace tidemark::columnar {

struct RowBuilder::State {
  explicit State(RowType row_type) : type(std::move(row_type)) {
    for (const auto& column : type.columns()) cells.push_back(MakeCells(column.type, &is_full));
  }

  // Behind an append: all columns have their rows, or none has.
  Status Settle(size_t rows_after, Status done) {
    if (done && !is_full) {
      rows = rows_after;
      return done;
    }
    for (const auto& column : cells) column->Truncate(rows);
    if (std::exchange(is_full, false) && done) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("rows being built take too much, column_bytes_max={}", INT32_MAX));
    }
    return done;
  }

  RowType type;
  std::vector<std::unique_ptr<Cells>> cells;
  size_t rows = 0;
  bool is_full = false;  // set by the cells
};

RowBuilder::RowBuilder(RowType type) : state_(std::make_unique<State>(std::move(type))) {}
RowBuilder::~RowBuilder() = default;
RowBuilder::RowBuilder(RowBuilder&&) noexcept = default;
RowBuilder& RowBuilder::operator=(RowBuilder&&) noexcept = default;

const RowType& RowBuilder::type() const {
  return state_->type;
}

size_t RowBuilder::rows() const {
  return state_->rows;
}

size_t RowBuilder::bytes() const {
  size_t sum = 0;
  for (const auto& column : state_->cells) sum += column->bytes();
  return sum;
}

Status RowBuilder::Append(const RecordDecoder& decoder, std::string_view record, uint64_t offset) {
  CHECK(decoder.type() == state_->type, "decoder of another row type");
  return state_->Settle(state_->rows + 1, DecodeRecord(decoder.plan(), record, offset,
                                                       state_->cells, state_->is_full));
}

Status RowBuilder::Append(const Batch& batch, size_t first, size_t count) {
  CHECK(batch.type() == state_->type, "batch of another row type");
  CHECK(first <= batch.rows() && count <= batch.rows() - first, "rows outside of the batch");
  for (size_t i = 0; i < state_->cells.size() && !state_->is_full; ++i) {
    state_->cells[i]->AppendRun(batch.column(i), first, count);
  }
  return state_->Settle(state_->rows + count, {});
}

Status RowBuilder::Append(const Batch& batch, std::span<const uint32_t> rows) {
  CHECK(batch.type() == state_->type, "batch of another row type");
  const bool is_inside =
      std::ranges::all_of(rows, [&](uint32_t row) { return row < batch.rows(); });
  CHECK(is_inside, "rows outside of the batch");
  for (size_t i = 0; i < state_->cells.size() && !state_->is_full; ++i) {
    state_->cells[i]->AppendRows(batch.column(i), rows);
  }
  return state_->Settle(state_->rows + rows.size(), {});
}

Status RowBuilder::AppendCells(std::span<const CellSource> cells) {
  CHECK(cells.size() == state_->cells.size(), "cells of another row type");
  for (size_t i = 0; i < cells.size() && !state_->is_full; ++i) {
    if (cells[i].batch == nullptr) {
      state_->cells[i]->AppendNull();
      continue;
    }
    CHECK(cells[i].batch->type() == state_->type, "batch of another row type");
    CHECK(cells[i].row < cells[i].batch->rows(), "row outside of the batch");
    state_->cells[i]->AppendRun(cells[i].batch->column(i), cells[i].row, 1);
  }
  return state_->Settle(state_->rows + 1, {});
}

Batch RowBuilder::Finish() {
  auto owner = std::make_shared<BatchOwner>();
  auto storage = std::make_shared<Batch::Storage>(
      Batch::Storage{state_->type, std::exchange(state_->rows, 0), {}, nullptr, 0});
  for (const auto& column : state_->cells) storage->columns.push_back(column->Finish(*owner));
  storage->bytes = owner->bytes();
  storage->owner = std::move(owner);
  return Batch(std::move(storage));
}

}  // namespace tidemark::columnar
