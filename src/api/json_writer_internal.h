/// Writes JSON in the order of the calls. Own, because the contract fixes the order of keys and
/// wants plain decimals, and because text from outside may be no UTF-8.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace tidemark::api {

/// One value after the other, without blanks. The caller opens and closes in the right order, and
/// puts a key before each value of an object. Single-threaded.
class JsonWriter {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);

  JsonWriter& Null();
  JsonWriter& Bool(bool value);
  JsonWriter& Integer(int64_t value);
  /// Invalid UTF-8 is replaced (base/utf8.h).
  JsonWriter& Text(std::string_view value);
  /// RFC 3339, UTC, milliseconds.
  JsonWriter& Time(WallTime value);
  /// Seconds with at least one fraction digit.
  JsonWriter& Seconds(Milliseconds value);
  /// A plain decimal.
  JsonWriter& Decimal(double value);
  /// `json` as it is; must be one whole value.
  JsonWriter& Raw(std::string_view json) { return RawNumber(json); }
  /// `number` as it is; must be a JSON number.
  JsonWriter& RawNumber(std::string_view number);

  // The same, or null when absent.
  JsonWriter& IntegerOrNull(const std::optional<int64_t>& value);
  JsonWriter& TextOrNull(const std::optional<std::string>& value);
  JsonWriter& TimeOrNull(const std::optional<WallTime>& value);
  JsonWriter& SecondsOrNull(const std::optional<Milliseconds>& value);
  JsonWriter& DecimalOrNull(const std::optional<double>& value);

  const std::string& text() const { return text_; }

 private:
  /// The comma before a value or key that is not the first.
  void Separate();
  void Quote(std::string_view value);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace tidemark::api
