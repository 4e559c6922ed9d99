#include <utility>

#include "columnar/cells_internal.h"

namespace tidemark::columnar {

void Cells::AppendRows(const ColumnView& from, std::span<const uint32_t> rows) {
  for (const uint32_t row : rows) AppendRun(from, row, 1);
}

ColumnView Cells::FinishValidity(BatchOwner& owner) {
  ColumnView view;
  view.type = type_;
  view.rows = std::exchange(rows_, 0);
  auto bits = validity_.Take();
  if (!bits.empty()) view.validity = owner.Keep(std::move(bits));
  return view;
}

template <class T>
void PlainCells<T>::AppendRows(const ColumnView& from, std::span<const uint32_t> rows) {
  const auto* const values = reinterpret_cast<const T*>(from.values);
  values_.reserve(values_.size() + rows.size());
  for (const uint32_t row : rows) {
    values_.push_back(values[row]);
    validity_.Append(!from.IsNull(row), rows_++);
  }
}

template <class T>
ColumnView PlainCells<T>::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  view.values = owner.Keep(std::exchange(values_, {}));
  return view;
}

template class PlainCells<int32_t>;
template class PlainCells<int64_t>;
template class PlainCells<float>;
template class PlainCells<double>;
template class PlainCells<std::array<uint64_t, 2>>;
template class PlainCells<std::array<uint64_t, 4>>;

ColumnView BooleanCells::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  view.values = owner.Keep(values_.Take());
  return view;
}

void TextCells::AppendRun(const ColumnView& from, size_t first, size_t count) {
  const int32_t* const ends = from.offsets + first;
  const auto* const start = reinterpret_cast<const char*>(from.values);
  // What is too much is not worth copying.
  if (bytes_.size() + static_cast<size_t>(ends[count] - ends[0]) > INT32_MAX) *is_full_ = true;
  if (*is_full_) return;
  const auto shift = static_cast<int32_t>(bytes_.size()) - ends[0];
  bytes_.insert(bytes_.end(), start + ends[0], start + ends[count]);
  for (size_t i = 1; i <= count; ++i) ends_.push_back(ends[i] + shift);
  MarkRun(from, first, count);
}

void TextCells::AppendRows(const ColumnView& from, std::span<const uint32_t> rows) {
  uint64_t size = bytes_.size();
  for (const uint32_t row : rows) {
    size += static_cast<uint64_t>(from.offsets[row + 1]) - static_cast<uint64_t>(from.offsets[row]);
  }
  if (size > INT32_MAX) *is_full_ = true;
  if (*is_full_) return;
  bytes_.reserve(size);
  ends_.reserve(ends_.size() + rows.size());
  // What the merge keeps lies in runs.
  for (size_t i = 0; i < rows.size() && !*is_full_;) {
    size_t count = 1;
    while (i + count < rows.size() && rows[i + count] == rows[i] + count) ++count;
    AppendRun(from, rows[i], count);
    i += count;
  }
}

ColumnView TextCells::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  view.values = owner.Keep(std::exchange(bytes_, {}));
  view.offsets =
      reinterpret_cast<const int32_t*>(owner.Keep(std::exchange(ends_, std::vector<int32_t>{0})));
  return view;
}

ColumnView FixedCells::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  view.values = owner.Keep(std::exchange(bytes_, {}));
  return view;
}

StructCells::StructCells(const ValueType& type, bool* is_full) : Cells(type) {
  for (const auto& field : type.fields) fields_.push_back(MakeCells(field.type, is_full));
}

void StructCells::AppendNull() {
  for (const auto& field : fields_) field->AppendNull();
  MarkNull();
}

void StructCells::AppendRun(const ColumnView& from, size_t first, size_t count) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i]->AppendRun(from.children[i], first, count);
  }
  MarkRun(from, first, count);
}

void StructCells::AppendRows(const ColumnView& from, std::span<const uint32_t> rows) {
  for (size_t i = 0; i < fields_.size(); ++i) fields_[i]->AppendRows(from.children[i], rows);
  for (const uint32_t row : rows) validity_.Append(!from.IsNull(row), rows_++);
}

void StructCells::Truncate(size_t rows) {
  for (const auto& field : fields_) field->Truncate(rows);
  TruncateValidity(rows);
}

ColumnView StructCells::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  for (const auto& field : fields_) view.children.push_back(field->Finish(owner));
  return view;
}

size_t StructCells::bytes() const {
  size_t sum = validity_.bytes();
  for (const auto& field : fields_) sum += field->bytes();
  return sum;
}

ListCells::ListCells(const ValueType& type, bool* is_full) : Cells(type), is_full_(is_full) {
  for (const auto& field : type.fields) fields_.push_back(MakeCells(field.type, is_full));
}

void ListCells::AppendRun(const ColumnView& from, size_t first, size_t count) {
  const int32_t* const ends = from.offsets + first;
  const auto items = static_cast<size_t>(ends[count] - ends[0]);
  if (fields_[0]->rows() + items > INT32_MAX) *is_full_ = true;
  if (*is_full_) return;
  const auto shift = static_cast<int32_t>(fields_[0]->rows()) - ends[0];
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i]->AppendRun(from.children[i], static_cast<size_t>(ends[0]), items);
  }
  if (*is_full_) return;
  for (size_t i = 1; i <= count; ++i) ends_.push_back(ends[i] + shift);
  MarkRun(from, first, count);
}

void ListCells::Truncate(size_t rows) {
  ends_.resize(rows + 1);
  for (const auto& field : fields_) field->Truncate(static_cast<size_t>(ends_.back()));
  TruncateValidity(rows);
}

ColumnView ListCells::Finish(BatchOwner& owner) {
  ColumnView view = FinishValidity(owner);
  view.offsets =
      reinterpret_cast<const int32_t*>(owner.Keep(std::exchange(ends_, std::vector<int32_t>{0})));
  for (const auto& field : fields_) view.children.push_back(field->Finish(owner));
  return view;
}

size_t ListCells::bytes() const {
  size_t sum = validity_.bytes() + ends_.size() * sizeof(int32_t);
  for (const auto& field : fields_) sum += field->bytes();
  return sum;
}

std::unique_ptr<Cells> MakeCells(const ValueType& type, bool* is_full) {
  switch (type.kind) {
    case ValueKind::kBoolean: return std::make_unique<BooleanCells>(type);
    case ValueKind::kInt32:
    case ValueKind::kDate: return std::make_unique<Int32Cells>(type);
    case ValueKind::kInt64:
    case ValueKind::kTimestamp: return std::make_unique<Int64Cells>(type);
    case ValueKind::kTime:
      if (type.width == 4) return std::make_unique<Int32Cells>(type);
      return std::make_unique<Int64Cells>(type);
    case ValueKind::kFloat: return std::make_unique<FloatCells>(type);
    case ValueKind::kDouble: return std::make_unique<DoubleCells>(type);
    case ValueKind::kString:
    case ValueKind::kBinary: return std::make_unique<TextCells>(type, is_full);
    case ValueKind::kFixed: return std::make_unique<FixedCells>(type);
    case ValueKind::kDecimal:
      if (type.width == 16) return std::make_unique<Decimal128Cells>(type);
      return std::make_unique<Decimal256Cells>(type);
    case ValueKind::kStruct: return std::make_unique<StructCells>(type, is_full);
    case ValueKind::kList:
    case ValueKind::kMap: break;
  }
  return std::make_unique<ListCells>(type, is_full);
}

}  // namespace tidemark::columnar
