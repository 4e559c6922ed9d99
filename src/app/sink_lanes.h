/// Sinks at work, each on a thread of its own, so that none holds up another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/hidden_values.h"
#include "app/sink_config.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "metrics/sink_points.h"
#include "sink/sink_pace.h"
#include "sink/table_now.h"

namespace tidemark::app {

/// Where sinks read tables. Any thread.
class SinkSource {
 public:
  virtual ~SinkSource() = default;
  /// The table as it is now. kNotFound: it is not known, or not whole yet; then whoever knows it
  /// later says so by Note.
  virtual Result<std::shared_ptr<const sink::TableNow>> Read(const std::string& uid,
                                                             const Budget& budget) = 0;
};

/// A table, as it is known by.
struct SinkTable {
  std::string uid{};
  std::string table_id{};
  std::string base_path{};
};

/// Whether one of the patterns of a configuration is of the table's id, uid or base path; also
/// where there is none.
bool IsNamed(const std::vector<std::string>& patterns, const SinkTable& table);

/// How one sink fares with one table.
struct SinkState {
  std::string sink{};
  SinkTable table{};
  sink::SinkPace pace{};
  bool is_behind = false;  ///< something is still to be brought
};

/// Takes what is newest when it can: a sink that was away for an hour gets one update a table, not
/// one a commit; listeners get each event as long as the source keeps it.
class SinkLanes {
 public:
  using MakeSink = std::function<std::unique_ptr<sink::Sink>(const SinkConfig&)>;

  /// `source` and `clock` outlive the lanes.
  SinkLanes(const SinksConfig& config, SinkSource& source, const Clock& clock,
            MakeSink make = nullptr);
  /// Work that runs is stopped, which may take some tenths of a second.
  ~SinkLanes();

  SinkLanes(const SinkLanes&) = delete;
  SinkLanes& operator=(const SinkLanes&) = delete;

  /// The table has changed, or is known for the first time. Does not wait. Any thread.
  void Note(const SinkTable& table);

  /// Ends the pause or the quarantine of a table in a sink. kNotFound. Any thread.
  Status Resume(const std::string& sink, const std::string& uid);

  /// In the order of the configuration. Any thread.
  std::vector<metrics::SinkHealth> Health() const;
  /// By sink, then by uid; those that are paused or quarantined alone, or all. Any thread.
  std::vector<SinkState> States(bool with_running) const;

 private:
  class Lane;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace tidemark::app
