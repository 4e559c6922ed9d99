#include "app/incident.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "app/table_audit.h"
#include "app/table_rows.h"

namespace tidemark::app {
namespace {

constexpr Milliseconds kDeadline = std::chrono::seconds(30);
constexpr std::array<const char*, 3> kProfiles = {"event-time", "hudi-0.14", "hudi-1.1"};

struct Story {
  const char* table;
  const char* tells;
};
constexpr std::array<Story, 2> kStories = {{
    {"f014_x_bug17642", "a row is written, and a delete from five weeks before arrives late"},
    {"f014_string_oneflush_d",
     "twelve keys get an insert, an update and a delete in every order; six of them live on"},
}};

Result<std::string> FindTable(const std::string& data_folder, const std::string& name) {
  const std::filesystem::path folder(data_folder);
  for (const auto& place : {folder / name, folder.parent_path() / "rows" / name}) {
    std::error_code error;
    if (std::filesystem::is_directory(place / "table", error)) return (place / "table").string();
  }
  return Fail(ErrorKind::kNotFound,
              fmt::format("the demo's table is not there, table={} folder={}", name, data_folder));
}

Result<uint64_t> CountRows(const std::string& table, const std::string& profile,
                           const FreshnessEdges& edges) {
  RowsOptions options;
  options.scan.profile = profile;
  TRY_ASSIGN(const auto written, WriteRows(
                                     table, {}, options, [](std::string_view) { return Status(); },
                                     {}, Budget::For(kDeadline), edges));
  return written.counts.in_slices.rows;
}

}  // namespace

Result<std::vector<Incident>> TellIncidents(const std::string& data_folder,
                                            const FreshnessEdges& edges) {
  std::vector<Incident> incidents;
  for (const Story& story : kStories) {
    Incident& incident = incidents.emplace_back();
    TRY_ASSIGN(incident.table, FindTable(data_folder, story.table));
    incident.story = story.tells;
    for (const char* profile : kProfiles) {
      TRY_ASSIGN(const uint64_t rows, CountRows(incident.table, profile, edges));
      incident.rows.emplace_back(profile, rows);
    }
    audit::AuditOptions options;
    options.profiles = {kProfiles[1]};
    TRY_ASSIGN(incident.report,
               AuditTable(incident.table, {}, {options}, Budget::For(kDeadline), edges));
  }
  return incidents;
}

}  // namespace tidemark::app
