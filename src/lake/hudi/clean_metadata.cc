#include "lake/hudi/clean_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lake/hudi/avro_body_internal.h"

namespace tidemark::lake::hudi {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kMetadataFields = {
    "earliestCommitToRetain", "lastCompletedCommitTimestamp", "partitionMetadata"};
/// What was to be deleted, and what became of it; in old releases the first may be empty.
constexpr std::array<std::string_view, 4> kPartitionFields = {
    "deletePathPatterns", "successDeleteFiles", "failedDeleteFiles", "isPartitionDeleted"};
constexpr size_t kFileListCount = 3;
/// The fourth is of releases before 0.5.3, which knew no bootstrapped files.
constexpr std::array<std::string_view, 5> kPlanFields = {
    "earliestInstantToRetain", "lastCompletedCommitTimestamp", "filePathsToBeDeletedPerPartition",
    "filesToBeDeletedPerPartition", "partitionsToBeDeleted"};

std::string NameOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

void SortUnique(Names& names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

void SortUnique(CleanMetadata& clean) {
  for (auto& [partition, names] : clean.removed) SortUnique(names);
  SortUnique(clean.deleted_partitions);
}

Status ReadPartition(const avro::Items::Entry& partition, CleanMetadata& clean) {
  Names& names = clean.removed[std::string(partition.key)];
  std::array<std::optional<avro::Datum>, kPartitionFields.size()> row;
  TRY(ReadFieldsOf(partition.value, kPartitionFields, row));
  for (size_t i = 0; i < kFileListCount; ++i) {
    TRY(ForEach(row[i], [&](const avro::Items::Entry& entry) -> Status {
      TRY_ASSIGN(const auto path, entry.value.String());
      names.push_back(NameOf(path));
      return {};
    }));
  }
  const auto& is_deleted_field = row[kFileListCount];
  bool is_deleted = false;
  if (is_deleted_field && !is_deleted_field->is_null()) TRY(is_deleted_field->Boolean(is_deleted));
  if (is_deleted) clean.deleted_partitions.emplace_back(partition.key);
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
  TRY(ForEach(row[4], [&](const avro::Items::Entry& partition) -> Status {
    TRY_ASSIGN(const auto name, partition.value.String());
    clean.deleted_partitions.emplace_back(name);
    return {};
  }));
  SortUnique(clean);
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
    return ReadPartition(of_partition, clean);
  }));
  SortUnique(clean);
  return clean;
}

Result<CleanMetadata> ParseCleanMetadata(std::string_view body) {
  return ReadOnlyRecord(body, "a clean's metadata", ReadCleanMetadata);
}

Result<CleanMetadata> ParseCleanPlan(std::string_view body) {
  return ReadOnlyRecord(body, "a clean's plan", ReadPlan);
}

}  // namespace tidemark::lake::hudi
