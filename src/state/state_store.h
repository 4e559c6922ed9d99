/// What the daemon remembers between rounds and restarts: the memory of each pipeline, incidents,
/// and the history of lag.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "freshness/memory.h"
#include "freshness/report.h"
#include "lake/finding.h"

namespace tidemark::state {

/// What is kept of one pipeline. `table` is part of what it is: a pipeline of the same name on
/// another table is a new one.
struct PipelineState {
  std::string pipeline;
  std::string table;
  freshness::PipelineMemory memory;
  /// When a round last gave a decided report (neither unknown nor disabled), and that report as
  /// freshness JSON; empty before the first.
  std::optional<WallTime> last_success;
  std::string last_report;

  friend bool operator==(const PipelineState&, const PipelineState&) = default;
};

/// A time during which a pipeline was neither fresh nor disabled, in one status throughout.
struct Incident {
  std::string pipeline;
  freshness::PipelineStatus status = freshness::PipelineStatus::kUnknown;
  std::string reason;                 ///< the contract's word when it opened
  WallTime opened_at{};               ///< of the first report with this status; identifies it
  std::optional<WallTime> closed_at;  ///< of the first report without; nullopt while open

  friend bool operator==(const Incident&, const Incident&) = default;
};

/// One report as the history keeps it. Absent numbers are suppressed ones.
struct Sample {
  std::string pipeline;
  WallTime at{};
  freshness::PipelineStatus status = freshness::PipelineStatus::kUnknown;
  std::optional<double> lag_seconds;
  std::optional<double> sla_ratio;

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Samples from `at` on for `width`, added up; of a raw sample `width` is 0. The greatest lag and
/// ratio of those that had one.
struct HistoryPoint {
  WallTime at{};
  Milliseconds width{0};
  int64_t samples = 0;
  int64_t unknown = 0;   ///< of these, with status unknown
  int64_t breaches = 0;  ///< of these, with status breach
  std::optional<double> lag_seconds_max{};
  std::optional<double> sla_ratio_max{};

  friend bool operator==(const HistoryPoint&, const HistoryPoint&) = default;
};

/// How long history is kept: raw, then as points of kHistoryStep, and incidents as long as points.
inline constexpr Milliseconds kHistoryStep = std::chrono::minutes(5);
struct Retention {
  Milliseconds raw = std::chrono::hours(48);
  Milliseconds rolled_up = std::chrono::hours(24 * 30);

  friend bool operator==(const Retention&, const Retention&) = default;
};
/// Most points one answer holds; the newest of a longer range. What is kept by default of looks
/// every 10 s: 48 h of them, and 28 days of steps.
inline constexpr size_t kHistoryPointsMax = 30'000;
/// How long a server may take for one statement at most, as it is told, and how much longer its
/// answer is waited for.
inline constexpr Milliseconds kStatementMax = std::chrono::seconds(30);
inline constexpr Milliseconds kAnswerMax = kStatementMax + std::chrono::seconds(5);
/// Most incidents one answer holds.
inline constexpr size_t kIncidentsMax = 1'000;

/// One contract, one test suite for every implementation
/// (tests/contract/state_store_contract.h).
///
/// Every write is one transaction: after a crash at any point either all of it is there or nothing.
/// Errors: kUnavailable (the database does not answer, is locked, or the disk is full), kDenied,
/// kCorrupt, kConflict (another process holds it). After kUnavailable later calls try again on a
/// new connection. One caller at a time.
class StateStore {
 public:
  virtual ~StateStore() = default;

  /// From here on calls wait for a server within `budget`, and give kUnavailable when it is over or
  /// stopped; in any case after kAnswerMax. A file answers by itself.
  virtual void LimitTo(const Budget& budget) = 0;

  /// Everything kept, by pipeline. What cannot be read any more is left out with a finding
  /// ("unreadable_state"): that pipeline starts anew.
  struct Loaded {
    std::vector<PipelineState> pipelines;
    std::vector<lake::Finding> findings;
  };
  virtual Result<Loaded> LoadPipelines() = 0;

  /// Writes or replaces these.
  virtual Status SavePipelines(std::span<const PipelineState> pipelines) = 0;

  /// Removes whatever is kept of pipelines that are not among `pipelines`.
  virtual Status KeepOnly(std::span<const std::string> pipelines) = 0;

  /// Writes or replaces incidents: identified by pipeline and opened_at.
  virtual Status SaveIncidents(std::span<const Incident> incidents) = 0;

  /// Incidents of one pipeline, newest first; of all when `pipeline` is empty.
  virtual Result<std::vector<Incident>> ReadIncidents(std::string_view pipeline, size_t limit) = 0;

  /// Of all pipelines, those not closed yet.
  virtual Result<std::vector<Incident>> ReadOpenIncidents() = 0;

  /// A second sample of one pipeline at the same moment replaces the first.
  virtual Status AddSamples(std::span<const Sample> samples) = 0;

  /// Points in [from, to), oldest first: raw ones where they are still kept, rolled up before. As
  /// many as kHistoryPointsMax may lack older ones.
  virtual Result<std::vector<HistoryPoint>> ReadHistory(std::string_view pipeline, WallTime from,
                                                        WallTime to) = 0;

  /// Rolls up raw samples older than `retention.raw`, whole steps only, and drops what is older
  /// than `retention.rolled_up`, closed incidents included.
  virtual Status RollUp(WallTime now, const Retention& retention) = 0;
};

/// Where the state lives.
struct StateOptions {
  /// Folder of the SQLite file; made when missing. Counts when `url` is empty.
  std::string path;
  /// postgresql://…; may hold a password: never shown.
  std::string url;
  /// For who rolls up.
  Retention retention{};

  friend bool operator==(const StateOptions&, const StateOptions&) = default;
};

/// Opens the state and brings its tables up to date. A damaged SQLite file is put aside as
/// "<name>.damaged-<time>" with a warning in the log, and a new one begun; one that is deleted or
/// replaced later is written anew with all it held when something is saved next. kConflict when
/// another process holds the SQLite file; kUnsupported when a newer release has written it.
Result<std::unique_ptr<StateStore>> OpenState(const StateOptions& options);

/// What OpenState would meet.
enum class StateCondition {
  kUsable,
  kAbsent,  ///< a SQLite file that is not there yet, where one can be made
  kHeld,    ///< another process has the SQLite file open: the daemon runs
};

/// Looks without changing anything: is the folder writable, is the SQLite file whole and of a known
/// release, does PostgreSQL answer. Errors as OpenState's, but kCorrupt for a damaged file.
Result<StateCondition> CheckState(const StateOptions& options);

}  // namespace tidemark::state
