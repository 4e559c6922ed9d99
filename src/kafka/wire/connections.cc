#include <algorithm>

#include "kafka/wire/connections_internal.h"

namespace tidemark::kafka::wire {

Connection& Connections::To(const BrokerAddress& address) {
  std::unique_ptr<Connection>& place = by_address_[address.text()];
  if (place != nullptr && place->is_closed()) received_closed_ += place->received_bytes();
  if (place == nullptr || place->is_closed()) {
    place = std::make_unique<Connection>(address, settings_);
  }
  return *place;
}

void Connections::Refresh() {
  Drive(Milliseconds(0));
  std::erase_if(by_address_, [&](const auto& entry) {
    if (!entry.second->is_closed()) return false;
    received_closed_ += entry.second->received_bytes();
    return true;
  });
}

Connection* Connections::AnyReady() {
  const auto found =
      std::ranges::find_if(by_address_, [](const auto& entry) { return entry.second->is_ready(); });
  return found == by_address_.end() ? nullptr : found->second.get();
}

std::vector<BrokerAddress> Connections::ReadyAddresses() const {
  std::vector<BrokerAddress> addresses;
  for (const auto& [address, connection] : by_address_) {
    if (connection->is_ready()) addresses.push_back(connection->address());
  }
  return addresses;
}

void Connections::Drive(Milliseconds limit) {
  polled_.clear();
  connections_.clear();
  MonoTime now = std::chrono::steady_clock::now();
  Milliseconds wait = limit;
  for (const auto& [address, connection] : by_address_) {
    polled_.push_back(connection->Wish());
    connections_.push_back(connection.get());
    if (const MonoTime wake = connection->wake_at(); wake != MonoTime::max()) {
      wait = std::min(wait, std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(wake - now)));
    }
  }
  poll(polled_.data(), polled_.size(), static_cast<int>(wait.count()));
  now = std::chrono::steady_clock::now();
  for (size_t i = 0; i < polled_.size(); ++i) {
    const bool is_due = polled_[i].fd < 0 || connections_[i]->wake_at() <= now;
    if (polled_[i].revents != 0 || is_due) connections_[i]->Advance(now);
  }
}

void Connections::Abandon(QuestionId question) {
  for (const auto& [address, connection] : by_address_) connection->Abandon(question);
}

uint64_t Connections::received_bytes() const {
  uint64_t sum = received_closed_;
  for (const auto& [address, connection] : by_address_) sum += connection->received_bytes();
  return sum;
}

}  // namespace tidemark::kafka::wire
