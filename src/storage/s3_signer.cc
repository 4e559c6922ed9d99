#include "storage/s3_signer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "storage/digest.h"

namespace tidemark::storage {

namespace {

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
