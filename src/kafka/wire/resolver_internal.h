/// Looking up a host's addresses without waiting for them.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "kafka/bootstrap.h"

namespace tidemark::kafka::wire {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// `family`: AF_UNSPEC, AF_INET or AF_INET6. The system looks in a thread of its own; when that
/// outlasts this object it finds nobody interested.
class NameLookup {
 public:
  NameLookup(const BrokerAddress& address, int family);
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

  /// nullopt: still looking. kUnavailable in the system's words.
  std::optional<Result<std::vector<SocketAddress>>> Answer();

 private:
  struct Request;
  std::shared_ptr<Request> request_;
};

}  // namespace tidemark::kafka::wire
