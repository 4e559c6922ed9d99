/// One encoded Avro value looked at in place, under the schema it was written with. Nothing is
/// copied and nothing is decoded before it is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/avro/schema.h"
#include "lake/avro/wire.h"

namespace tidemark::lake::avro {

class Items;

/// The places of some fields of one record type, looked up once for many records. Borrows the type.
class Selection {
 public:
  /// A name the record does not have stays absent in every row.
  Selection(const Type& record, std::span<const std::string_view> names);
  const Type& record() const { return *record_; }
  size_t size() const { return size_; }

 private:
  friend class Datum;
  static constexpr uint32_t kUnwanted = ~uint32_t{0};
  const Type* record_;
  size_t size_;
  std::vector<uint32_t> slots_;  // per field, up to the last wanted one: place in the row
};

/// A value and its type. The type is never a union: a union is stepped through to its branch when
/// the view is made. Borrows the bytes and the schema; copies are cheap. Any thread.
///
/// Errors of every method: kCorrupt with the byte offset for damaged bytes, kUnsupported when the
/// schema says another type than the one asked for.
class Datum {
 public:
  /// The value of `type` that starts at the first of `bytes`; what follows it is not looked at.
  /// `offset`: of the first byte, for messages.
  static Result<Datum> Open(const Type& type, std::string_view bytes, uint64_t offset = 0);

  const Type& type() const { return *type_; }
  bool is_null() const { return type_->kind == Kind::kNull; }
  /// Which branch of the union it was; 0 when the schema has no union here.
  size_t branch() const { return branch_; }
  /// Of the first byte behind the union's branch number.
  uint64_t offset() const { return offset_; }

  Result<int32_t> Int() const;              ///< of an int
  Result<int64_t> Long() const;             ///< of an int or a long
  Result<float> Float() const;              ///< of a float
  Result<double> Double() const;            ///< of a float or a double
  Result<std::string_view> Bytes() const;   ///< of bytes, string or fixed
  Result<std::string_view> String() const;  ///< of a string or an enum (its symbol); not checked
                                            ///< to be UTF-8
  Result<size_t> SymbolIndex() const;       ///< of an enum
  /// Of a boolean. A Status with the value as out-parameter, as no Result holds a truth.
  Status Boolean(bool& value) const;

  /// A record's field; nullopt when the schema has none of that name. Cost: skips the fields before
  /// it.
  Result<std::optional<Datum>> Field(std::string_view name) const;
  /// A record's field at its place in the schema. REQUIRES: index < type().fields.size() on a
  /// record.
  Result<Datum> FieldAt(size_t index) const;
  /// The selected fields in one pass, which ends behind the last of them; `row` has
  /// `selection.size()` places. REQUIRES: the selection was made for this type.
  Status ReadFields(const Selection& selection, std::span<std::optional<Datum>> row) const;

  /// Of an array or a map.
  Result<Items> OpenItems() const;

  /// Bytes the value takes, from offset() on. Cost: passes over the whole value.
  Result<size_t> Size() const;

 private:
  friend class Items;
  Datum(const Type& type, std::string_view bytes, uint64_t offset, size_t branch)
      : type_(&type), bytes_(bytes), offset_(offset), branch_(branch) {}
  static Datum From(const Type& type, Wire& wire);
  Wire Start() const { return Wire(bytes_, offset_); }
  std::unexpected<Error> Mismatch(std::string_view wanted) const;

  const Type* type_;
  std::string_view bytes_;  // from the value to the end of what surrounds it
  uint64_t offset_;
  size_t branch_;
};

/// Walks the items of an array or the entries of a map, in the order written. Borrows what its
/// datum borrows. Single-threaded.
class Items {
 public:
  struct Entry {
    std::string_view key;  ///< empty in an array
    Datum value;
  };

  /// nullopt behind the last item; after an error always that error. Keys of a map may repeat: the
  /// last one counts.
  Result<std::optional<Entry>> Next();

 private:
  friend class Datum;
  Items(const Type& type, Wire wire) : type_(&type), wire_(wire) {}
  void OpenBlock();

  const Type* type_;
  Wire wire_;
  bool is_inside_ = false;  // the item handed out last has not been passed over yet
  uint64_t items_left_ = 0;
  uint64_t empty_items_ = 0;
  std::optional<size_t> block_end_;
  bool is_done_ = false;
};

}  // namespace tidemark::lake::avro
