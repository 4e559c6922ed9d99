#include "storage/aws_environment.h"

#include <cstdlib>

namespace tidemark::storage {

Environment ProcessEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

}  // namespace tidemark::storage
