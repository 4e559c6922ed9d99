#include "sink/glue_catalog.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parallel.h"
#include "base/utf8.h"

namespace tidemark::sink {

namespace {

using nlohmann::json;

/// What TableInput knows of what GetTable answers.
constexpr std::array<std::string_view, 12> kInputKeys = {
    "Name",      "Description",       "Owner",         "LastAccessTime",   "LastAnalyzedTime",
    "Retention", "StorageDescriptor", "PartitionKeys", "ViewOriginalText", "ViewExpandedText",
    "TableType", "Parameters"};
constexpr size_t kQuotedBytesMax = 300;
/// How often what failed of a batch is tried again.
constexpr int kBatchTriesMax = 10;

std::string TextIn(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

json ObjectIn(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_object() ? *it : json::object();
}

std::map<std::string, std::string> TextsIn(const json& object, const char* key) {
  std::map<std::string, std::string> texts;
  const json from = ObjectIn(object, key);
  for (const auto& [name, value] : from.items())
    if (value.is_string()) texts.emplace(name, value.get<std::string>());
  return texts;
}

json ArrayIn(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_array() ? *it : json::array();
}

std::vector<CatalogColumn> ColumnsIn(const json& object, const char* key) {
  std::vector<CatalogColumn> columns;
  for (const auto& column : ArrayIn(object, key)) {
    if (column.is_object())
      columns.push_back(
          {TextIn(column, "Name"), TextIn(column, "Type"), TextIn(column, "Comment")});
  }
  return columns;
}

Result<json> ParseAnswer(const std::string& body) {
  json parsed = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Fail(ErrorKind::kUnavailable, "Glue's answer is no JSON object");
  return parsed;
}

json ColumnsJson(const std::vector<CatalogColumn>& columns) {
  auto list = json::array();
  for (const auto& column : columns) {
    json entry = {{"Name", column.name}, {"Type", column.type}};
    if (!column.comment.empty()) entry["Comment"] = column.comment;
    list.push_back(std::move(entry));
  }
  return list;
}

void SetStorage(json& storage, const CatalogTable& table) {
  storage["Columns"] = ColumnsJson(table.columns);
  storage["Location"] = table.location;
  storage["InputFormat"] = table.input_format;
  storage["OutputFormat"] = table.output_format;
  json serde = ObjectIn(storage, "SerdeInfo");
  serde["SerializationLibrary"] = table.serde;
  serde["Parameters"] = table.serde_properties;
  storage["SerdeInfo"] = std::move(serde);
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// {"CatalogId":…,"DatabaseName":…}
json Request(const GlueClient& client, const std::string& database) {
  json request = {{"DatabaseName", database}};
  if (!client.options().catalog_id.empty()) request["CatalogId"] = client.options().catalog_id;
  return request;
}

/// What failed of a batch.
struct Failures {
  std::vector<PartitionView> again;  ///< may be tried again
  bool is_throttled = false;
  std::optional<Error> refused;  ///< one that may not
};

/// `Errors` in a 200 answer: [{"PartitionValues":[…],"ErrorDetail":{"ErrorCode":…,…}}].
Failures FailuresIn(const json& answer, std::span<const PartitionView> batch,
                    std::string_view harmless) {
  std::map<std::vector<std::string>, const PartitionView*> by_values;
  for (const auto& partition : batch) by_values.emplace(CatalogValues(partition), &partition);
  Failures failures;
  for (const auto& error : ArrayIn(answer, "Errors")) {
    if (!error.is_object()) continue;
    const json detail = ObjectIn(error, "ErrorDetail");
    const std::string code = TextIn(detail, "ErrorCode");
    if (code == harmless) continue;
    std::vector<std::string> values;
    for (const auto& value : ArrayIn(error, "PartitionValues"))
      values.push_back(value.is_string() ? value.get<std::string>() : std::string());
    const auto it = by_values.find(values);
    const ErrorKind kind = KindOfGlueError(code);
    if (it != by_values.end() && kind == ErrorKind::kUnavailable) {
      failures.is_throttled |= IsThrottling(code);
      failures.again.push_back(*it->second);
      continue;
    }
    failures.refused = Error{
        kind, fmt::format("{}: {} partition={}", code,
                          Printable(TextIn(detail, "ErrorMessage").substr(0, kQuotedBytesMax)),
                          Printable(fmt::format("{}", fmt::join(values, "/"))))};
  }
  return failures;
}

}  // namespace

std::string_view GlueCatalog::cure_of_refusal() const {
  return "delete the table in Glue (its data stays) and resume the sink, which makes it anew; or "
         "give the sink another database or prefix";
}

Status GlueCatalog::Check(const Budget& budget) {
  json request = {{"MaxResults", 1}};
  if (!client_.options().catalog_id.empty()) request["CatalogId"] = client_.options().catalog_id;
  TRY(client_.Call("GetDatabases", Dump(request), budget));
  return {};
}

Result<std::optional<CatalogTable>> GlueCatalog::ReadTable(const std::string& database,
                                                           const std::string& name,
                                                           const Budget& budget) {
  json request = Request(client_, database);
  request["Name"] = name;
  auto body = client_.Call("GetTable", Dump(request), budget);
  if (!body && body.error().kind == ErrorKind::kNotFound) return std::optional<CatalogTable>();
  if (!body) return std::unexpected(std::move(body).error());
  TRY_ASSIGN(const json answer, ParseAnswer(*body));
  const json table = ObjectIn(answer, "Table");
  const json storage = ObjectIn(table, "StorageDescriptor");
  const json serde = ObjectIn(storage, "SerdeInfo");
  read_ = Dump(table);
  CatalogTable read{.database = database,
                    .name = TextIn(table, "Name"),
                    .location = TextIn(storage, "Location"),
                    .columns = ColumnsIn(storage, "Columns"),
                    .partition_keys = ColumnsIn(table, "PartitionKeys"),
                    .input_format = TextIn(storage, "InputFormat"),
                    .output_format = TextIn(storage, "OutputFormat"),
                    .serde = TextIn(serde, "SerializationLibrary"),
                    .serde_properties = TextsIn(serde, "Parameters"),
                    .properties = TextsIn(table, "Parameters"),
                    .is_view = TextIn(table, "TableType").contains("VIEW"),
                    .version = TextIn(table, "VersionId")};
  return std::optional(std::move(read));
}

Status GlueCatalog::CreateTable(const CatalogTable& table, const Budget& budget) {
  json request = Request(client_, table.database);
  json input = {{"Name", table.name},
                {"TableType", "EXTERNAL_TABLE"},
                {"PartitionKeys", ColumnsJson(table.partition_keys)},
                {"Parameters", table.properties}};
  SetStorage(input["StorageDescriptor"], table);
  request["TableInput"] = std::move(input);
  auto body = client_.Call("CreateTable", Dump(request), budget);
  if (body || body.error().message.starts_with(kGlueExists)) return {};
  // Whoever makes the database can have the table without resuming anything.
  if (body.error().kind == ErrorKind::kNotFound)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the database is not in Glue, create it: database={} ({})",
                            table.database, body.error().message));
  return std::unexpected(std::move(body).error());
}

Status GlueCatalog::AlterTable(const CatalogTable& before, const CatalogTable& after,
                               const Budget& budget) {
  const json read = json::parse(read_, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object() || TextIn(read, "Name") != before.name)
    return Fail(ErrorKind::kInternal, "a table is altered that was not read last");
  json input = json::object();
  for (const auto key : kInputKeys)
    if (const auto it = read.find(key); it != read.end()) input[std::string(key)] = *it;
  SetStorage(input["StorageDescriptor"], after);
  input["Parameters"] = after.properties;
  json request = Request(client_, before.database);
  request["TableInput"] = std::move(input);
  request["SkipArchive"] = true;
  if (!before.version.empty()) request["VersionId"] = before.version;
  TRY(client_.Call("UpdateTable", Dump(request), budget));
  return {};
}

Status GlueCatalog::DropTable(const std::string& database, const std::string& name,
                              const Budget& budget) {
  json request = Request(client_, database);
  request["Name"] = name;
  auto body = client_.Call("DeleteTable", Dump(request), budget);
  if (body || body.error().kind == ErrorKind::kNotFound) return {};
  return std::unexpected(std::move(body).error());
}

Result<std::vector<std::vector<std::string>>> GlueCatalog::ListSegment(const CatalogTable& table,
                                                                       size_t segment,
                                                                       size_t segments,
                                                                       const Budget& budget) {
  json request = Request(client_, table.database);
  request["TableName"] = table.name;
  request["ExcludeColumnSchema"] = true;
  request["MaxResults"] = kGlueListMax;
  if (segments > 1) request["Segment"] = {{"SegmentNumber", segment}, {"TotalSegments", segments}};
  std::vector<std::vector<std::string>> partitions;
  for (;;) {
    TRY_ASSIGN(const std::string body, client_.Call("GetPartitions", Dump(request), budget));
    TRY_ASSIGN(const json answer, ParseAnswer(body));
    for (const auto& partition : ArrayIn(answer, "Partitions")) {
      std::vector<std::string> values;
      if (partition.is_object())
        for (const auto& value : ArrayIn(partition, "Values"))
          values.push_back(value.is_string() ? value.get<std::string>() : std::string());
      partitions.push_back(std::move(values));
    }
    std::string next = TextIn(answer, "NextToken");
    if (next.empty()) return partitions;
    if (next == TextIn(request, "NextToken"))
      return Fail(ErrorKind::kUnavailable, "Glue's listing of partitions does not go on");
    request["NextToken"] = std::move(next);
  }
}

Result<std::vector<std::vector<std::string>>> GlueCatalog::ListPartitions(const CatalogTable& table,
                                                                          const Budget& budget) {
  const size_t segments = std::clamp<size_t>(client_.options().at_once, 1, kGlueSegmentsMax);
  std::vector<std::vector<std::vector<std::string>>> lists(segments);
  TRY(InParallel(segments, static_cast<unsigned>(segments), [&](size_t i) -> Status {
    TRY_ASSIGN(lists[i], ListSegment(table, i, segments, budget));
    return {};
  }));
  std::vector<std::vector<std::string>> all;
  for (auto& list : lists)
    for (auto& values : list) all.push_back(std::move(values));
  return all;
}

Status GlueCatalog::Batch(BatchKind kind, const CatalogTable& table,
                          std::vector<PartitionView> partitions, const Budget& budget) {
  const bool creates = kind == BatchKind::kCreate;
  const std::string operation = creates ? "BatchCreatePartition" : "BatchDeletePartition";
  for (int tries = 1; !partitions.empty(); ++tries) {
    json request = Request(client_, table.database);
    request["TableName"] = table.name;
    auto list = json::array();
    for (const auto& partition : partitions) {
      json entry = {{"Values", CatalogValues(partition)}};
      if (creates) {
        SetStorage(entry["StorageDescriptor"], table);
        entry["StorageDescriptor"]["Location"] = PartitionLocation(table, partition);
      }
      list.push_back(std::move(entry));
    }
    request[creates ? "PartitionInputList" : "PartitionsToDelete"] = std::move(list);
    TRY_ASSIGN(const std::string body, client_.Call(operation, Dump(request), budget));
    TRY_ASSIGN(const json answer, ParseAnswer(body));
    Failures failures = FailuresIn(answer, partitions, creates ? kGlueExists : kGlueNotFound);
    if (failures.refused) return std::unexpected(*std::move(failures.refused));
    if (failures.is_throttled) client_.NoteRefusal(operation);
    if (!failures.again.empty() && tries == kBatchTriesMax)
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("some partitions of a batch fail again and again: operation={} "
                              "partitions={} tries={}",
                              operation, failures.again.size(), tries));
    partitions = std::move(failures.again);
  }
  return {};
}

Status GlueCatalog::InBatches(BatchKind kind, const CatalogTable& table,
                              std::span<const PartitionView> partitions, size_t most,
                              const Budget& budget) {
  const size_t batches = (partitions.size() + most - 1) / most;
  return InParallel(batches, client_.options().at_once, [&](size_t i) {
    const auto part = partitions.subspan(i * most, std::min(most, partitions.size() - i * most));
    return Batch(kind, table, {part.begin(), part.end()}, budget);
  });
}

Status GlueCatalog::AddPartitions(const CatalogTable& table,
                                  std::span<const PartitionView> partitions, const Budget& budget) {
  return InBatches(BatchKind::kCreate, table, partitions, kGlueCreateMax, budget);
}

Status GlueCatalog::DropPartitions(const CatalogTable& table,
                                   std::span<const PartitionView> partitions,
                                   const Budget& budget) {
  return InBatches(BatchKind::kDelete, table, partitions, kGlueDeleteMax, budget);
}

}  // namespace tidemark::sink
