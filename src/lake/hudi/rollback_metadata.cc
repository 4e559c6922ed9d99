#include "lake/hudi/rollback_metadata.h"

#include <array>
#include <utility>

#include "lake/hudi/avro_body_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::string_view, 2> kInstantFields = {"commitTime", "action"};
/// Old releases wrote the first alone.
constexpr std::array<std::string_view, 2> kRollbackFields = {"commitsRollback", "instantsRollback"};
constexpr std::array<std::string_view, 3> kRestoreFields = {
    "instantsToRollback", "restoreInstantInfo", "hoodieRestoreMetadata"};
constexpr std::array<std::string_view, 2> kRestorePlanFields = {"instantsToRollback",
                                                                "savepointToRestoreTimestamp"};
constexpr std::array<std::string_view, 4> kSavepointFields = {"savepointedBy", "savepointedAt",
                                                              "comments", "partitionMetadata"};

/// Instants in the order they come, each once.
class InstantList {
 public:
  /// One without an action is any of the same time.
  void Add(NamedInstant instant) {
    auto& places = places_[instant.requested];
    for (const size_t place : places) {
      NamedInstant& known = instants_[place];
      if (known.action_name.empty()) known.action_name = instant.action_name;
      if (instant.action_name.empty() || known.action_name == instant.action_name) return;
    }
    places.push_back(instants_.size());
    instants_.push_back(std::move(instant));
  }
  /// {"commitTime": …, "action": …}
  Status AddInfo(const avro::Datum& info) {
    std::array<std::optional<avro::Datum>, kInstantFields.size()> row;
    TRY(ReadFieldsOf(info, kInstantFields, row));
    NamedInstant instant;
    TRY(ReadText(row[0], instant.requested));
    TRY(ReadText(row[1], instant.action_name));
    if (instant.requested.empty())
      return Fail(ErrorKind::kCorrupt, "an instant rolled back has no time");
    Add(std::move(instant));
    return {};
  }
  Status AddInfos(const std::optional<avro::Datum>& list) {
    return ForEach(list, [&](const avro::Items::Entry& entry) { return AddInfo(entry.value); });
  }
  Status AddTimes(const std::optional<avro::Datum>& list) {
    return ForEach(list, [&](const avro::Items::Entry& entry) -> Status {
      TRY_ASSIGN(const auto time, entry.value.String());
      Add({std::string(time), ""});
      return {};
    });
  }
  /// HoodieRollbackMetadata
  Status AddRollback(const avro::Datum& record) {
    TRY(CheckRecordName(record.type(), "HoodieRollbackMetadata"));
    std::array<std::optional<avro::Datum>, kRollbackFields.size()> row;
    TRY(ReadFieldsOf(record, kRollbackFields, row));
    TRY(AddInfos(row[1]));
    return AddTimes(row[0]);
  }
  std::vector<NamedInstant> Take() && { return std::move(instants_); }

 private:
  std::vector<NamedInstant> instants_;
  std::map<std::string, std::vector<size_t>> places_;  // by time
};

Result<RestoreMetadata> ReadRestoreMetadata(const avro::Datum& record) {
  TRY(CheckRecordName(record.type(), "HoodieRestoreMetadata"));
  std::array<std::optional<avro::Datum>, kRestoreFields.size()> row;
  TRY(ReadFieldsOf(record, kRestoreFields, row));
  InstantList list;
  TRY(list.AddInfos(row[1]));
  TRY(list.AddTimes(row[0]));
  // The rollbacks it was made of, by the time that each undid.
  TRY(ForEach(row[2], [&](const avro::Items::Entry& of_instant) {
    return ForEach(of_instant.value, [&](const avro::Items::Entry& rollback) -> Status {
      return rollback.value.is_null() ? Status() : list.AddRollback(rollback.value);
    });
  }));
  return RestoreMetadata{std::move(list).Take(), ""};
}

Result<RollbackMetadata> ReadRollbackPlan(const avro::Datum& record) {
  constexpr std::array<std::string_view, 1> kFields = {"instantToRollback"};
  TRY(CheckRecordName(record.type(), "HoodieRollbackPlan"));
  std::array<std::optional<avro::Datum>, 1> row;
  TRY(ReadFieldsOf(record, kFields, row));
  InstantList list;
  if (row[0] && !row[0]->is_null()) TRY(list.AddInfo(*row[0]));
  return RollbackMetadata{std::move(list).Take()};
}

Result<RestoreMetadata> ReadRestorePlan(const avro::Datum& record) {
  TRY(CheckRecordName(record.type(), "HoodieRestorePlan"));
  std::array<std::optional<avro::Datum>, kRestorePlanFields.size()> row;
  TRY(ReadFieldsOf(record, kRestorePlanFields, row));
  InstantList list;
  TRY(list.AddInfos(row[0]));
  std::string savepoint;
  TRY(ReadText(row[1], savepoint));
  return RestoreMetadata{std::move(list).Take(), std::move(savepoint)};
}

/// {"partitionPath": …, "savepointDataFile": […]}
Status ReadKeptFiles(const avro::Datum& partition, std::vector<std::string>& names) {
  constexpr std::array<std::string_view, 1> kFields = {"savepointDataFile"};
  std::array<std::optional<avro::Datum>, 1> row;
  TRY(ReadFieldsOf(partition, kFields, row));
  return ForEach(row[0], [&](const avro::Items::Entry& file) -> Status {
    TRY_ASSIGN(const auto path, file.value.String());
    names.emplace_back(path.substr(path.rfind('/') + 1));
    return {};
  });
}

}  // namespace

Result<RollbackMetadata> ReadRollbackMetadata(const avro::Datum& record) {
  InstantList list;
  TRY(list.AddRollback(record));
  return RollbackMetadata{std::move(list).Take()};
}

Result<SavepointMetadata> ReadSavepointMetadata(const avro::Datum& record) {
  TRY(CheckRecordName(record.type(), "HoodieSavepointMetadata"));
  std::array<std::optional<avro::Datum>, kSavepointFields.size()> row;
  TRY(ReadFieldsOf(record, kSavepointFields, row));
  SavepointMetadata savepoint;
  TRY(ReadText(row[0], savepoint.created_by));
  TRY(ReadText(row[2], savepoint.comment));
  if (row[1] && !row[1]->is_null()) {
    TRY_ASSIGN(const auto ms, row[1]->Long());
    savepoint.created_at = WallTimeFromMillis(ms);
  }
  TRY(ForEach(row[3], [&](const avro::Items::Entry& partition) {
    return ReadKeptFiles(partition.value, savepoint.files[std::string(partition.key)]);
  }));
  return savepoint;
}

Result<RollbackMetadata> ParseRollbackMetadata(std::string_view body) {
  return ReadOnlyRecord(body, "a rollback's metadata", ReadRollbackMetadata);
}

Result<RestoreMetadata> ParseRestoreMetadata(std::string_view body) {
  return ReadOnlyRecord(body, "a restore's metadata", ReadRestoreMetadata);
}

Result<SavepointMetadata> ParseSavepointMetadata(std::string_view body) {
  return ReadOnlyRecord(body, "a savepoint's metadata", ReadSavepointMetadata);
}

Result<RollbackMetadata> ParseRollbackPlan(std::string_view body) {
  return ReadOnlyRecord(body, "a rollback's plan", ReadRollbackPlan);
}

Result<RestoreMetadata> ParseRestorePlan(std::string_view body) {
  return ReadOnlyRecord(body, "a restore's plan", ReadRestorePlan);
}

}  // namespace tidemark::lake::hudi
