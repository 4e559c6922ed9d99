/// What the daemon keeps of the past, and whom it shares with, as JSON: schemas
/// "tidemark.history/1", "tidemark.incidents/1" and "tidemark.coordination/1".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "state/state_store.h"

namespace tidemark::api {

/// One object on one line, without a line feed; points oldest first.
std::string HistoryJson(std::string_view pipeline, WallTime from, WallTime to,
                        std::span<const state::HistoryPoint> points);

/// The same; incidents newest first.
std::string IncidentsJson(std::span<const state::Incident> incidents);

/// A daemon's place among those that share its pipelines.
struct SharedPipelines {
  std::string group;
  std::string topic;
  bool is_member = false;
  std::string why_not;  ///< empty: a member, or nothing is known yet
  struct Pipeline {
    std::string name;
    int32_t part = 0;
    bool is_ours = false;
  };
  std::vector<Pipeline> pipelines;
};
std::string CoordinationJson(const SharedPipelines& shared);

}  // namespace tidemark::api
