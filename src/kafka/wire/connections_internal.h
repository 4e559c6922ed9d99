/// The connections of a probe, kept from one Probe() to the next, and the waiting on all of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kafka/wire/connection_internal.h"

namespace tidemark::kafka::wire {

/// One caller. The settings outlive it.
class Connections {
 public:
  explicit Connections(const Settings& settings) : settings_(settings) {}

  /// The connection to this address; a new one when there is none or it is closed. Stays where it
  /// is until Forget() or until it is asked for after it has closed.
  Connection& To(const BrokerAddress& address);

  /// Takes note of what happened while nobody looked, and drops closed connections.
  void Refresh();

  /// One that is ready; null: none is.
  Connection* AnyReady();

  std::vector<BrokerAddress> ReadyAddresses() const;

  /// Waits until something happens, at most so long, and lets every connection go on.
  void Drive(Milliseconds limit);

  /// A number for what is asked from now on.
  QuestionId NextQuestion() { return ++last_question_; }
  void Abandon(QuestionId question);

  uint64_t received_bytes() const;

 private:
  const Settings& settings_;
  std::map<std::string, std::unique_ptr<Connection>> by_address_;
  QuestionId last_question_ = 0;
  uint64_t received_closed_ = 0;
  std::vector<pollfd> polled_;            // reused
  std::vector<Connection*> connections_;  // of polled_, in its order
};

}  // namespace tidemark::kafka::wire
