/// A TCP connection to a server of the test, for what a client library does not send.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::support {

/// A plain connection to 127.0.0.1, for what a client library does not send.
class PlainConnection {
 public:
  explicit PlainConnection(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~PlainConnection() { ::close(socket_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  int socket() const { return socket_; }
  bool is_connected() const { return is_connected_; }
  void Send(std::string_view bytes) {
    static_cast<void>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  /// What came until it holds `end`, the peer closed, or the time is over.
  std::string ReadUntil(std::string_view end,
                        std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (text_.find(end) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      pollfd wait{socket_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
      char bytes[4096];
      const auto size = ::recv(socket_, bytes, sizeof bytes, 0);
      if (size <= 0) {
        is_closed_ = true;
        break;
      }
      text_.append(bytes, static_cast<size_t>(size));
    }
    return text_;
  }
  std::string ReadToEnd() { return ReadUntil(std::string_view("\0never\0", 7)); }
  bool is_closed() const { return is_closed_; }

 private:
  int socket_;
  bool is_connected_ = false;
  bool is_closed_ = false;
  std::string text_;
};

}  // namespace tidemark::support
