/// How many bytes a client's connections have received, as the kernel counts them.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

namespace tidemark::kafka::client {

/// Opens and closes the sockets of one client, and so knows which to ask. The count is of TCP
/// payload: with TLS it includes the records' framing. Any thread.
class SocketMeter {
 public:
  /// Like socket(2), closed on exec.
  int Open(int domain, int type, int protocol);
  /// Like close(2).
  int Close(int socket);

  /// Received since the client was made, closed connections included.
  uint64_t received() const;

 private:
  mutable std::mutex mutex_;
  std::set<int> open_;
  uint64_t received_closed_ = 0;
};

}  // namespace tidemark::kafka::client
