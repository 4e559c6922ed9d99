#include "sink/catalog_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/letter_case.h"
#include "base/utf8.h"
#include "sink/hive_type.h"

namespace tidemark::sink {

namespace {

constexpr std::string_view kParquetInput = "org.apache.hudi.hadoop.HoodieParquetInputFormat";
constexpr std::string_view kRealtimeInput =
    "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat";
constexpr std::string_view kParquetOutput =
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat";
constexpr std::string_view kParquetSerde =
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe";
/// Metastores keep a property's value in 4000 characters.
constexpr size_t kPropertySizeMax = 4000;
/// Glue takes 255 characters of a column's comment, a metastore 256; Spark's schema has it whole.
constexpr size_t kCommentSizeMax = 250;
constexpr std::string_view kSparkSchema = "spark.sql.sources.schema";
constexpr std::array<std::string_view, 5> kMetaColumns = {
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path",
    "_hoodie_file_name"};
/// Hudi's own cursors (HoodieSyncClient).
constexpr std::string_view kCommitKey = "last_commit_time_sync";
constexpr std::string_view kCompletionKey = "last_commit_completion_time_sync";

/// A metastore does not convert: a value of a typed key that is none of its type cannot be read.
bool IsKeyType(std::string_view type) {
  return type == "string" || type == "int" || type == "bigint" || type == "date";
}

CatalogColumn KeyColumn(const TableView& view, const std::string& name) {
  const auto it = std::ranges::find(view.schema.columns, name, &change::Column::name);
  std::string type = it == view.schema.columns.end() ? "string" : HiveType(*it);
  // Other types reach the path in a form of the key generator's.
  if (!IsKeyType(type)) type = "string";
  return {.name = LowerCase(name), .type = std::move(type)};
}

/// In pieces that end at a character's boundary.
std::vector<std::string> Pieces(const std::string& text) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    size_t size = std::min(kPropertySizeMax, text.size() - at);
    const auto continues = [&](size_t i) {
      return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    };
    while (at + size < text.size() && size > 1 && continues(at + size)) --size;
    pieces.push_back(text.substr(at, size));
    at += size;
  }
  return pieces;
}

change::Column MetaColumn(std::string_view name) {
  return {
      .name = std::string(name), .path = std::string(name), .type = "string", .is_nullable = true};
}

void SetSparkProperties(CatalogTable& table, const TableView& view,
                        const std::vector<change::Column>& columns) {
  auto& properties = table.properties;
  properties["spark.sql.sources.provider"] = "hudi";
  const auto pieces = Pieces(SparkSchemaJson(columns, view.partition_columns));
  properties[fmt::format("{}.numParts", kSparkSchema)] = std::to_string(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    properties[fmt::format("{}.part.{}", kSparkSchema, i)] = pieces[i];
  if (view.partition_columns.empty()) return;
  properties[fmt::format("{}.numPartCols", kSparkSchema)] =
      std::to_string(view.partition_columns.size());
  for (size_t i = 0; i < view.partition_columns.size(); ++i)
    properties[fmt::format("{}.partCol.{}", kSparkSchema, i)] = view.partition_columns[i];
}

Status CheckNames(const CatalogTable& table) {
  std::set<std::string_view> names;
  for (const auto* columns : {&table.columns, &table.partition_keys}) {
    for (const auto& column : *columns) {
      if (!names.insert(column.name).second)
        return Fail(ErrorKind::kInvalidArgument,
                    fmt::format("two columns differ only in the case of their letters, which a "
                                "catalog cannot tell apart: column={}",
                                column.name));
    }
  }
  if (table.columns.empty())
    return Fail(ErrorKind::kInvalidArgument,
                "the table's schema is not known yet, and a catalog wants columns");
  return {};
}

Result<CatalogTable> BaseTable(const TableView& view, const CatalogNaming& naming) {
  CatalogTable table;
  table.location = view.identity.base_path;
  std::vector<change::Column> columns;
  if (naming.with_meta_columns)
    for (const auto name : kMetaColumns) columns.push_back(MetaColumn(name));
  columns.insert(columns.end(), view.schema.columns.begin(), view.schema.columns.end());
  for (const auto& name : view.partition_columns)
    table.partition_keys.push_back(KeyColumn(view, name));
  for (const auto& column : columns) {
    if (std::ranges::find(view.partition_columns, column.name) == view.partition_columns.end())
      table.columns.push_back({.name = LowerCase(column.name),
                               .type = HiveType(column),
                               .comment = Shortened(column.comment, kCommentSizeMax)});
  }
  if (view.schema.columns.empty()) table.columns.clear();
  TRY(CheckNames(table));
  table.output_format = kParquetOutput;
  table.serde = kParquetSerde;
  table.serde_properties["path"] = table.location;
  table.serde_properties["serialization.format"] = "1";
  table.properties["EXTERNAL"] = "TRUE";
  if (view.last_commit_requested)
    table.properties[std::string(kCommitKey)] = *view.last_commit_requested;
  if (view.last_commit_completed)
    table.properties[std::string(kCompletionKey)] = *view.last_commit_completed;
  SetSparkProperties(table, view, columns);
  return table;
}

CatalogTable Named(CatalogTable table, const CatalogName& name) {
  table.database = name.database;
  table.name = name.table;
  table.input_format = name.is_realtime ? kRealtimeInput : kParquetInput;
  table.serde_properties["hoodie.query.as.ro.table"] = name.is_optimized ? "true" : "false";
  return table;
}

std::optional<int64_t> NumberIn(const CatalogTable& table, std::string_view key) {
  const auto it = table.properties.find(std::string(key));
  if (it == table.properties.end()) return std::nullopt;
  const std::string& text = it->second;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "s3a://lake/orders/" and "s3://lake/orders" are one place.
std::string_view PlaceOf(std::string_view location) {
  for (const std::string_view scheme : {"s3a://", "s3n://", "s3://"}) {
    if (location.starts_with(scheme)) location.remove_prefix(scheme.size());
  }
  // A local path, in the three forms that servers make of it.
  if (location.starts_with("file:")) {
    location.remove_prefix(5);
    while (location.starts_with("//")) location.remove_prefix(1);
  }
  while (location.size() > 1 && location.ends_with('/')) location.remove_suffix(1);
  return location;
}

Status CheckSameTable(const CatalogTable& there, const CatalogTable& wanted) {
  if (there.is_view)
    return Fail(ErrorKind::kInvalidArgument, "a view has the table's name in the catalog");
  if (PlaceOf(there.location) != PlaceOf(wanted.location))
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a table of this name is in the catalog already and lies elsewhere: "
                            "location={} wanted={}",
                            there.location, wanted.location));
  const auto names = [](const CatalogTable& table) {
    std::vector<std::string> list;
    for (const auto& key : table.partition_keys) list.push_back(key.name);
    return list;
  };
  if (names(there) != names(wanted))
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("the table in the catalog has other partition columns: columns={} "
                            "wanted={}",
                            fmt::join(names(there), ","), fmt::join(names(wanted), ",")));
  return {};
}

/// The columns of `wanted`: those that are there in the order they have there.
Result<std::vector<CatalogColumn>> ChangedColumns(const CatalogTable& there,
                                                  const CatalogTable& wanted) {
  std::vector<CatalogColumn> columns;
  std::set<std::string_view> taken;
  for (const auto& before : there.columns) {
    const auto it = std::ranges::find(wanted.columns, before.name, &CatalogColumn::name);
    if (it == wanted.columns.end()) continue;
    if (!IsReadableAs(before.type, it->type))
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("the change of a column's type leaves what was written before "
                              "unreadable: column={} from={} to={}",
                              it->name, before.type, it->type));
    columns.push_back(*it);
    taken.insert(it->name);
  }
  for (const auto& column : wanted.columns)
    if (!taken.contains(column.name)) columns.push_back(column);
  return columns;
}

void AddColumnDifferences(const CatalogTable& there, const CatalogTable& changed,
                          std::vector<std::string>& differences) {
  const size_t before = differences.size();
  for (const auto& wanted : changed.columns) {
    const auto it = std::ranges::find(there.columns, wanted.name, &CatalogColumn::name);
    if (it == there.columns.end()) {
      differences.push_back(fmt::format("missing column={}", wanted.name));
    } else if (it->type != wanted.type) {
      differences.push_back(
          fmt::format("column={} type={} wanted={}", wanted.name, it->type, wanted.type));
    } else if (it->comment != wanted.comment) {
      differences.push_back(fmt::format("another comment column={}", wanted.name));
    }
  }
  for (const auto& column : there.columns) {
    if (std::ranges::find(changed.columns, column.name, &CatalogColumn::name) ==
        changed.columns.end())
      differences.push_back(fmt::format("surplus column={}", column.name));
  }
  // One that is there twice.
  if (differences.size() == before && there.columns != changed.columns)
    differences.emplace_back("another order of columns");
}

/// Their keys alone: Spark's schema is as long as the table is wide.
void AddPropertyDifferences(std::string_view word, std::map<std::string, std::string> there,
                            std::map<std::string, std::string> changed,
                            std::vector<std::string>& differences) {
  for (const auto key : {kEpochKey, kSeqKey, kCommitKey, kCompletionKey}) {
    there.erase(std::string(key));
    changed.erase(std::string(key));
  }
  const auto say = [&](std::string_view what, const std::string& key) {
    differences.push_back(fmt::format("{} {}={}", what, word, key));
  };
  for (const auto& [key, value] : changed) {
    const auto it = there.find(key);
    if (it == there.end())
      say("missing", key);
    else if (it->second != value)
      say("another", key);
  }
  for (const auto& [key, value] : there)
    if (!changed.contains(key)) say("surplus", key);
}

}  // namespace

Result<std::vector<CatalogName>> CatalogNames(const TableView& view, const CatalogNaming& naming) {
  if (view.table_name.empty())
    return Fail(ErrorKind::kInvalidArgument, "the table has no name to be known by");
  CatalogName name{.database = naming.database,
                   .table = LowerCase(naming.prefix + view.table_name)};
  if (name.database.empty()) name.database = LowerCase(view.identity.database);
  if (name.database.empty()) name.database = "default";
  if (view.type == lake::hudi::TableType::kCopyOnWrite) return std::vector{name};
  CatalogName optimized = name;
  optimized.is_optimized = true;
  CatalogName realtime = name;
  realtime.is_realtime = true;
  switch (naming.merge_on_read) {
    case MergeOnReadTables::kBoth: break;
    case MergeOnReadTables::kSnapshot: return std::vector{realtime};
    case MergeOnReadTables::kOptimized: return std::vector{optimized};
  }
  optimized.table += "_ro";
  realtime.table += "_rt";
  return std::vector{optimized, realtime};
}

Result<std::vector<CatalogTable>> CatalogTables(const TableView& view,
                                                const CatalogNaming& naming) {
  TRY_ASSIGN(const auto names, CatalogNames(view, naming));
  TRY_ASSIGN(const CatalogTable base, BaseTable(view, naming));
  std::vector<CatalogTable> tables;
  for (const auto& name : names) tables.push_back(Named(base, name));
  return tables;
}

std::optional<SinkStamp> StampOf(const CatalogTable& table) {
  const auto epoch = NumberIn(table, kEpochKey);
  const auto seq = NumberIn(table, kSeqKey);
  if (!epoch || !seq) return std::nullopt;
  return SinkStamp{*epoch, *seq};
}

void SetStamp(CatalogTable& table, const SinkStamp& stamp) {
  table.properties[std::string(kEpochKey)] = std::to_string(stamp.epoch);
  table.properties[std::string(kSeqKey)] = std::to_string(stamp.seq);
}

Result<CatalogTable> ChangedTable(const CatalogTable& there, const CatalogTable& wanted) {
  TRY(CheckSameTable(there, wanted));
  CatalogTable table = there;
  TRY_ASSIGN(table.columns, ChangedColumns(there, wanted));
  // The type of a key is what its values are kept by: it stays as it was made.
  table.input_format = wanted.input_format;
  table.output_format = wanted.output_format;
  table.serde = wanted.serde;
  for (const auto& [key, value] : wanted.serde_properties)
    table.serde_properties.insert_or_assign(key, value);
  // Pieces of a longer schema must not stay behind a shorter one.
  std::erase_if(table.properties,
                [](const auto& property) { return property.first.starts_with(kSparkSchema); });
  for (const auto& [key, value] : wanted.properties) table.properties.insert_or_assign(key, value);
  return table;
}

std::vector<std::string> ShapeDifferences(const CatalogTable& there, const CatalogTable& changed) {
  std::vector<std::string> differences;
  AddColumnDifferences(there, changed, differences);
  const auto add = [&](std::string_view name, const std::string& is, const std::string& wanted) {
    if (is != wanted) differences.push_back(fmt::format("{}={} wanted={}", name, is, wanted));
  };
  add("input_format", there.input_format, changed.input_format);
  add("output_format", there.output_format, changed.output_format);
  add("serde", there.serde, changed.serde);
  AddPropertyDifferences("serde property", there.serde_properties, changed.serde_properties,
                         differences);
  AddPropertyDifferences("property", there.properties, changed.properties, differences);
  return differences;
}

Result<PartitionDifference> ComparePartitions(
    const CatalogTable& table, std::vector<PartitionView> wanted,
    const std::vector<std::vector<std::string>>& present) {
  TRY(CheckValues(table, wanted));
  PartitionDifference difference;
  std::set<std::vector<std::string>> known(present.begin(), present.end());
  std::set<std::vector<std::string>> seen;
  for (auto& partition : wanted) {
    auto values = CatalogValues(partition);
    const bool is_known = known.contains(values);
    // Two folders of the same values are one partition to a catalog, and twice in a batch an error.
    if (seen.insert(std::move(values)).second && !is_known)
      difference.missing.push_back(std::move(partition));
  }
  for (const auto& values : known) {
    if (seen.contains(values)) continue;
    PartitionView partition;
    for (const auto& value : values) partition.values.emplace_back(value);
    difference.surplus.push_back(std::move(partition));
  }
  return difference;
}

Status CheckValues(const CatalogTable& table, std::span<const PartitionView> partitions) {
  for (const auto& partition : partitions) {
    if (partition.values.size() != table.partition_keys.size())
      return Fail(
          ErrorKind::kInvalidArgument,
          fmt::format("a partition has not as many values as the table has partition "
                      "columns: path={} values={} columns={}",
                      partition.path, partition.values.size(), table.partition_keys.size()));
  }
  return {};
}

}  // namespace tidemark::sink
