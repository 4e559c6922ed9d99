#include "lake/hudi/clean_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "lake/avro/container.h"

namespace tidemark::lake::hudi {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kMetadataFields = {
    "earliestCommitToRetain", "lastCompletedCommitTimestamp", "partitionMetadata"};
/// What was to be deleted, and what became of it; in old releases the first may be empty.
constexpr std::array<std::string_view, 3> kFileLists = {"deletePathPatterns", "successDeleteFiles",
                                                        "failedDeleteFiles"};
/// The last is of releases before 0.5.3, which knew no bootstrapped files.
constexpr std::array<std::string_view, 4> kPlanFields = {
    "earliestInstantToRetain", "lastCompletedCommitTimestamp", "filePathsToBeDeletedPerPartition",
    "filesToBeDeletedPerPartition"};

using Row = std::span<std::optional<avro::Datum>>;

std::string NameOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

Status ReadFieldsOf(const avro::Datum& record, std::span<const std::string_view> names, Row row) {
  if (record.type().kind != avro::Kind::kRecord) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("a part of a clean's metadata is no record type={}",
                            avro::KindName(record.type().kind)));
  }
  return record.ReadFields(avro::Selection(record.type(), names), row);
}

/// A nullable string; absent and null are empty.
Status ReadText(const std::optional<avro::Datum>& field, std::string& text) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(text, field->String());
  return {};
}

/// Calls `read` with each entry of a nullable map or array.
template <class Read>
Status ForEach(const std::optional<avro::Datum>& field, const Read& read) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(auto items, field->OpenItems());
  while (true) {
    TRY_ASSIGN(const auto item, items.Next());
    if (!item) return {};
    TRY(read(*item));
  }
}

void SortUnique(CleanMetadata& clean) {
  for (auto& [partition, names] : clean.removed) {
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }
}

Status ReadPartition(const avro::Datum& partition, Names& names) {
  std::array<std::optional<avro::Datum>, kFileLists.size()> lists;
  TRY(ReadFieldsOf(partition, kFileLists, lists));
  for (const auto& list : lists) {
    TRY(ForEach(list, [&](const avro::Items::Entry& entry) -> Status {
      TRY_ASSIGN(const auto path, entry.value.String());
      names.push_back(NameOf(path));
      return {};
    }));
  }
  return {};
}

/// {"timestamp": …, "action": …, "state": …}
Status ReadTimestamp(const std::optional<avro::Datum>& instant, std::string& text) {
  constexpr std::array<std::string_view, 1> kTimestamp = {"timestamp"};
  if (!instant || instant->is_null()) return {};
  std::array<std::optional<avro::Datum>, 1> row;
  TRY(ReadFieldsOf(*instant, kTimestamp, row));
  return ReadText(row[0], text);
}

/// {"filePath": …, "isBootstrapBaseFile": …}, or the path itself. A bootstrapped file lies in
/// another table.
Status ReadPlannedFile(const avro::Datum& file, Names& names) {
  constexpr std::array<std::string_view, 2> kFile = {"filePath", "isBootstrapBaseFile"};
  std::string path;
  if (file.type().kind != avro::Kind::kRecord) {
    TRY(ReadText(file, path));
  } else {
    std::array<std::optional<avro::Datum>, 2> row;
    TRY(ReadFieldsOf(file, kFile, row));
    bool is_elsewhere = false;
    if (row[1] && !row[1]->is_null()) TRY(row[1]->Boolean(is_elsewhere));
    if (is_elsewhere) return {};
    TRY(ReadText(row[0], path));
  }
  names.push_back(NameOf(path));
  return {};
}

Result<CleanMetadata> ReadPlan(const avro::Datum& record) {
  std::array<std::optional<avro::Datum>, kPlanFields.size()> row;
  TRY(ReadFieldsOf(record, kPlanFields, row));
  CleanMetadata clean;
  TRY(ReadTimestamp(row[0], clean.earliest_to_retain));
  TRY(ReadText(row[1], clean.last_completed));
  for (const auto& lists : {row[2], row[3]}) {
    TRY(ForEach(lists, [&](const avro::Items::Entry& of_partition) {
      Names& names = clean.removed[std::string(of_partition.key)];
      return ForEach(of_partition.value, [&](const avro::Items::Entry& file) {
        return ReadPlannedFile(file.value, names);
      });
    }));
  }
  SortUnique(clean);
  return clean;
}

template <class Read>
Result<CleanMetadata> ReadOnlyRecord(std::string_view body, const Read& read) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "a clean's metadata holds no record");
  TRY_ASSIGN(auto clean, read(*record));
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "a clean's metadata holds several records");
  return clean;
}

}  // namespace

Result<CleanMetadata> ReadCleanMetadata(const avro::Datum& record) {
  std::array<std::optional<avro::Datum>, kMetadataFields.size()> row;
  TRY(ReadFieldsOf(record, kMetadataFields, row));
  if (!row[2]) {
    return Fail(ErrorKind::kUnsupported,
                "a clean's metadata lacks a field missing=partitionMetadata");
  }
  CleanMetadata clean;
  TRY(ReadText(row[0], clean.earliest_to_retain));
  TRY(ReadText(row[1], clean.last_completed));
  TRY(ForEach(row[2], [&](const avro::Items::Entry& of_partition) {
    return ReadPartition(of_partition.value, clean.removed[std::string(of_partition.key)]);
  }));
  SortUnique(clean);
  return clean;
}

Result<CleanMetadata> ParseCleanMetadata(std::string_view body) {
  return ReadOnlyRecord(body, ReadCleanMetadata);
}

Result<CleanMetadata> ParseCleanPlan(std::string_view body) {
  return ReadOnlyRecord(body, ReadPlan);
}

}  // namespace tidemark::lake::hudi
