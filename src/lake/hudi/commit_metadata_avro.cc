#include "lake/hudi/commit_metadata_avro.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lake/avro/container.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::string_view, 4> kWantedFields = {
    "extraMetadata", "operationType", "compacted", "partitionToReplaceFileIds"};

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

Status ReadReplaced(const avro::Datum& map, CommitMetadata& metadata) {
  TRY_ASSIGN(auto partitions, map.OpenItems());
  while (true) {
    TRY_ASSIGN(const auto partition, partitions.Next());
    if (!partition) return {};
    std::vector<std::string> ids;
    if (!partition->value.is_null()) {
      TRY_ASSIGN(auto items, partition->value.OpenItems());
      while (true) {
        TRY_ASSIGN(const auto item, items.Next());
        if (!item) break;
        TRY_ASSIGN(const auto id, item->value.String());
        ids.emplace_back(id);
      }
    }
    metadata.replaced.insert_or_assign(std::string(partition->key), std::move(ids));
  }
}

}  // namespace

Result<CommitMetadata> ReadCommitMetadataRecord(const avro::Datum& record) {
  TRY(CheckRecordType(record.type()));
  std::array<std::optional<avro::Datum>, kWantedFields.size()> row;
  TRY(record.ReadFields(avro::Selection(record.type(), kWantedFields), row));
  const auto& [extra, operation, compacted, replaced] = row;
  if (!extra)
    return Fail(ErrorKind::kUnsupported, "commit metadata lacks a field missing=extraMetadata");
  CommitMetadata metadata;
  if (!extra->is_null()) TRY(ReadExtra(*extra, metadata));
  if (operation && !operation->is_null()) {
    TRY_ASSIGN(const auto word, operation->String());
    metadata.operation = word;
  }
  if (compacted && !compacted->is_null()) TRY(compacted->Boolean(metadata.is_compacted));
  metadata.says_replaced = replaced.has_value();
  if (replaced && !replaced->is_null()) TRY(ReadReplaced(*replaced, metadata));
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
