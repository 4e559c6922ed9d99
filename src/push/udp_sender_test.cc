#include "push/udp_sender.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using support::IsError;
using support::IsOk;
using testing::_;
using testing::HasSubstr;

/// A UDP socket on 127.0.0.1.
class Receiver {
 public:
  Receiver() : fd_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd_, generic, size), 0);
    EXPECT_EQ(::getsockname(fd_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver() { Close(); }

  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  uint16_t port() const { return port_; }

  std::string Take() const {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 10'000) != 1) return "nothing came";
    std::array<char, 2048> buffer{};
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  int fd_;
  uint16_t port_ = 0;
};

TEST(UdpSenderTest, DatagramsArriveInTheirOrder) {
  const Receiver receiver;
  UdpSender sender("localhost", receiver.port());
  EXPECT_THAT(sender.Send(std::vector<std::string>{"one\ntwo", "three"}, Budget::For(10s)), IsOk());
  EXPECT_EQ(receiver.Take(), "one\ntwo");
  EXPECT_EQ(receiver.Take(), "three");
}

TEST(UdpSenderTest, WhereNobodyListensIsKnownWithTheSecondCallAndCanComeBack) {
  Receiver receiver;
  UdpSender sender("127.0.0.1", receiver.port());
  receiver.Close();
  const std::vector<std::string> lines = {"x"};
  EXPECT_THAT(sender.Send(lines, Budget::For(10s)), IsOk());
  EXPECT_THAT(sender.Send(lines, Budget::For(10s)),
              IsError(ErrorKind::kUnavailable, HasSubstr("refused")));
  EXPECT_THAT(sender.Send(lines, Budget::For(10s)), IsOk());  // tried anew
}

TEST(UdpSenderTest, ANameThatIsNotThereIsUnavailable) {
  UdpSender sender("tidemark.invalid", 8125);
  EXPECT_THAT(sender.Send(std::vector<std::string>{"x"}, Budget::For(10s)),
              IsError(ErrorKind::kUnavailable, HasSubstr("tidemark.invalid:8125")));
}

}  // namespace
}  // namespace tidemark::push
