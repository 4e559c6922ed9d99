/// What the daemon keeps of the past as JSON, schemas "tidemark.history/1" and
/// "tidemark.incidents/1".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "state/state_store.h"

namespace tidemark::api {

/// One object on one line, without a line feed; points oldest first.
std::string HistoryJson(std::string_view pipeline, WallTime from, WallTime to,
                        std::span<const state::HistoryPoint> points);

/// The same; incidents newest first.
std::string IncidentsJson(std::span<const state::Incident> incidents);

}  // namespace tidemark::api
