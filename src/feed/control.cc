#include "feed/control.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace tidemark::feed {

namespace {

constexpr ControlAction kActions[] = {ControlAction::kSnapshot, ControlAction::kResync,
                                      ControlAction::kPause, ControlAction::kResume};
constexpr size_t kControlBytesMax = size_t{64} << 10;

}  // namespace

std::string_view ControlActionName(ControlAction action) {
  switch (action) {
    case ControlAction::kSnapshot: return "snapshot";
    case ControlAction::kResync: return "resync";
    case ControlAction::kPause: return "pause";
    case ControlAction::kResume: return "resume";
  }
  return "";
}

Result<ControlRequest> ParseControl(std::string_view key, std::string_view value) {
  const auto refuse = [](const std::string& why) {
    return Fail(ErrorKind::kInvalidArgument, "a record of the control topic " + why);
  };
  if (key.empty()) return refuse("has no table's uid for a key");
  if (value.size() > kControlBytesMax) return refuse("is too large");
  const auto json = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return refuse("is no JSON object");
  const auto action = json.find("action");
  if (action == json.end() || !action->is_string()) return refuse("names no action");
  for (const ControlAction known : kActions) {
    if (action->get<std::string>() == ControlActionName(known))
      return ControlRequest{.action = known, .uid = std::string(key)};
  }
  return refuse("names an unknown action, not one of snapshot, resync, pause, resume");
}

std::string ControlJson(const ControlRequest& request) {
  return fmt::format(R"({{"action":"{}"}})", ControlActionName(request.action));
}

}  // namespace tidemark::feed
