#include "push/file_exporters.h"

#include <algorithm>

#include "api/sources_json.h"
#include "metrics/text_exposition.h"
#include "push/atomic_file.h"

namespace tidemark::push {

Result<Delivery> TextfileExporter::Send(const Values& values, const Budget& budget) {
  TRY(budget.Check());
  TRY(ReplaceFile(path_, metrics::TextExposition(values.points, metrics::TextFormat::kPrometheus)));
  return Delivery{};
}

Status TextfileExporter::Retire(const Budget& budget) {
  (void)budget;
  return RemoveFile(path_);
}

Result<Delivery> SourcesExporter::Send(const Values& values, const Budget& budget) {
  TRY(budget.Check());
  // One look after the other: the longest is as long as it took to know all.
  Milliseconds longest{0};
  for (const auto& report : values.reports) longest = std::max(longest, report.probe_duration);
  TRY(ReplaceFile(path_, api::SourcesJson(values.reports, values.taken_at, longest) + "\n"));
  return Delivery{};
}

}  // namespace tidemark::push
