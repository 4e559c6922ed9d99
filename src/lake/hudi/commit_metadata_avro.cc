#include "lake/hudi/commit_metadata_avro.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lake/avro/container.h"
#include "lake/hudi/write_sink_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::string_view, 5> kWantedFields = {"extraMetadata", "operationType",
                                                           "compacted", "partitionToReplaceFileIds",
                                                           "partitionToWriteStats"};
// The last is wanted only by some.
constexpr auto kMetadataFields = std::span(kWantedFields).first<4>();

constexpr std::array<std::string_view, 10> kStatFields = {
    "fileId",          "path",       "prevCommit",      "numWrites",       "numDeletes",
    "numUpdateWrites", "numInserts", "totalWriteBytes", "fileSizeInBytes", "logOffset"};

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

/// Absent and null leave the value as it was.
Status ReadText(const std::optional<avro::Datum>& field, std::string_view& text) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(text, field->String());
  return {};
}

Status ReadNumber(const std::optional<avro::Datum>& field, int64_t& number) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(number, field->Long());
  return {};
}

/// Reads the stats of one body. They are all of one type, whose fields are looked up once.
class StatReader {
 public:
  explicit StatReader(WriteSink& writes) : writes_(writes) {}

  Status ReadPartition(const avro::Items::Entry& partition) {
    writes_.BeginPartition(partition.key);
    TRY_ASSIGN(auto stats, partition.value.OpenItems());
    while (true) {
      TRY_ASSIGN(const auto stat, stats.Next());
      if (!stat) return {};
      TRY(ReadStat(stat->value));
    }
  }

 private:
  Status ReadStat(const avro::Datum& record) {
    if (record.type().kind != avro::Kind::kRecord)
      return Fail(ErrorKind::kUnsupported, "write stat is no record");
    if (!selection_ || &selection_->record() != &record.type())
      selection_.emplace(record.type(), kStatFields);
    std::array<std::optional<avro::Datum>, kStatFields.size()> row;
    TRY(record.ReadFields(*selection_, row));
    WriteView write;
    TRY(ReadText(row[0], write.file_id));
    TRY(ReadText(row[1], write.path));
    TRY(ReadText(row[2], write.previous));
    TRY(ReadNumber(row[3], write.writes));
    TRY(ReadNumber(row[4], write.deletes));
    TRY(ReadNumber(row[5], write.updates));
    TRY(ReadNumber(row[6], write.inserts));
    TRY(ReadNumber(row[7], write.written_bytes));
    TRY(ReadNumber(row[8], write.file_size));
    TRY(ReadNumber(row[9], write.log_offset));
    writes_.Take(write);
    return {};
  }

  WriteSink& writes_;
  std::optional<avro::Selection> selection_;
};

Status ReadStats(const avro::Datum& by_partition, WriteSink& writes) {
  writes.BeginStats();
  StatReader reader(writes);
  TRY_ASSIGN(auto partitions, by_partition.OpenItems());
  while (true) {
    TRY_ASSIGN(const auto partition, partitions.Next());
    if (!partition) return {};
    TRY(reader.ReadPartition(*partition));
  }
}

}  // namespace

Result<CommitMetadata> ReadCommitMetadataRecord(const avro::Datum& record, WriteSink* writes) {
  TRY(CheckRecordType(record.type()));
  std::array<std::optional<avro::Datum>, kWantedFields.size()> row;
  const auto wanted =
      writes == nullptr ? std::span<const std::string_view>(kMetadataFields) : kWantedFields;
  TRY(record.ReadFields(avro::Selection(record.type(), wanted),
                        std::span(row).first(wanted.size())));
  const auto& [extra, operation, compacted, replaced, stats] = row;
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
  if (writes != nullptr && stats && !stats->is_null()) TRY(ReadStats(*stats, *writes));
  return metadata;
}

Result<CommitMetadata> ParseAvroCommitMetadata(std::string_view body, WriteSink* writes) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "file holds no record");
  TRY_ASSIGN(auto metadata, ReadCommitMetadataRecord(*record, writes));
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "file holds several records");
  return metadata;
}

}  // namespace tidemark::lake::hudi
