#include "change/digest.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <charconv>

namespace tidemark::change {

namespace {

constexpr size_t kHexDigits = 16;  // of one half

uint64_t BigEndian(const unsigned char* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(value); ++i) value = value << 8 | bytes[i];
  return value;
}

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

uint64_t FromHex(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

}  // namespace

Digest HashOf(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash;
  // SHA256 takes the bytes as unsigned ones; they are only read.
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return {.high = BigEndian(hash.data()), .low = BigEndian(hash.data() + sizeof(uint64_t))};
}

std::string HexOf(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

std::optional<Digest> ParseHex(std::string_view text) {
  if (text.size() != 2 * kHexDigits || !IsHex(text)) return std::nullopt;
  return Digest{.high = FromHex(text.substr(0, kHexDigits)),
                .low = FromHex(text.substr(kHexDigits))};
}

}  // namespace tidemark::change
