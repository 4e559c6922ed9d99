#include "push/udp_sender.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace tidemark::push {

namespace {

constexpr int kPollMillisMax = 100;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

std::string TextOf(int error) {
  return std::generic_category().message(error);
}

}  // namespace

UdpSender::~UdpSender() {
  Close();
}

void UdpSender::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::unexpected<Error> UdpSender::Failed(const std::string& why) const {
  return Fail(ErrorKind::kUnavailable,
              fmt::format("no datagram can be sent: host={}:{} error={}", host_, port_, why));
}

Status UdpSender::Open() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &hints, &list);
  if (code != 0) return Failed(::gai_strerror(code));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  int error = 0;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    fd_ = ::socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // Connected, so that the answer of a machine where nobody listens comes back as an error.
    if (fd_ >= 0 && ::connect(fd_, each->ai_addr, each->ai_addrlen) == 0) return {};
    error = errno;
    Close();
  }
  return Failed(TextOf(error));
}

Status UdpSender::Check() {
  return fd_ >= 0 ? Status() : Open();
}

Status UdpSender::SendOne(const std::string& datagram, const Budget& budget) const {
  for (;;) {
    TRY(budget.Check());
    if (::send(fd_, datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) return Failed(TextOf(errno));
    pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
    const auto wait = std::min<long long>(budget.Remaining().count(), kPollMillisMax);
    ::poll(&ready, 1, static_cast<int>(wait));
  }
}

Status UdpSender::Send(std::span<const std::string> datagrams, const Budget& budget) {
  if (fd_ < 0) TRY(Open());
  for (const std::string& datagram : datagrams) {
    auto sent = SendOne(datagram, budget);
    if (sent) continue;
    Close();
    return sent;
  }
  return {};
}

}  // namespace tidemark::push
