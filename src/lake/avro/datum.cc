#include "lake/avro/datum.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace tidemark::lake::avro {
namespace {

template <class T>
Result<T> Checked(const Wire& wire, T value) {
  if (!wire.ok()) return std::unexpected(wire.ToError());
  return value;
}

}  // namespace

Selection::Selection(const Type& record, std::span<const std::string_view> names)
    : record_(&record), size_(names.size()) {
  for (size_t i = 0; i < names.size(); ++i) {
    const auto field = record.FindField(names[i]);
    if (!field) continue;
    if (slots_.size() <= *field) slots_.resize(*field + 1, kUnwanted);
    slots_[*field] = static_cast<uint32_t>(i);
  }
}

Datum Datum::From(const Type& type, Wire& wire) {
  if (type.kind != Kind::kUnion) return {type, wire.rest(), wire.offset(), 0};
  const size_t branch = wire.ReadIndex(type.branches.size(), Flaw::kBadBranch);
  if (!wire.ok()) return {type, {}, wire.offset(), 0};  // not handed out
  return {*type.branches[branch], wire.rest(), wire.offset(), branch};
}

Result<Datum> Datum::Open(const Type& type, std::string_view bytes, uint64_t offset) {
  Wire wire(bytes, offset);
  const Datum datum = From(type, wire);
  return Checked(wire, datum);
}

std::unexpected<Error> Datum::Mismatch(std::string_view wanted) const {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("avro value is of another type, wanted={} type={} offset={}", wanted,
                          KindName(type_->kind), offset_));
}

Result<int32_t> Datum::Int() const {
  if (type_->kind != Kind::kInt) return Mismatch("int");
  Wire wire = Start();
  const int32_t value = wire.ReadInt();
  return Checked(wire, value);
}

Result<int64_t> Datum::Long() const {
  Wire wire = Start();
  int64_t value = 0;
  if (type_->kind == Kind::kInt) {
    value = wire.ReadInt();
  } else if (type_->kind == Kind::kLong) {
    value = wire.ReadLong();
  } else {
    return Mismatch("long");
  }
  return Checked(wire, value);
}

Result<float> Datum::Float() const {
  if (type_->kind != Kind::kFloat) return Mismatch("float");
  Wire wire = Start();
  const float value = wire.ReadFloat();
  return Checked(wire, value);
}

Result<double> Datum::Double() const {
  Wire wire = Start();
  double value = 0;
  if (type_->kind == Kind::kFloat) {
    value = static_cast<double>(wire.ReadFloat());
  } else if (type_->kind == Kind::kDouble) {
    value = wire.ReadDouble();
  } else {
    return Mismatch("double");
  }
  return Checked(wire, value);
}

Result<std::string_view> Datum::Bytes() const {
  Wire wire = Start();
  std::string_view value;
  if (type_->kind == Kind::kFixed) {
    value = wire.Take(type_->fixed_size);
  } else if (type_->kind == Kind::kBytes || type_->kind == Kind::kString) {
    value = wire.ReadBytes();
  } else {
    return Mismatch("bytes");
  }
  return Checked(wire, value);
}

Result<std::string_view> Datum::String() const {
  if (type_->kind == Kind::kEnum) {
    TRY_ASSIGN(const size_t index, SymbolIndex());
    return std::string_view(type_->symbols[index]);
  }
  if (type_->kind != Kind::kString) return Mismatch("string");
  return Bytes();
}

Result<size_t> Datum::SymbolIndex() const {
  if (type_->kind != Kind::kEnum) return Mismatch("enum");
  Wire wire = Start();
  const size_t index = wire.ReadIndex(type_->symbols.size(), Flaw::kBadSymbol);
  return Checked(wire, index);
}

Status Datum::Boolean(bool& value) const {
  if (type_->kind != Kind::kBoolean) return Mismatch("boolean");
  Wire wire = Start();
  value = wire.ReadBoolean();
  if (!wire.ok()) return std::unexpected(wire.ToError());
  return {};
}

Result<std::optional<Datum>> Datum::Field(std::string_view name) const {
  if (type_->kind != Kind::kRecord) return Mismatch("record");
  const auto index = type_->FindField(name);
  if (!index) return std::nullopt;
  return FieldAt(*index);
}

Result<Datum> Datum::FieldAt(size_t index) const {
  CHECK(type_->kind == Kind::kRecord && index < type_->fields.size(), "no such field");
  Wire wire = Start();
  for (size_t i = 0; i < index && wire.ok(); ++i) wire.Skip(*type_->fields[i].type);
  const Datum datum = From(*type_->fields[index].type, wire);
  return Checked(wire, datum);
}

Status Datum::ReadFields(const Selection& selection, std::span<std::optional<Datum>> row) const {
  CHECK(type_ == selection.record_ && row.size() == selection.size_, "selection of another record");
  std::ranges::fill(row, std::nullopt);
  Wire wire = Start();
  for (size_t i = 0; i < selection.slots_.size(); ++i) {
    const Type& field = *type_->fields[i].type;
    const uint32_t slot = selection.slots_[i];
    if (slot != Selection::kUnwanted) {
      Wire look = wire;
      const Datum datum = From(field, look);
      if (!look.ok()) return std::unexpected(look.ToError());
      row[slot] = datum;
      if (i + 1 == selection.slots_.size()) break;
    }
    wire.Skip(field);
    if (!wire.ok()) return std::unexpected(wire.ToError());
  }
  return {};
}

Result<Items> Datum::OpenItems() const {
  if (type_->kind != Kind::kArray && type_->kind != Kind::kMap) return Mismatch("array or map");
  return Items(*type_, Start());
}

Result<size_t> Datum::Size() const {
  Wire wire = Start();
  wire.Skip(*type_);
  return Checked(wire, wire.position());
}

// Reads block heads until one has items, or the list is at its end.
void Items::OpenBlock() {
  if (block_end_ && *block_end_ != wire_.position()) return wire_.Fail(Flaw::kBlockSizeWrong);
  block_end_.reset();
  const int64_t count = wire_.ReadLong();
  if (count == 0) {
    is_done_ = wire_.ok();
    return;
  }
  items_left_ = static_cast<uint64_t>(count);
  if (count < 0) {
    items_left_ = 0 - items_left_;
    const uint64_t size = wire_.ReadLength();
    if (size > wire_.remaining()) return wire_.Fail(Flaw::kEndsEarly);
    block_end_ = wire_.position() + static_cast<size_t>(size);
  }
  const bool is_map = type_->kind == Kind::kMap;
  if (!is_map && type_->items->is_empty) empty_items_ += items_left_;
  if (items_left_ > wire_.ItemsMax(*type_->items, is_map ? 1 : 0) ||
      empty_items_ > kEmptyItemsMax) {
    wire_.Fail(Flaw::kTooManyItems);
  }
}

Result<std::optional<Items::Entry>> Items::Next() {
  if (is_inside_) {
    wire_.Skip(*type_->items);
    is_inside_ = false;
  }
  if (wire_.ok() && items_left_ == 0 && !is_done_) OpenBlock();
  if (!wire_.ok()) return std::unexpected(wire_.ToError());
  if (is_done_) return std::nullopt;
  --items_left_;
  std::string_view key;
  if (type_->kind == Kind::kMap) key = wire_.ReadBytes();
  Wire look = wire_;
  const Datum value = Datum::From(*type_->items, look);
  if (!look.ok()) {
    wire_ = look;
    return std::unexpected(wire_.ToError());
  }
  is_inside_ = true;
  return Entry{key, value};
}

}  // namespace tidemark::lake::avro
