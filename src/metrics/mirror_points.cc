#include "metrics/mirror_points.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "metrics/names.h"

namespace tidemark::metrics {

Points MirrorPoints(const MirrorReport& report, size_t table_series_max) {
  Points points;
  const auto add = [&](std::string_view name, Labels labels, std::string value) {
    points.push_back(
        {&FamilyNamed(FamilyGroup::kMirror, name), std::move(labels), std::move(value), {}});
  };
  const auto count = [&](std::string_view name, uint64_t value) {
    add(name, {}, fmt::format("{}", value));
  };
  const bool has_series = report.tables.size() <= table_series_max;
  if (has_series) {
    for (const auto& table : report.tables)
      add(names::kConsumeLag, {{"table", table.table}}, fmt::format("{}", table.lag));
    for (const auto& table : report.tables) {
      if (!table.version_gap_seconds) continue;
      add(names::kVersionGap, {{"table", table.table}},
          fmt::format("{:.3f}", *table.version_gap_seconds));
    }
  }
  count(names::kMirrorTables, report.tables.size());
  count(names::kMirrorTablesWaiting,
        static_cast<uint64_t>(std::ranges::count_if(report.tables, &MirroredTable::is_waiting)));
  count(names::kMirrorTablesLeftOut, has_series ? 0 : report.tables.size());
  count(names::kApplied, report.applied);
  count(names::kGap, report.gaps);
  for (const auto& [reason, relists] : report.relists)
    add(names::kRelist, {{"reason", reason}}, fmt::format("{}", relists));
  count(names::kDigestMismatch, report.mismatches);
  count(names::kDuplicate, report.duplicates);
  count(names::kConflict, report.conflicts);
  count(names::kLateApplied, report.late);
  count(names::kPartsDropped, report.dropped);
  count(names::kOpenGroups, report.open_groups);
  count(names::kDlq, report.buried);
  return points;
}

}  // namespace tidemark::metrics
