#include "push/webhook.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "push/json_text_internal.h"

namespace tidemark::push {

std::string IncidentId(const IncidentNotice& notice) {
  return fmt::format("{}/{}/{}", notice.pipeline, freshness::PipelineStatusName(notice.status),
                     FormatRfc3339(notice.opened_at));
}

std::string IncidentJson(const IncidentNotice& notice) {
  const auto time = [](WallTime at) { return JsonString(FormatRfc3339(at)); };
  std::string labels;
  for (const auto& [name, value] : notice.labels)
    labels +=
        fmt::format("{}{}:{}", labels.empty() ? "" : ",", JsonString(name), JsonString(value));
  return fmt::format(
      R"({{"schema":"tidemark.incident/1","id":{},"event":"{}","pipeline":{},"cluster":{},)"
      R"("table":{},"labels":{{{}}},"status":"{}","reason":{},"message":{},"opened_at":{},)"
      R"("closed_at":{}}})",
      JsonString(IncidentId(notice)), notice.closed_at ? "close" : "open",
      JsonString(notice.pipeline), JsonString(notice.cluster), JsonString(notice.table), labels,
      freshness::PipelineStatusName(notice.status), JsonString(notice.reason),
      notice.message ? JsonString(*notice.message) : "null", time(notice.opened_at),
      notice.closed_at ? time(*notice.closed_at) : "null");
}

Status Webhook::Tell(const IncidentNotice& notice, const Budget& budget) {
  const std::string body = IncidentJson(notice);
  TRY(receiver_.Send(
      {.method = "POST", .url = url_, .content_type = "application/json", .body = body}, budget));
  return {};
}

Result<int> Webhook::Check(const Budget& budget) {
  TRY_ASSIGN(
      const storage::HttpAnswer answer,
      receiver_.Ask({.method = "HEAD", .url = url_, .content_type = {}, .body = {}}, budget));
  return answer.status;
}

}  // namespace tidemark::push
