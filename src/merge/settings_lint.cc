#include "merge/settings_lint.h"

#include <fmt/format.h>

namespace tidemark::merge {
namespace {

/// From this table version on (release 1.0) the properties carry a merge mode.
constexpr int kFirstVersionOf1x = 8;

/// What hoodie.datasource.write.precombine.field is when nobody sets it (up to 0.15), and what to
/// say of it.
constexpr std::string_view kDefaultField = "ts";
constexpr std::string_view kDefaultNote = ", it is what Spark's writer takes when none is set";

/// Whether 0.14 gets another class out of a delete block than out of a record.
bool HasTwoClassesIn014(ColumnType type) {
  switch (type) {
    case ColumnType::kString:
    case ColumnType::kEnum:
    case ColumnType::kUuid:
    case ColumnType::kDecimalBytes:
    case ColumnType::kDecimalFixed:
    case ColumnType::kDate: return true;
    default: return false;
  }
}

bool IsOverwrite(Payload payload) {
  return payload == Payload::kOverwriteWithLatest || payload == Payload::kOverwriteNonDefaults;
}

void LintFields(const TableSettings& settings, std::span<const OrderingColumn> columns,
                std::vector<SettingsFinding>& findings) {
  for (size_t i = 0; i < settings.ordering_fields.size(); ++i) {
    const std::string& field = settings.ordering_fields[i];
    if (field.find('.') != std::string::npos) {
      findings.push_back(
          {"config_nested_ordering", Severity::kWarning,
           fmt::format("the ordering field {} is nested: Flink's writer takes 0 for every record "
                       "without a word, so that the last arrival wins",
                       field)});
    }
    const ColumnType type = i < columns.size() ? columns[i].type : ColumnType::kUnknown;
    if (i < columns.size() && type == ColumnType::kUnknown) {
      findings.push_back(
          {"config_unknown_ordering", Severity::kWarning,
           fmt::format("the ordering field {} is no column of the table{}: no record has a value "
                       "to compare, so the last arrival wins",
                       field, field == kDefaultField ? kDefaultNote : "")});
    }
    if (settings.version < kFirstVersionOf1x && HasTwoClassesIn014(type)) {
      findings.push_back(
          {"config_delete_class", Severity::kWarning,
           fmt::format("the ordering field {} is a {}: releases up to 0.15 do not compare a delete "
                       "with such a column, so a late delete removes newer rows",
                       field, ColumnTypeName(type))});
    }
    if (type == ColumnType::kDate && settings.version >= kFirstVersionOf1x) {
      findings.push_back(
          {"config_delete_class", Severity::kWarning,
           fmt::format("the ordering field {} is a date: Spark with 1.1 cannot write "
                       "a delete of such a table into a log",
                       field)});
    }
  }
}

}  // namespace

std::vector<SettingsFinding> LintSettings(const TableSettings& settings,
                                          std::span<const OrderingColumn> columns) {
  std::vector<SettingsFinding> findings;
  LintFields(settings, columns, findings);
  const bool has_field = !settings.ordering_fields.empty();
  const bool asks_for_event_time = settings.mode ? settings.mode == MergeMode::kEventTime
                                                 : settings.payload == Payload::kDefault ||
                                                       settings.payload == Payload::kEventTime;
  if (!has_field && asks_for_event_time) {
    findings.push_back({"config_no_ordering_field", Severity::kWarning,
                        "the table asks for event time and names no ordering field, so the last "
                        "arrival wins"});
  }
  if (has_field && IsOverwrite(settings.payload)) {
    findings.push_back(
        {"config_overwrite_payload", Severity::kWarning,
         fmt::format("{} ignores the ordering field against base files, and up to 0.15 compares it "
                     "in the logs: what is shown depends on when compactions ran",
                     PayloadName(settings.payload))});
  }
  if (has_field && settings.version < kFirstVersionOf1x) {
    findings.push_back({"config_version", Severity::kInfo,
                        fmt::format("a table of version {} is merged by other rules in 0.x than in "
                                    "1.x readers: the same files show different rows",
                                    settings.version)});
  }
  if (settings.drops_partition_columns && settings.version < kFirstVersionOf1x) {
    findings.push_back({"config_dropped_columns", Severity::kWarning,
                        "the files lack their partition columns: readers up to 0.15 show them as "
                        "null in rows that come from logs"});
  }
  if (const auto merging = InferMerging(Release::k1_1, settings); !merging) {
    findings.push_back({"config_custom_merge", Severity::kInfo, merging.error().message});
  }
  return findings;
}

}  // namespace tidemark::merge
