#include "app/incident_notices.h"

#include <algorithm>
#include <utility>

namespace tidemark::app {

namespace {

push::IncidentNotice Bare(const state::Incident& incident) {
  push::IncidentNotice notice;
  notice.pipeline = incident.pipeline;
  notice.status = incident.status;
  notice.reason = incident.reason;
  notice.opened_at = incident.opened_at;
  notice.closed_at = incident.closed_at;
  return notice;
}

}  // namespace

push::IncidentNotice IncidentNotices::NoticeOf(const state::Incident& incident) const {
  push::IncidentNotice notice = Bare(incident);
  if (const auto subject = subjects_.find(incident.pipeline); subject != subjects_.end()) {
    notice.cluster = subject->second.cluster;
    notice.table = subject->second.table;
    notice.labels = subject->second.labels;
  }
  return notice;
}

std::vector<push::IncidentNotice> IncidentNotices::Note(const freshness::PipelineReport& report) {
  const std::lock_guard lock(mutex_);
  std::vector<push::IncidentNotice> notices;
  for (const state::Incident& incident : book_.Note(report)) {
    subjects_.insert_or_assign(incident.pipeline,
                               Subject{report.cluster, report.table, report.labels});
    notices.push_back(NoticeOf(incident));
    notices.back().message = report.message;
  }
  return notices;
}

std::vector<push::IncidentNotice> IncidentNotices::KeepOnly(const Config& config, WallTime now) {
  std::vector<std::string> names;
  for (const PipelineConfig& pipeline : config.pipelines) names.push_back(pipeline.spec.name);
  const std::lock_guard lock(mutex_);
  std::vector<push::IncidentNotice> notices;
  for (const state::Incident& incident : book_.KeepOnly(names, now))
    notices.push_back(NoticeOf(incident));
  std::erase_if(subjects_, [&](const auto& entry) {
    return std::ranges::find(names, entry.first) == names.end();
  });
  return notices;
}

void IncidentNotices::Adopt(const std::vector<state::Incident>& open) {
  const std::lock_guard lock(mutex_);
  book_.Adopt(open);
}

std::vector<push::IncidentNotice> IncidentNotices::Release(const std::set<std::string>& pipelines,
                                                           WallTime now) {
  const std::lock_guard lock(mutex_);
  std::vector<push::IncidentNotice> notices;
  for (state::Incident& incident : book_.Release(pipelines)) {
    incident.closed_at = now;
    notices.push_back(NoticeOf(incident));
  }
  for (const std::string& pipeline : pipelines) subjects_.erase(pipeline);
  return notices;
}

std::vector<push::IncidentNotice> NoticesToRepeat(const std::vector<state::Incident>& incidents,
                                                  const Config& config, WallTime now) {
  std::vector<push::IncidentNotice> notices;
  const auto is_young = [&](WallTime at) { return now - at < kToldAgainMax; };
  for (const state::Incident& incident : incidents) {
    push::IncidentNotice closes = Bare(incident);
    const auto pipeline =
        std::ranges::find(config.pipelines, incident.pipeline,
                          [](const PipelineConfig& each) { return each.spec.name; });
    if (pipeline != config.pipelines.end()) {
      closes.cluster = pipeline->spec.cluster;
      closes.table = pipeline->spec.table;
      closes.labels = pipeline->spec.labels;
    }
    push::IncidentNotice opens = closes;
    opens.closed_at.reset();
    if (is_young(opens.opened_at)) notices.push_back(std::move(opens));
    if (closes.closed_at && is_young(*closes.closed_at)) notices.push_back(std::move(closes));
  }
  std::ranges::stable_sort(notices, {}, [](const push::IncidentNotice& notice) {
    return notice.closed_at.value_or(notice.opened_at);
  });
  return notices;
}

}  // namespace tidemark::app
