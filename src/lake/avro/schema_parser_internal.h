/// From JSON text to the types of a schema.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

struct Schema::Storage {
  std::deque<Type> types;  // addresses stay
  std::map<std::string, const Type*, std::less<>> named;
};

/// The root of what `json` describes, owned by `storage`. Errors as Schema::Parse.
Result<const Type*> ParseTypes(std::string_view json, Schema::Storage& storage);

}  // namespace tidemark::lake::avro
