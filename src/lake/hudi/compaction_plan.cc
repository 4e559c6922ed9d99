#include "lake/hudi/compaction_plan.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "lake/avro/container.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array<std::string_view, 5> kOperationFields = {
    "partitionPath", "fileId", "baseInstantTime", "dataFilePath", "deltaFilePaths"};

using storage::NameOf;

/// A nullable string; absent and null are empty.
Status ReadText(const std::optional<avro::Datum>& field, std::string& text) {
  if (!field || field->is_null()) return {};
  TRY_ASSIGN(text, field->String());
  return {};
}

Status ReadLogFiles(const avro::Datum& paths, CompactionOperation& operation) {
  TRY_ASSIGN(auto items, paths.OpenItems());
  while (true) {
    TRY_ASSIGN(const auto item, items.Next());
    if (!item) return {};
    TRY_ASSIGN(const auto path, item->value.String());
    operation.log_files.emplace_back(NameOf(path));
  }
}

Result<CompactionOperation> ReadOperation(const avro::Datum& record) {
  if (record.type().kind != avro::Kind::kRecord)
    return Fail(ErrorKind::kUnsupported, "compaction operation is no record");
  std::array<std::optional<avro::Datum>, kOperationFields.size()> row;
  TRY(record.ReadFields(avro::Selection(record.type(), kOperationFields), row));
  CompactionOperation operation;
  TRY(ReadText(row[0], operation.partition));
  TRY(ReadText(row[1], operation.file_id));
  TRY(ReadText(row[2], operation.base_instant));
  std::string base_path;
  TRY(ReadText(row[3], base_path));
  operation.base_file = NameOf(base_path);
  if (row[4] && !row[4]->is_null()) TRY(ReadLogFiles(*row[4], operation));
  return operation;
}

}  // namespace

Result<std::vector<CompactionOperation>> ParseCompactionPlan(std::string_view body) {
  std::vector<CompactionOperation> plan;
  if (body.empty()) return plan;
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "compaction plan holds no record");
  TRY_ASSIGN(const auto operations, record->Field("operations"));
  if (!operations)
    return Fail(ErrorKind::kUnsupported, "compaction plan lacks a field missing=operations");
  if (!operations->is_null()) {
    TRY_ASSIGN(auto items, operations->OpenItems());
    while (true) {
      TRY_ASSIGN(const auto item, items.Next());
      if (!item) break;
      TRY_ASSIGN(auto operation, ReadOperation(item->value));
      plan.push_back(std::move(operation));
    }
  }
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "compaction plan holds several records");
  return plan;
}

}  // namespace tidemark::lake::hudi
