#include <fmt/format.h>

#include "base/utf8.h"
#include "push/json_text_internal.h"

namespace tidemark::push {

std::string JsonString(std::string_view text) {
  std::string result = "\"";
  for (const char c : ToValidUtf8(text)) {
    switch (c) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      default:
        if (static_cast<unsigned char>(c) < ' ')
          result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
          result += c;
    }
  }
  return result + '"';
}

}  // namespace tidemark::push
