/// Reading the bodies that are one Avro record in a container: plans, and what services leave.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "lake/avro/container.h"
#include "lake/avro/datum.h"

namespace tidemark::lake::hudi {

using Row = std::span<std::optional<avro::Datum>>;

/// The named fields of a record. kUnsupported for another type.
Status ReadFieldsOf(const avro::Datum& record, std::span<const std::string_view> names, Row row);

/// kUnsupported unless `type` is a record whose name without its namespace is `word`: many records
/// of a timeline have fields in common, and must not pass for each other.
Status CheckRecordName(const avro::Type& type, std::string_view word);

/// A nullable string; absent and null leave it as it was.
Status ReadText(const std::optional<avro::Datum>& field, std::string& text);

/// Calls `read` with each entry of a nullable map or array.
template <class Read>
Status ForEach(const std::optional<avro::Datum>& field, const Read& read) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(auto items, field->OpenItems());
  while (true) {
    TRY_ASSIGN(const auto item, items.Next());
    if (!item) return {};
    TRY(read(*item));
  }
}

/// What `read` makes of the only record of a container. `what` is it, for messages. kCorrupt when
/// it holds another number of records or is not whole.
template <class Read>
auto ReadOnlyRecord(std::string_view body, std::string_view what, const Read& read)
    -> decltype(read(std::declval<const avro::Datum&>())) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, std::string(what) + " holds no record");
  TRY_ASSIGN(auto value, read(*record));
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, std::string(what) + " holds several records");
  return value;
}

}  // namespace tidemark::lake::hudi
