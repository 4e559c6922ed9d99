#include "lake/hudi/commit_metadata_avro.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string>

#include "lake/avro/container.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::string_view, 3> kWantedFields = {"extraMetadata", "operationType",
                                                           "compacted"};

/// Other records of a timeline have extraMetadata too, and must not pass for a commit without a
/// checkpoint.
Status CheckRecordType(const avro::Type& type) {
  const std::string_view name = type.name;
  const auto word = name.substr(name.rfind('.') + 1);
  if (type.kind == avro::Kind::kRecord &&
      (word == "HoodieCommitMetadata" || word == "HoodieReplaceCommitMetadata"))
    return {};
  return Fail(ErrorKind::kUnsupported, fmt::format("value is no commit metadata type={} name={}",
                                                   avro::KindName(type.kind), name));
}

Status ReadExtra(const avro::Datum& map, CommitMetadata& metadata) {
  TRY_ASSIGN(auto entries, map.OpenItems());
  while (true) {
    TRY_ASSIGN(const auto entry, entries.Next());
    if (!entry) return {};
    std::string key(entry->key);
    if (entry->value.is_null()) {
      metadata.extra.erase(key);
      continue;
    }
    TRY_ASSIGN(const auto text, entry->value.String());
    metadata.extra.insert_or_assign(std::move(key), std::string(text));
  }
}

}  // namespace

Result<CommitMetadata> ReadCommitMetadataRecord(const avro::Datum& record) {
  TRY(CheckRecordType(record.type()));
  std::array<std::optional<avro::Datum>, kWantedFields.size()> row;
  TRY(record.ReadFields(avro::Selection(record.type(), kWantedFields), row));
  const auto& [extra, operation, compacted] = row;
  if (!extra)
    return Fail(ErrorKind::kUnsupported, "commit metadata lacks a field missing=extraMetadata");
  CommitMetadata metadata;
  if (!extra->is_null()) TRY(ReadExtra(*extra, metadata));
  if (operation && !operation->is_null()) {
    TRY_ASSIGN(const auto word, operation->String());
    metadata.operation = word;
  }
  if (compacted && !compacted->is_null()) TRY(compacted->Boolean(metadata.is_compacted));
  return metadata;
}

Result<CommitMetadata> ParseAvroCommitMetadata(std::string_view body) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "file holds no record");
  TRY_ASSIGN(auto metadata, ReadCommitMetadataRecord(*record));
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "file holds several records");
  return metadata;
}

}  // namespace tidemark::lake::hudi
