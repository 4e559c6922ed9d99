/// Single values as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "columnar/value_type.h"

namespace tidemark::columnar {

void AppendInteger(int64_t value, std::string& out);
/// "2024-02-29"; "+12345-01-01" and "-0001-12-31" outside of 0000-9999, as ISO 8601 and Java have
/// it.
void AppendDate(int64_t days, std::string& out);
/// "23:59:59.123"; "25:00:00.000" and "-00:00:01.000" for what is no time of a day.
void AppendTime(int64_t value, TimeUnit unit, std::string& out);
/// "2024-02-29T23:59:59.123Z"; without the Z when local.
void AppendTimestamp(int64_t value, TimeUnit unit, bool is_local, std::string& out);
/// As Float.toString and Double.toString of Java 19 and later: "1.0", "1.0E10", "NaN".
/// The double that has the digits `value` is printed with: 1.1 of the float 1.1, where the nearest
/// would be 1.10000002384185791.
double AsPrinted(float value);

void AppendJavaFloat(float value, std::string& out);
void AppendJavaDouble(double value, std::string& out);
/// "f81d4fae-7dec-11d0-a765-00a0c91e6bf6". REQUIRES: 16 bytes.
void AppendUuid(std::string_view bytes, std::string& out);
void AppendBase64(std::string_view bytes, std::string& out);

}  // namespace tidemark::columnar
