#include "kafka/bootstrap.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace tidemark::kafka {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr uint16_t kDefaultPort = 9092;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::optional<uint16_t> PortOf(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool IsHost(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte != 0x7f && c != ':' && c != '/' && c != '[' && c != ']' && c != '@';
  });
}

std::optional<BrokerAddress> WithPort(std::string_view host, std::string_view rest) {
  if (rest.empty()) return BrokerAddress{std::string(host), kDefaultPort};
  const auto port = rest.starts_with(':') ? PortOf(rest.substr(1)) : std::nullopt;
  if (!port) return std::nullopt;
  return BrokerAddress{std::string(host), *port};
}

std::optional<BrokerAddress> AddressIn(std::string_view entry) {
  if (entry.starts_with('[')) {  // IPv6
    const size_t close = entry.find(']');
    if (close == entry.npos || close == 1) return std::nullopt;
    const std::string_view host = entry.substr(1, close - 1);
    const bool is_hex = host.find_first_not_of("0123456789abcdefABCDEF:.%") == host.npos;
    return is_hex ? WithPort(host, entry.substr(close + 1)) : std::nullopt;
  }
  const size_t colon = std::min(entry.find(':'), entry.size());
  const std::string_view host = entry.substr(0, colon);
  return IsHost(host) ? WithPort(host, entry.substr(colon)) : std::nullopt;
}

std::unexpected<Error> Refused(std::string_view entry, int number, bool may_hold_secret) {
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

std::string BrokerAddress::text() const {
  return fmt::format("{}:{}", host, port);
}

Result<std::vector<BrokerAddress>> ParseBootstrapServers(std::string_view servers) {
  // Before an '@' stands a user, or a password, which may hold a comma: no entry is repeated then.
  const bool may_hold_secret = servers.contains('@');
  std::vector<BrokerAddress> addresses;
  for (int number = 1;; ++number) {
    const size_t comma = servers.find(',');
    const std::string_view entry = Trimmed(servers.substr(0, comma));
    auto address = AddressIn(entry);
    if (!address) return Refused(entry, number, may_hold_secret);
    addresses.push_back(*std::move(address));
    if (comma == servers.npos) return addresses;
    servers.remove_prefix(comma + 1);
  }
}

Status CheckBootstrapServers(std::string_view servers) {
  TRY(ParseBootstrapServers(servers));
  return {};
}

}  // namespace tidemark::kafka
