/// Datagrams to one address.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::push {

/// A socket of its own, opened with the first datagram, and anew after an error: the name may stand
/// for another address by then. Single-threaded.
class UdpSender {
 public:
  /// `host` is a name or a numeric address.
  UdpSender(std::string host, uint16_t port) : host_(std::move(host)), port_(port) {}
  UdpSender(const UdpSender&) = delete;
  UdpSender& operator=(const UdpSender&) = delete;
  ~UdpSender();

  /// Sends them in order. Ok means that they left: nobody says whether they arrive, but a machine
  /// that answers "nobody listens here" is kUnavailable, with the next call at the latest. Looking
  /// up a name may take longer than the budget allows.
  Status Send(std::span<const std::string> datagrams, const Budget& budget);

  /// Whether the name stands for an address that there is a way to. Sends nothing.
  Status Check();

 private:
  Status Open();
  Status SendOne(const std::string& datagram, const Budget& budget) const;
  void Close();
  std::unexpected<Error> Failed(const std::string& why) const;

  std::string host_;
  uint16_t port_;
  int fd_ = -1;
};

}  // namespace tidemark::push
