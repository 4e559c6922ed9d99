/// Pipelines looked at again and again: when each is due, in which lanes its table and its cluster
/// are asked, and what was last said of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/freshness_run.h"
#include "base/clock.h"
#include "freshness/memory.h"
#include "freshness/report.h"

namespace tidemark::app {

/// A report older than so many intervals is not shown any more: the pipeline is unknown.
inline constexpr int kSilentIntervals = 3;
/// A cluster that does not answer, or refuses us, is left alone for this long, then twice as long,
/// up to the second. Its pipelines get its last error meanwhile.
inline constexpr Milliseconds kBackOffMin = std::chrono::seconds(1);
inline constexpr Milliseconds kBackOffMax = std::chrono::seconds(60);

struct WatchOptions {
  Milliseconds table_deadline = std::chrono::seconds(10);  ///< for reading one table
  Milliseconds probe_deadline = std::chrono::seconds(10);  ///< for asking one cluster once
  /// Tables of one store (bucket, or a mount) read at the same time. Those that did not
  /// answer last time have as many threads of their own.
  unsigned tables_at_once = 8;
  /// How long the first pipeline that is ready for its cluster waits for others.
  Milliseconds gathering = std::chrono::milliseconds(200);
  /// Whether the pipeline is this process' to speak of now; asked whenever it is spoken of. Null:
  /// all are. Any thread, must not wait.
  std::function<bool(std::string_view pipeline)> is_ours;
};

/// What one look at one pipeline gave; or, once an interval, that none has ended for so long that
/// Watch::Snapshot gives an unknown report: then `report` is that one, and `memory` what it was.
struct Look {
  freshness::PipelineReport report;
  freshness::PipelineMemory memory;  ///< for the next look
  size_t left_out = 0;  ///< moments at which the next one would have been due, and this one ran
  bool has_ended = true;
};

/// What earlier processes knew of a pipeline; `last_success` as in PipelineReport.
struct Remembered {
  std::string pipeline;
  std::string table;
  freshness::PipelineMemory memory;
  std::optional<WallTime> last_success;
};

/// What is said of one pipeline now; `report.last_success` is filled in.
struct Watched {
  freshness::PipelineReport report;
  uint64_t looks = 0;  ///< since the process began
};

/// Owns its threads: one that decides, and few per store and per cluster that wait for answers.
/// Whatever does not answer delays only what was already found silent with it.
class Watch {
 public:
  /// Begins at once. `on_look` is called by the watch's own thread after each look and must not
  /// wait. `edges.clock` outlives the watch.
  Watch(Config config, std::vector<Remembered> remembered, const WatchOptions& options,
        FreshnessEdges edges, std::function<void(const Look&)> on_look);

  /// Ends without waiting for answers longer than their clients take to notice.
  ~Watch();

  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Another configuration. Pipelines of the same name on the same table keep what is known about
  /// them and their moment; a look under way is finished as it was begun. Any thread.
  /// `remembered` is for pipelines that are new here.
  void Reload(Config config, std::vector<Remembered> remembered = {});

  /// Look now. False for a name that is not there. Any thread.
  bool WakeUp(std::string_view pipeline);
  /// All pipelines on this table, or on a table that the object lies in (both as URIs); how many.
  /// Any thread.
  size_t WakeUpAt(std::string_view uri);

  /// Every pipeline that is ours, in the order of the configuration. Reports that were not renewed
  /// for kSilentIntervals are replaced by unknown ones. Any thread.
  std::vector<Watched> Snapshot(bool with_partitions) const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace tidemark::app
