#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kafka/client/socket_meter_internal.h"

namespace tidemark::kafka::client {

namespace {

// 0 for what is not (or no longer) a TCP connection.
uint64_t ReceivedBy(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

}  // namespace

int SocketMeter::Open(int domain, int type, int protocol) {
  const int socket = ::socket(domain, type | SOCK_CLOEXEC, protocol);
  if (socket < 0) return socket;
  const std::lock_guard lock(mutex_);
  open_.insert(socket);
  return socket;
}

int SocketMeter::Close(int socket) {
  const std::lock_guard lock(mutex_);
  received_closed_ += ReceivedBy(socket);
  open_.erase(socket);
  return ::close(socket);
}

uint64_t SocketMeter::received() const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = received_closed_;
  for (const int socket : open_) sum += ReceivedBy(socket);
  return sum;
}

}  // namespace tidemark::kafka::client
