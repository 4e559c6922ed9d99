#include "storage/environment.h"

#include <cstdlib>

#include "storage/digest.h"

namespace tidemark::storage {

Environment ProcessEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::string DigestOf(const Environment& environment, std::span<const char* const> names,
                     std::string_view more) {
  std::string text(more);
  for (const char* name : names) {
    const auto value = environment(name);
    text += value ? "\n=" + Sha256Hex(*value) : "\n-";
  }
  return Sha256Hex(text);
}

}  // namespace tidemark::storage
