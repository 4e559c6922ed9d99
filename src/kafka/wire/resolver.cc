#include <fmt/core.h>
#include <netdb.h>

#include <cstring>
#include <list>
#include <mutex>

#include "kafka/wire/resolver_internal.h"

namespace tidemark::kafka::wire {

namespace {

std::vector<SocketAddress> AddressesIn(const addrinfo* list) {
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
  }
  return addresses;
}

}  // namespace

struct NameLookup::Request {
  std::string host;
  std::string port;
  addrinfo hints{};
  gaicb block{};

  bool is_running() { return gai_error(&block) == EAI_INPROGRESS; }
  ~Request() {
    if (block.ar_result != nullptr) freeaddrinfo(block.ar_result);
  }
};

NameLookup::NameLookup(const BrokerAddress& address, int family)
    : request_(std::make_shared<Request>()) {
  request_->host = address.host;
  request_->port = fmt::format("{}", address.port);
  request_->hints.ai_family = family;
  request_->hints.ai_socktype = SOCK_STREAM;
  request_->hints.ai_flags = AI_NUMERICSERV;
  gaicb& block = request_->block;
  block.ar_name = request_->host.c_str();
  block.ar_service = request_->port.c_str();
  block.ar_request = &request_->hints;
  // An address in digits is its own answer, and takes no thread.
  addrinfo digits = request_->hints;
  digits.ai_flags |= AI_NUMERICHOST;
  if (getaddrinfo(block.ar_name, block.ar_service, &digits, &block.ar_result) == 0) return;
  block.ar_result = nullptr;
  gaicb* list[] = {&block};
  getaddrinfo_a(GAI_NOWAIT, list, 1, nullptr);
}

NameLookup::~NameLookup() {
  if (!request_->is_running() || gai_cancel(&request_->block) == EAI_CANCELED) return;
  // The system's thread still writes into it.
  static std::mutex mutex;
  static std::list<std::shared_ptr<Request>> left_behind;
  const std::lock_guard lock(mutex);
  left_behind.remove_if([](const auto& request) { return !request->is_running(); });
  if (request_->is_running()) left_behind.push_back(std::move(request_));
}

std::optional<Result<std::vector<SocketAddress>>> NameLookup::Answer() {
  if (request_->block.ar_result == nullptr) {
    const int code = gai_error(&request_->block);
    if (code == EAI_INPROGRESS) return std::nullopt;
    if (code != 0) return Fail(ErrorKind::kUnavailable, gai_strerror(code));
  }
  return AddressesIn(request_->block.ar_result);
}

}  // namespace tidemark::kafka::wire
