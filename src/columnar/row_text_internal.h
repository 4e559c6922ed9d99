/// The text of values, apart from the format around them.
#pragma once

#include <string>
#include <string_view>

#include "columnar/batch.h"

namespace tidemark::columnar {

/// Whether the text is printable ASCII without quotes and backslashes: it needs no care anywhere.
bool IsPlainAscii(std::string_view text);

/// Quoted; what is not UTF-8 replaced.
void AppendJsonString(std::string_view text, std::string& out);

bool IsNested(const ValueType& type);

/// A value that is not null, without quotes around it; nested ones as JSON.
void AppendValueText(const ColumnView& column, size_t row, std::string& out);

}  // namespace tidemark::columnar
