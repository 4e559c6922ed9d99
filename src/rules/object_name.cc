#include "rules/object_name.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/letter_case.h"

namespace tidemark::rules {

namespace {

constexpr std::string_view kPrefix = "freshness-";
constexpr size_t kHashDigits = 12;

/// FNV-1a, 64 bits.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// Everything else than a-z and 0-9 as one '-' a run, none at the ends.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : LowerCase(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      plain += c;
    } else if (!plain.empty() && plain.back() != '-') {
      plain += '-';
    }
  }
  if (plain.ends_with('-')) plain.pop_back();
  return plain;
}

}  // namespace

std::string ObjectNameOf(std::string_view pipeline) {
  std::string plain = Plain(pipeline);
  if (plain == pipeline && kPrefix.size() + plain.size() <= kObjectNameBytesMax)
    return std::string(kPrefix) + plain;
  constexpr size_t kPlainMax = kObjectNameBytesMax - kPrefix.size() - kHashDigits - 1;
  if (plain.size() > kPlainMax) plain = Plain(plain.substr(0, kPlainMax));
  if (!plain.empty()) plain += '-';
  return fmt::format("{}{}{:012x}", kPrefix, plain, HashOf(pipeline) >> (64 - 4 * kHashDigits));
}

}  // namespace tidemark::rules
