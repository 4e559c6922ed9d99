/// What every implementation of feed::EventLog must do.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "feed/event_log.h"

namespace tidemark::feed {

/// Each call gives an empty log of two partitions.
struct EventLogCase {
  std::string name;
  std::function<std::shared_ptr<EventLog>()> make;
};

class EventLogContract : public ::testing::TestWithParam<EventLogCase> {
 protected:
  EventLogContract() : log_(GetParam().make()) {}
  std::shared_ptr<EventLog> log_;
};

}  // namespace tidemark::feed
