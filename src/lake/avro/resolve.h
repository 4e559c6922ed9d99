/// Values written under one schema, read as if they had been written under another (specification
/// 1.12, "Schema Resolution").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "lake/avro/datum.h"
#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

struct ResolvePlan;  // of the resolver
class ResolvedItems;

/// A value of the reader's type over the bytes of the writer's, or of a default. As with Datum the
/// type is never a union, and nothing is decoded before it is asked for. Borrows the bytes and the
/// Resolution; copies are cheap. Any thread. Errors of every method: as Datum's; kUnsupported also
/// for an enum symbol that the reader does not know and has no default for.
class Resolved {
 public:
  const Type& type() const;
  bool is_null() const { return type().kind == Kind::kNull; }
  /// Of the reader's union; 0 when it has none here.
  size_t branch() const { return branch_; }

  Result<int32_t> Int() const;
  Result<int64_t> Long() const;             ///< of an int or a long
  Result<float> Float() const;              ///< of a float; nearest when a long was written
  Result<double> Double() const;            ///< of a float or a double
  Result<std::string_view> Bytes() const;   ///< of bytes, string or fixed
  Result<std::string_view> String() const;  ///< of a string or an enum (its symbol)
  Status Boolean(bool& value) const;

  /// All fields of a record in the reader's order, in one pass over the writer's. REQUIRES: `row`
  /// has a place for each of type().fields.
  Status ReadFields(std::span<std::optional<Resolved>> row) const;
  /// Of an array or a map.
  Result<ResolvedItems> OpenItems() const;

 private:
  friend class Resolution;
  friend class ResolvedItems;
  Resolved(const ResolvePlan& plan, const Datum& datum, size_t branch)
      : plan_(&plan), datum_(datum), branch_(branch) {}
  static Result<Resolved> Make(const ResolvePlan& plan, const Datum& datum);
  std::unexpected<Error> Mismatch(std::string_view wanted) const;

  const ResolvePlan* plan_;
  Datum datum_;  // of the writer, or of a default
  size_t branch_;
};

/// As Items.
class ResolvedItems {
 public:
  struct Entry {
    std::string_view key;  ///< empty in an array
    Resolved value;
  };
  Result<std::optional<Entry>> Next();

 private:
  friend class Resolved;
  ResolvedItems(const ResolvePlan& plan, const Items& items) : plan_(&plan), items_(items) {}

  const ResolvePlan* plan_;  // of the items
  Items items_;
};

/// How one schema is read as another; made once for many values. Copies share. Any thread.
///
/// Where this differs from the specification: as in Java, record names are not compared outside of
/// unions, and of a reader's union the branch of the very type comes before one that needs a
/// promotion, wherever it stands. Two different logical types, or decimals of different scale, do
/// not resolve: reading milliseconds as microseconds gives a wrong value.
class Resolution {
 public:
  /// kUnsupported when no value can be read: the message has the path in the reader's schema and
  /// the reason. A branch of a writer's union that cannot be read is no error before a value has
  /// it. kCorrupt: a default that does not fit its type, where it is needed. kExhausted: the two
  /// schemas multiply to more than kResolvePlansMax pairs of types, or as EncodeDefault.
  static Result<Resolution> Make(Schema writer, Schema reader);

  const Schema& writer() const { return writer_; }
  const Schema& reader() const { return reader_; }

  /// The value of the writer's root that starts at the first of `bytes`; as Datum::Open.
  Result<Resolved> Open(std::string_view bytes, uint64_t offset = 0) const;

  struct Storage;  // of the resolver

 private:
  Resolution(Schema writer, Schema reader, std::shared_ptr<const Storage> storage,
             const ResolvePlan* root)
      : writer_(std::move(writer)),
        reader_(std::move(reader)),
        storage_(std::move(storage)),
        root_(root) {}

  Schema writer_;
  Schema reader_;
  std::shared_ptr<const Storage> storage_;
  const ResolvePlan* root_;
};

inline constexpr size_t kResolvePlansMax = 1 << 18;

}  // namespace tidemark::lake::avro
