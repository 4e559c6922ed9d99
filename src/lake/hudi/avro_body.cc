#include <fmt/core.h>

#include "lake/hudi/avro_body_internal.h"

namespace tidemark::lake::hudi {

Status ReadFieldsOf(const avro::Datum& record, std::span<const std::string_view> names, Row row) {
  if (record.type().kind != avro::Kind::kRecord) {
    return Fail(ErrorKind::kUnsupported, fmt::format("a part of the body is no record type={}",
                                                     avro::KindName(record.type().kind)));
  }
  return record.ReadFields(avro::Selection(record.type(), names), row);
}

Status CheckRecordName(const avro::Type& type, std::string_view word) {
  const std::string_view name = type.name;
  if (type.kind == avro::Kind::kRecord && name.substr(name.rfind('.') + 1) == word) return {};
  return Fail(ErrorKind::kUnsupported,
              fmt::format("body is no {} type={} name={}", word, avro::KindName(type.kind), name));
}

Status ReadText(const std::optional<avro::Datum>& field, std::string& text) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(text, field->String());
  return {};
}

}  // namespace tidemark::lake::hudi
