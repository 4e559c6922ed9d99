/// The cells of one column while a batch is being built: growing buffers in Arrow's layout.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "columnar/batch.h"
#include "columnar/bits_internal.h"
#include "columnar/value_type.h"

namespace tidemark::columnar {

/// What finished columns point to.
class BatchOwner {
 public:
  template <class T>
  const uint8_t* Keep(std::vector<T> buffer) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(buffer));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(kept->data());
    bytes_ += kept->capacity() * sizeof(T);
    buffers_.push_back(std::move(kept));
    return bytes;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::vector<std::shared_ptr<const void>> buffers_;
  size_t bytes_ = 0;
};

/// A column of any kind. `is_full` of the whole builder is set when offsets would pass 31 bits: the
/// caller then takes the rows back.
class Cells {
 public:
  virtual ~Cells() = default;

  size_t rows() const { return rows_; }
  virtual void AppendNull() = 0;
  /// REQUIRES for both: the view has this column's layout.
  virtual void AppendRun(const ColumnView& from, size_t first, size_t count) = 0;
  virtual void AppendRows(const ColumnView& from, std::span<const uint32_t> rows);
  /// Takes back all rows from `rows` on.
  virtual void Truncate(size_t rows) = 0;
  /// Empties the column.
  virtual ColumnView Finish(BatchOwner& owner) = 0;
  virtual size_t bytes() const = 0;

 protected:
  explicit Cells(const ValueType& type) : type_(&type) {}
  void MarkValid() { validity_.Append(true, rows_++); }
  void MarkNull() { validity_.Append(false, rows_++); }
  void MarkRun(const ColumnView& from, size_t first, size_t count) {
    validity_.AppendRun(from.validity, from.bit_offset + first, count, rows_);
    rows_ += count;
  }
  void TruncateValidity(size_t rows) {
    validity_.Truncate(rows);
    rows_ = rows;
  }
  ColumnView FinishValidity(BatchOwner& owner);

  const ValueType* type_;
  size_t rows_ = 0;
  Validity validity_;
};

template <class T>
class PlainCells final : public Cells {
 public:
  explicit PlainCells(const ValueType& type) : Cells(type) {}

  void Append(T value) {
    values_.push_back(value);
    MarkValid();
  }
  void AppendNull() override {
    values_.push_back(T{});
    MarkNull();
  }
  void AppendRun(const ColumnView& from, size_t first, size_t count) override {
    const auto* const start = reinterpret_cast<const T*>(from.values) + first;
    values_.insert(values_.end(), start, start + count);
    MarkRun(from, first, count);
  }
  void AppendRows(const ColumnView& from, std::span<const uint32_t> rows) override;
  void Truncate(size_t rows) override {
    values_.resize(rows);
    TruncateValidity(rows);
  }
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override { return values_.size() * sizeof(T) + validity_.bytes(); }

 private:
  std::vector<T> values_;
};

using Int32Cells = PlainCells<int32_t>;
using Int64Cells = PlainCells<int64_t>;
using FloatCells = PlainCells<float>;
using DoubleCells = PlainCells<double>;
using Decimal128Cells = PlainCells<std::array<uint64_t, 2>>;
using Decimal256Cells = PlainCells<std::array<uint64_t, 4>>;

class BooleanCells final : public Cells {
 public:
  explicit BooleanCells(const ValueType& type) : Cells(type) {}
  void Append(bool value) {
    values_.Append(value);
    MarkValid();
  }
  void AppendNull() override {
    values_.Append(false);
    MarkNull();
  }
  void AppendRun(const ColumnView& from, size_t first, size_t count) override {
    values_.AppendRun(from.values, from.bit_offset + first, count);
    MarkRun(from, first, count);
  }
  void Truncate(size_t rows) override {
    values_.Truncate(rows);
    TruncateValidity(rows);
  }
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override { return values_.bytes() + validity_.bytes(); }

 private:
  Bits values_;
};

/// Strings and binaries.
class TextCells final : public Cells {
 public:
  TextCells(const ValueType& type, bool* is_full) : Cells(type), is_full_(is_full) {}
  void Append(std::string_view value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    PushEnd();
    MarkValid();
  }
  void AppendNull() override {
    PushEnd();
    MarkNull();
  }
  void AppendRun(const ColumnView& from, size_t first, size_t count) override;
  void AppendRows(const ColumnView& from, std::span<const uint32_t> rows) override;
  void Truncate(size_t rows) override {
    ends_.resize(rows + 1);
    bytes_.resize(static_cast<size_t>(ends_.back()));
    TruncateValidity(rows);
  }
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override {
    return bytes_.size() + ends_.size() * sizeof(int32_t) + validity_.bytes();
  }

 private:
  void PushEnd() {
    if (bytes_.size() > INT32_MAX) *is_full_ = true;
    ends_.push_back(static_cast<int32_t>(bytes_.size()));
  }

  std::vector<char> bytes_;
  std::vector<int32_t> ends_ = {0};
  bool* is_full_;
};

class FixedCells final : public Cells {
 public:
  explicit FixedCells(const ValueType& type) : Cells(type) {}
  /// REQUIRES: `value` has the type's width, or is empty after a flaw.
  void Append(std::string_view value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    bytes_.resize((rows_ + 1) * type_->width);
    MarkValid();
  }
  void AppendNull() override {
    bytes_.resize((rows_ + 1) * type_->width);
    MarkNull();
  }
  void AppendRun(const ColumnView& from, size_t first, size_t count) override {
    const auto* const start = from.values + first * type_->width;
    bytes_.insert(bytes_.end(), start, start + count * type_->width);
    MarkRun(from, first, count);
  }
  void Truncate(size_t rows) override {
    bytes_.resize(rows * type_->width);
    TruncateValidity(rows);
  }
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override { return bytes_.size() + validity_.bytes(); }

 private:
  std::vector<uint8_t> bytes_;
};

class StructCells final : public Cells {
 public:
  StructCells(const ValueType& type, bool* is_full);
  std::span<const std::unique_ptr<Cells>> fields() const { return fields_; }
  /// Behind one row of each field.
  void EndRow() { MarkValid(); }
  void AppendNull() override;
  void AppendRun(const ColumnView& from, size_t first, size_t count) override;
  void AppendRows(const ColumnView& from, std::span<const uint32_t> rows) override;
  void Truncate(size_t rows) override;
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override;

 private:
  std::vector<std::unique_ptr<Cells>> fields_;
};

/// Lists and maps.
class ListCells final : public Cells {
 public:
  ListCells(const ValueType& type, bool* is_full);
  /// The items; the keys and values of a map.
  Cells& field(size_t index) { return *fields_[index]; }
  /// Behind the items of one row.
  void EndRow() {
    PushEnd();
    MarkValid();
  }
  void AppendNull() override {
    PushEnd();
    MarkNull();
  }
  void AppendRun(const ColumnView& from, size_t first, size_t count) override;
  void Truncate(size_t rows) override;
  ColumnView Finish(BatchOwner& owner) override;
  size_t bytes() const override;

 private:
  void PushEnd() {
    if (fields_[0]->rows() > INT32_MAX) *is_full_ = true;
    ends_.push_back(static_cast<int32_t>(fields_[0]->rows()));
  }

  std::vector<std::unique_ptr<Cells>> fields_;
  std::vector<int32_t> ends_ = {0};
  bool* is_full_;
};

/// Empty cells of a type, which must outlive them and the views they finish.
std::unique_ptr<Cells> MakeCells(const ValueType& type, bool* is_full);

}  // namespace tidemark::columnar
