/// The addresses a client starts from, checked before anything is opened.
#pragma once

#include <string_view>

#include "base/error.h"

namespace tidemark::kafka {

/// Ok for "host[:port][,host[:port]…]", with blanks around the commas and IPv6 hosts in brackets
/// allowed; a missing port is Kafka's 9092. kInvalidArgument names the entry: client libraries cut
/// a port to 16 bits and drop what they cannot read, and then ask somebody else or nobody. Where
/// an '@' hints at a user and a password no entry is shown, only its number.
Status CheckBootstrapServers(std::string_view servers);

}  // namespace tidemark::kafka
