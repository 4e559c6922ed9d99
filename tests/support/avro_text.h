/// An Avro value as text, in the form that testdata/avro/generate.py writes.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>

#include "lake/avro/datum.h"

namespace tidemark::support {

inline std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// `is_in_union`: the schema has a union at this place.
Result<std::string> AvroText(const lake::avro::Datum& datum, bool is_in_union);

inline Result<std::string> AvroItemsText(const lake::avro::Datum& datum) {
  const bool is_map = datum.type().kind == lake::avro::Kind::kMap;
  const bool is_union = datum.type().items->kind == lake::avro::Kind::kUnion;
  TRY_ASSIGN(auto items, datum.OpenItems());
  std::string text;
  while (true) {
    TRY_ASSIGN(const auto entry, items.Next());
    if (!entry) break;
    if (!text.empty()) text += ",";
    if (is_map) text += Hex(entry->key) + "=";
    TRY_ASSIGN(const auto item, AvroText(entry->value, is_union));
    text += item;
  }
  return is_map ? "<" + text + ">" : "[" + text + "]";
}

inline Result<std::string> AvroRecordText(const lake::avro::Datum& datum) {
  std::string text;
  for (size_t i = 0; i < datum.type().fields.size(); ++i) {
    const auto& field = datum.type().fields[i];
    TRY_ASSIGN(const auto value, datum.FieldAt(i));
    TRY_ASSIGN(const auto item, AvroText(value, field.type->kind == lake::avro::Kind::kUnion));
    if (i > 0) text += ",";
    text += field.name + "=" + item;
  }
  return "{" + text + "}";
}

inline Result<std::string> AvroPlainText(const lake::avro::Datum& datum) {
  using lake::avro::Kind;
  switch (datum.type().kind) {
    case Kind::kNull: return "null";
    case Kind::kBoolean: {
      bool value = false;
      TRY(datum.Boolean(value));
      return value ? "true" : "false";
    }
    case Kind::kInt:
    case Kind::kLong: {
      TRY_ASSIGN(const auto value, datum.Long());
      return std::to_string(value);
    }
    case Kind::kFloat: {
      TRY_ASSIGN(const auto value, datum.Float());
      return fmt::format("f:{:08x}", std::bit_cast<uint32_t>(value));
    }
    case Kind::kDouble: {
      TRY_ASSIGN(const auto value, datum.Double());
      return fmt::format("d:{:016x}", std::bit_cast<uint64_t>(value));
    }
    case Kind::kEnum: {
      TRY_ASSIGN(const auto value, datum.String());
      return fmt::format("e:{}", value);
    }
    case Kind::kString: {
      TRY_ASSIGN(const auto value, datum.String());
      return "s:" + Hex(value);
    }
    default: {
      TRY_ASSIGN(const auto value, datum.Bytes());
      return "b:" + Hex(value);
    }
  }
}

inline Result<std::string> AvroText(const lake::avro::Datum& datum, bool is_in_union) {
  using lake::avro::Kind;
  Result<std::string> text = "";
  if (datum.type().kind == Kind::kRecord) {
    text = AvroRecordText(datum);
  } else if (datum.type().kind == Kind::kArray || datum.type().kind == Kind::kMap) {
    text = AvroItemsText(datum);
  } else {
    text = AvroPlainText(datum);
  }
  if (text && is_in_union) return std::to_string(datum.branch()) + "|" + *text;
  return text;
}

}  // namespace tidemark::support
