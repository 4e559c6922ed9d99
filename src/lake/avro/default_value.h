/// Default values of fields, which a schema holds as JSON, as the bytes a writer would have
/// written.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

/// Encodes `json` as a value of `type` (specification 1.12, "Complex Types", the table of default
/// values). A union takes the first branch that fits. kCorrupt when it does not fit the type;
/// kExhausted over kDefaultSizeMax or kSchemaDepthMax.
Result<std::string> EncodeDefault(std::string_view json, const Type& type);

/// Bytes of one encoded default: a record may take the defaults of its fields many times over.
inline constexpr size_t kDefaultSizeMax = 1 << 20;

}  // namespace tidemark::lake::avro
