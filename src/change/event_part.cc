#include "change/event_part.h"

#include <fmt/format.h>

namespace tidemark::change {

Digest DigestOfDetails(std::span<const std::string_view> details) {
  std::string text;
  for (const std::string_view detail : details) {
    text += fmt::format("{}:", detail.size());
    text += detail;
  }
  return HashOf(text);
}

}  // namespace tidemark::change
