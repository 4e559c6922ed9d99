/// From reports to the messages that incidents are told by.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/state_keeper.h"
#include "freshness/report.h"
#include "push/webhook.h"
#include "state/state_store.h"

namespace tidemark::app {

/// What an earlier process left undelivered was tried for so long at most: what is younger is told
/// again. Receivers know the message by its id.
inline constexpr Milliseconds kToldAgainMax = std::chrono::hours(1);

/// Any thread.
class IncidentNotices {
 public:
  /// `open` as an earlier process left them: the same incidents go on.
  explicit IncidentNotices(std::vector<state::Incident> open) : book_(std::move(open)) {}

  /// What `report` opens and closes.
  std::vector<push::IncidentNotice> Note(const freshness::PipelineReport& report);

  /// Those of pipelines that are gone close.
  std::vector<push::IncidentNotice> KeepOnly(const Config& config, WallTime now);

  /// As IncidentBook: of pipelines that come from, and go to, another process. What Release()
  /// returns closes at `now`: for a process that does not leave them to the other one.
  void Adopt(const std::vector<state::Incident>& open);
  std::vector<push::IncidentNotice> Release(const std::set<std::string>& pipelines, WallTime now);

 private:
  struct Subject {
    std::string cluster;
    std::string table;
    std::map<std::string, std::string> labels;
  };

  push::IncidentNotice NoticeOf(const state::Incident& incident) const;

  std::mutex mutex_;
  IncidentBook book_;
  std::map<std::string, Subject, std::less<>> subjects_;  // pipelines that had an incident
};

/// Messages of an earlier process that may not have arrived: of `incidents`, those that opened or
/// closed less than kToldAgainMax ago, oldest first.
std::vector<push::IncidentNotice> NoticesToRepeat(const std::vector<state::Incident>& incidents,
                                                  const Config& config, WallTime now);

}  // namespace tidemark::app
