/// The sinks of a mirror: its tables as they want them, and its news as their work.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/sink_lanes.h"
#include "base/error.h"
#include "feed/mirror_tables.h"
#include "http/router.h"

namespace tidemark::app {

/// Events of groups that listeners may still want, of one table; older ones are told as a resync.
inline constexpr size_t kSinkGroupsKept = 1'000;

/// Works from construction to destruction. Any thread.
///
/// What events do not say of a table (its type, how its paths are encoded) is read from its
/// properties, once for each epoch and table version: the sinks of a table whose store does not
/// answer wait for it.
class MirrorSinks {
 public:
  virtual ~MirrorSinks() = default;

  /// Everything given outlives it. `is_ready`: whether the mirror has read everything once.
  static std::unique_ptr<MirrorSinks> Start(const Config& config, const FreshnessEdges& edges,
                                            const feed::MirrorTables& tables,
                                            std::function<bool()> is_ready);

  /// From the mirror's thread. Does not wait.
  virtual void Take(const feed::TableNews& news) = 0;
  /// Every table that the mirror has, as if each were news: what it took up from its store or read
  /// before anybody listened. Also done once when `is_ready`.
  virtual void TakeAll() = 0;

  virtual Status Resume(const std::string& sink, const std::string& uid) = 0;
  virtual std::vector<metrics::SinkHealth> Health() const = 0;
  virtual std::vector<SinkState> States(bool with_running) const = 0;
};

/// GET /api/v1/sinks, POST /api/v1/sinks/{sink}/tables/{uid}/resume. `sinks` outlives the router;
/// null: there is no mirror, and 404 says so.
void AddSinkRoutes(http::Router& router, MirrorSinks* sinks);

/// {"schema":"tidemark.sinks/1","sinks":[{"sink":…,"tables":…}],"held":[{"sink":…,"table":…}]}
std::string SinksJson(const MirrorSinks& sinks);

}  // namespace tidemark::app
