#include <fmt/format.h>

#include "api/json_writer_internal.h"
#include "base/number_text.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace tidemark::api {

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::Quote(std::string_view value) {
  text_ += '"';
  for (const char c : ToValidUtf8(value)) {
    switch (c) {
      case '"': text_ += "\\\""; break;
      case '\\': text_ += "\\\\"; break;
      case '\b': text_ += "\\b"; break;
      case '\f': text_ += "\\f"; break;
      case '\n': text_ += "\\n"; break;
      case '\r': text_ += "\\r"; break;
      case '\t': text_ += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  text_ += '{';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  text_ += '}';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Separate();
  text_ += '[';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  text_ += ']';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  Quote(key);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::RawNumber(std::string_view number) {
  Separate();
  text_ += number;
  return *this;
}

JsonWriter& JsonWriter::Null() {
  return RawNumber("null");
}
JsonWriter& JsonWriter::Bool(bool value) {
  return RawNumber(value ? "true" : "false");
}
JsonWriter& JsonWriter::Integer(int64_t value) {
  return RawNumber(std::to_string(value));
}
JsonWriter& JsonWriter::Seconds(Milliseconds value) {
  return RawNumber(SecondsText(value));
}
JsonWriter& JsonWriter::Decimal(double value) {
  return RawNumber(DecimalText(value));
}
JsonWriter& JsonWriter::Time(WallTime value) {
  return Text(FormatRfc3339(value));
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::IntegerOrNull(const std::optional<int64_t>& value) {
  return value ? Integer(*value) : Null();
}
JsonWriter& JsonWriter::TextOrNull(const std::optional<std::string>& value) {
  return value ? Text(*value) : Null();
}
JsonWriter& JsonWriter::TimeOrNull(const std::optional<WallTime>& value) {
  return value ? Time(*value) : Null();
}
JsonWriter& JsonWriter::SecondsOrNull(const std::optional<Milliseconds>& value) {
  return value ? Seconds(*value) : Null();
}
JsonWriter& JsonWriter::DecimalOrNull(const std::optional<double>& value) {
  return value ? Decimal(*value) : Null();
}

}  // namespace tidemark::api
