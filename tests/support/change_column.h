/// Columns of tables of the tests' own.
#pragma once

#include <string>
#include <utility>

#include "change/schema.h"

namespace tidemark::support {

/// At the top of a schema, nullable, of one of change::Column's words for types.
inline change::Column ColumnOf(std::string name, std::string type) {
  return {.name = name, .path = name, .type = std::move(type), .is_nullable = true};
}

}  // namespace tidemark::support
