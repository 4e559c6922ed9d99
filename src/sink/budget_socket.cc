#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "sink/budget_socket_internal.h"

namespace tidemark::sink {

namespace {

/// How long a stop may go unnoticed.
constexpr std::chrono::milliseconds kSliceMax{50};

std::string ErrorText(int number) {
  return std::system_category().message(number);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("name not found: host={} error={}", host, ::gai_strerror(error)));
  return Addresses(found, &::freeaddrinfo);
}

}  // namespace

Status BudgetSocket::WaitFor(short events, const Budget& budget) const {
  for (;;) {
    TRY(budget.Check());
    pollfd poll_on{.fd = fd_, .events = events, .revents = 0};
    const auto slice = std::min(kSliceMax, budget.Remaining());
    const int ready = ::poll(&poll_on, 1, static_cast<int>(std::max<int64_t>(slice.count(), 1)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR)
      return Fail(ErrorKind::kUnavailable, "poll: " + ErrorText(errno));
  }
}

Status BudgetSocket::Connect(const std::string& host, uint16_t port, const Budget& budget) {
  Close();
  TRY(budget.Check());
  TRY_ASSIGN(const Addresses addresses, Resolve(host, port));
  std::string why = "no address";
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    fd_ = ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                   each->ai_protocol);
    if (fd_ < 0) continue;
    int error = ::connect(fd_, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      if (auto status = WaitFor(POLLOUT, budget); !status) {
        Close();
        return std::unexpected(
            std::move(status).error().With(fmt::format("host={}:{}", host, port)));
      }
      socklen_t size = sizeof error;
      if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
    if (error == 0) {
      const int on = 1;
      ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      ::setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
      return {};
    }
    why = ErrorText(error);
    Close();
  }
  return Fail(ErrorKind::kUnavailable,
              fmt::format("not connected: host={}:{} error={}", host, port, why));
}

void BudgetSocket::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<size_t> BudgetSocket::Read(uint8_t* into, size_t size, const Budget& budget) {
  for (;;) {
    const ssize_t got = ::recv(fd_, into, size, 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Fail(ErrorKind::kUnavailable, "the other side closed the connection");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return Fail(ErrorKind::kUnavailable, "read: " + ErrorText(errno));
    TRY(WaitFor(POLLIN, budget));
  }
}

Status BudgetSocket::Write(const uint8_t* bytes, size_t size, const Budget& budget) {
  while (size > 0) {
    const ssize_t sent = ::send(fd_, bytes, size, MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes += sent;
      size -= static_cast<size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return Fail(ErrorKind::kUnavailable, "write: " + ErrorText(errno));
    TRY(WaitFor(POLLOUT, budget));
  }
  return {};
}

}  // namespace tidemark::sink
