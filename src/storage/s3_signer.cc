#include "storage/s3_signer.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tidemark::storage {

namespace {

constexpr size_t kDigestBytes = 32;
constexpr std::string_view kUpperHex = "0123456789ABCDEF";
constexpr std::string_view kLowerHex = "0123456789abcdef";

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

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, kDigestBytes> digest{};
  unsigned size = kDigestBytes;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

/// "20150830T123600Z"
std::string SigningTime(WallTime now) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(now - day)};
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace

std::string UrlEncoded(std::string_view text, std::string_view kept) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || kept.contains(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kUpperHex[byte >> 4];
    encoded += kUpperHex[byte & 15];
  }
  return encoded;
}

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, kDigestBytes> digest{};
  unsigned size = kDigestBytes;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return HexOf({reinterpret_cast<const char*>(digest.data()), size});
}

std::string CanonicalQuery(const std::vector<std::pair<std::string, std::string>>& query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  encoded.reserve(query.size());
  for (const auto& [name, value] : query) encoded.emplace_back(UrlEncoded(name), UrlEncoded(value));
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    if (!text.empty()) text += '&';
    text += name + '=' + value;
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> SignV4(const RequestToSign& request,
                                                        const SigningKey& key,
                                                        std::string_view region,
                                                        std::string_view service, WallTime now) {
  const std::string time = SigningTime(now);
  const std::string day = time.substr(0, 8);
  std::vector<std::pair<std::string, std::string>> added = {
      {"x-amz-content-sha256", request.payload_hash}, {"x-amz-date", time}};
  if (!key.session_token.empty()) added.emplace_back("x-amz-security-token", key.session_token);

  std::vector<std::pair<std::string, std::string>> headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.insert(headers.end(), added.begin(), added.end());
  std::ranges::sort(headers);
  std::string header_lines;
  std::string names;
  for (const auto& [name, value] : headers) {
    header_lines += name + ':' + value + '\n';
    if (!names.empty()) names += ';';
    names += name;
  }

  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                  CanonicalQuery(request.query), header_lines, names, request.payload_hash);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, region, service);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, Sha256Hex(canonical));
  std::string derived = HmacSha256("AWS4" + key.secret_access_key, day);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")})
    derived = HmacSha256(derived, part);
  added.emplace_back(
      "authorization",
      fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                  key.access_key_id, scope, names, HexOf(HmacSha256(derived, to_sign))));
  return added;
}

}  // namespace tidemark::storage
