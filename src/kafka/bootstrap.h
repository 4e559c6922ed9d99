/// The addresses a client starts from, checked before anything is opened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::kafka {

struct BrokerAddress {
  std::string host;  ///< without the brackets of IPv6
  uint16_t port = 0;

  std::string text() const;  ///< "host:port"
  friend bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

/// Of "host[:port][,host[:port]…]", with blanks around the commas and IPv6 hosts in brackets
/// allowed; a missing port is Kafka's 9092. kInvalidArgument names the entry: client libraries cut
/// a port to 16 bits and drop what they cannot read, and then ask somebody else or nobody. Where
/// an '@' hints at a user and a password no entry is shown, only its number.
Result<std::vector<BrokerAddress>> ParseBootstrapServers(std::string_view servers);

/// The same without the addresses.
Status CheckBootstrapServers(std::string_view servers);

}  // namespace tidemark::kafka
