#include "storage/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

namespace tidemark::storage {

namespace {

constexpr size_t kDigestBytes = 32;
constexpr std::string_view kLowerHex = "0123456789abcdef";

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string HexOf(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kLowerHex[byte >> 4];
    hex += kLowerHex[byte & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, kDigestBytes> digest{};
  unsigned size = kDigestBytes;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return HexOf({reinterpret_cast<const char*>(digest.data()), size});
}

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, kDigestBytes> digest{};
  unsigned size = kDigestBytes;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(),
       digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the NUL that OpenSSL adds
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::string Base64Url(std::string_view bytes) {
  std::string text = Base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> Base64Decoded(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), Bytes(text),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  if (text.ends_with('=')) bytes.pop_back();
  if (text.ends_with("==")) bytes.pop_back();
  // OpenSSL skips blanks and takes padding anywhere.
  if (Base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace tidemark::storage
