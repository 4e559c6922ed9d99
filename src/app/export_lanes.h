/// Exporters at work, each on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "app/exporter_config.h"
#include "base/clock.h"
#include "metrics/exporter_points.h"
#include "push/exporter.h"
#include "push/webhook.h"

namespace tidemark::app {

/// Messages that wait for one receiver; the oldest are dropped over it, which is counted.
inline constexpr size_t kEventsWaitingMax = 1'000;

/// A receiver that does not answer delays nobody but itself: values are taken when they can be
/// sent, so that none queue up, and messages wait in a queue of their own. Failures are counted,
/// and logged when they begin and end.
class ExportLanes {
 public:
  /// What is true now; nullopt when nothing is known yet. Called by any lane.
  using TakeValues = std::function<std::optional<push::Values>(
      const SeriesChoice&, std::span<const metrics::ExporterHealth>)>;

  /// `clock` outlives the lanes.
  ExportLanes(TakeValues take, const Clock& clock);
  /// As Set({}).
  ~ExportLanes();

  ExportLanes(const ExportLanes&) = delete;
  ExportLanes& operator=(const ExportLanes&) = delete;

  /// Exactly these work from now on. Those that stay the same go on undisturbed; others end, which
  /// may take two seconds, and leave their waiting messages to one of the same name. One thread.
  void Set(const std::vector<ExporterConfig>& configs);

  /// To every webhook that wants to hear of it. Does not wait. Any thread.
  void Tell(const push::IncidentNotice& notice);

  /// Values are sent as soon as may be: some that were sent are not ours any more. Does not wait.
  /// Any thread.
  void Hurry();

  /// Any thread.
  std::vector<metrics::ExporterHealth> Health() const;

 private:
  class Lane;
  class ValueLane;
  class EventLane;

  std::shared_ptr<Lane> MakeLane(const ExporterConfig& config, const std::shared_ptr<Lane>& before);
  std::vector<std::shared_ptr<Lane>> Lanes() const;

  const TakeValues take_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Lane>> lanes_;  // guarded by mutex_; changed by Set alone
};

}  // namespace tidemark::app
