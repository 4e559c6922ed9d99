/// What operators and subscribers ask of the publisher over the control topic.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::feed {

enum class ControlAction {
  kSnapshot,  ///< publish the table's state anew
  kResync,    ///< compare with a listing first, and tell what differs
  kPause,     ///< publish nothing of the table
  kResume,
};
/// "snapshot", "resync", "pause", "resume".
std::string_view ControlActionName(ControlAction action);

struct ControlRequest {
  ControlAction action = ControlAction::kSnapshot;
  std::string uid{};
};

/// A record of the control topic: its key is the table's uid, its value
/// `{"action":"snapshot|resync|pause|resume"}`; other members are for people. kInvalidArgument for
/// anything else.
Result<ControlRequest> ParseControl(std::string_view key, std::string_view value);

/// The value of a request.
std::string ControlJson(const ControlRequest& request);

}  // namespace tidemark::feed
