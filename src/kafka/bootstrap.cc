#include "kafka/bootstrap.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tidemark::kafka {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0;
}

bool IsHost(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte != 0x7f && c != ':' && c != '/' && c != '[' && c != ']' && c != '@';
  });
}

bool IsAddress(std::string_view entry) {
  if (entry.starts_with('[')) {  // IPv6
    const size_t close = entry.find(']');
    if (close == entry.npos || close == 1) return false;
    const std::string_view rest = entry.substr(close + 1);
    const bool is_hex = entry.substr(1, close - 1).find_first_not_of("0123456789abcdefABCDEF:.%") ==
                        std::string_view::npos;
    return is_hex && (rest.empty() || (rest.starts_with(':') && IsPort(rest.substr(1))));
  }
  const size_t colon = entry.find(':');
  if (colon == entry.npos) return IsHost(entry);
  return IsHost(entry.substr(0, colon)) && IsPort(entry.substr(colon + 1));
}

Status Refused(std::string_view entry, int number, bool may_hold_secret) {
  if (may_hold_secret) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("not a broker address, host:port is wanted, user and password are "
                            "given as properties number={} entry=(not shown)",
                            number));
  }
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("not a broker address, host:port is wanted entry='{}'", entry));
}

}  // namespace

Status CheckBootstrapServers(std::string_view servers) {
  // Before an '@' stands a user, or a password, which may hold a comma: no entry is repeated then.
  const bool may_hold_secret = servers.contains('@');
  for (int number = 1;; ++number) {
    const size_t comma = servers.find(',');
    const std::string_view entry = Trimmed(servers.substr(0, comma));
    if (!IsAddress(entry)) return Refused(entry, number, may_hold_secret);
    if (comma == servers.npos) return {};
    servers.remove_prefix(comma + 1);
  }
}

}  // namespace tidemark::kafka
