#include "lake/hudi/partitions.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lake/hudi/data_file_name.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kMetaFolder = ".hoodie/";
/// Sorts behind every key in the folder, and before every other one.
constexpr std::string_view kBehindMetaFolder = ".hoodie0";
/// The mark is one file or another, by the format of base files.
constexpr std::string_view kMarkName = ".hoodie_partition_metadata";
constexpr std::string_view kHiveNull = "__HIVE_DEFAULT_PARTITION__";
constexpr std::string_view kPartitionFieldsKey = "hoodie.table.partition.fields";
constexpr std::string_view kUrlEncodeKey = "hoodie.datasource.write.partitionpath.urlencode";
constexpr std::string_view kHiveStyleKey = "hoodie.datasource.write.hive_style_partitioning";

struct Folder {
  std::vector<storage::ObjectInfo> files;
  bool is_marked = false;
};

using storage::FolderOf;
using storage::NameOf;

bool IsMark(std::string_view name) {
  if (!name.starts_with(kMarkName)) return false;
  name.remove_prefix(kMarkName.size());
  return name.empty() || name == ".parquet" || name == ".orc";
}

/// The table that a key lies in when that is another one: the folder before its "/.hoodie/".
std::optional<std::string_view> NestedTableOf(std::string_view key) {
  const size_t at = key.find("/.hoodie/");
  if (at == key.npos) return std::nullopt;
  return key.substr(0, at);
}

bool IsInside(std::string_view path, std::string_view folder) {
  return path == folder ||
         (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

bool HoldsData(const Folder& folder) {
  return std::ranges::any_of(folder.files, [](const storage::ObjectInfo& file) {
    const auto name = NameOf(file.key);
    return ParseBaseFileName(name) || ParseLogFileName(name);
  });
}

/// Files with their names, sizes and times; empty without a data file.
std::string ContentOf(const Folder& folder) {
  if (!HoldsData(folder)) return {};
  std::string content;
  for (const storage::ObjectInfo& file : folder.files) {
    content += fmt::format("{}/{}/{}\n", NameOf(file.key), file.size,
                           file.modified.time_since_epoch().count());
  }
  return content;
}

/// Every object of the table outside `.hoodie`.
Result<std::vector<storage::ObjectInfo>> ListData(const storage::ObjectStore& store,
                                                  const Budget& budget) {
  TRY_ASSIGN(const storage::Listing root, store.List("", {}, budget));
  std::vector<storage::ObjectInfo> objects;
  const auto take = [&objects](storage::Listing listing) {
    std::ranges::move(listing.objects, std::back_inserter(objects));
  };
  for (const storage::ObjectInfo& object : root.objects)
    if (object.key < kBehindMetaFolder) objects.push_back(object);
  for (const std::string& folder : root.folders) {
    if (folder >= kMetaFolder) break;
    TRY(budget.Check());
    TRY_ASSIGN(storage::Listing listing,
               store.List(folder, {.start_after = {}, .is_recursive = true}, budget));
    take(std::move(listing));
  }
  TRY_ASSIGN(storage::Listing rest,
             store.List("", {.start_after = std::string(kBehindMetaFolder), .is_recursive = true},
                        budget));
  take(std::move(rest));
  return objects;
}

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

int HexValue(char c) {
  if (c <= '9') return c - '0';
  return (c | 0x20) - 'a' + 10;
}

/// "%2F" to "/"; what is no escape stays as it is.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && IsHex(text[i + 1]) && IsHex(text[i + 2]);
    if (!is_escape) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
    i += 2;
  }
  return decoded;
}

bool IsTrue(const TableProperties& properties, std::string_view key) {
  return properties.Find(key).value_or("false") == "true";
}

std::vector<std::string_view> Split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// One folder, or a whole path, as the value of `column`.
PartitionValue ValueOf(std::string_view text, std::string column,
                       const TableProperties& properties) {
  PartitionValue result{std::move(column), std::nullopt};
  const size_t equals = text.find('=');
  const bool names_column =
      equals != text.npos && text.substr(0, equals) == std::string_view(result.column);
  if (names_column || (equals != text.npos && IsTrue(properties, kHiveStyleKey))) {
    if (result.column.empty()) result.column = text.substr(0, equals);
    text.remove_prefix(equals + 1);
  }
  if (text == kHiveNull) return result;
  result.value = IsTrue(properties, kUrlEncodeKey) ? Decoded(text) : std::string(text);
  return result;
}

}  // namespace

Result<PartitionListing> ListPartitions(const storage::ObjectStore& store,
                                        const PartitionFilter& wants, const Budget& budget) {
  TRY_ASSIGN(auto objects, ListData(store, budget));
  PartitionListing listing;
  std::vector<std::string> nested;
  std::map<std::string, Folder, std::less<>> folders;
  for (storage::ObjectInfo& object : objects) {
    if (const auto table = NestedTableOf(object.key)) {
      if (nested.empty() || nested.back() != *table) nested.emplace_back(*table);
      continue;
    }
    Folder& folder = folders[std::string(FolderOf(object.key))];
    if (IsMark(NameOf(object.key)))
      folder.is_marked = true;
    else
      folder.files.push_back(std::move(object));
  }
  for (const std::string& table : nested) {
    std::erase_if(folders, [&](const auto& entry) { return IsInside(entry.first, table); });
    listing.findings.push_back(
        {"nested_table", table, "another table lies inside this one and is not part of it"});
  }
  std::map<std::string, std::string> by_content;  // path of the first partition that has it
  for (auto& [path, folder] : folders) {
    if (!folder.is_marked && !HoldsData(folder)) continue;
    if (wants && !wants(path)) continue;
    if (!folder.is_marked) {
      listing.findings.push_back(
          {"unmarked_partition", path,
           fmt::format("a folder with data files lacks the mark of a partition missing={}",
                       kMarkName)});
    }
    // A link to another folder. Times elsewhere are too coarse to tell files apart.
    if (auto content = store.is_local() ? ContentOf(folder) : std::string(); !content.empty()) {
      const auto [known, is_new] = by_content.try_emplace(std::move(content), path);
      if (!is_new) {
        listing.findings.push_back(
            {"repeated_partition", path,
             fmt::format("the folder holds the very files of another one, so that their rows are "
                         "shown twice other={}",
                         known->second)});
      }
    }
    listing.partitions.push_back({path, std::move(folder.files)});
  }
  return listing;
}

std::vector<std::string> PartitionColumns(const TableProperties& properties) {
  std::vector<std::string> columns;
  const auto fields = properties.Find(kPartitionFieldsKey).value_or("");
  for (std::string_view field : Split(fields, ',')) {
    field = field.substr(0, field.find(':'));
    const size_t first = field.find_first_not_of(' ');
    if (first == field.npos) continue;
    columns.emplace_back(field.substr(first, field.find_last_not_of(' ') + 1 - first));
  }
  return columns;
}

std::vector<PartitionValue> PartitionValues(std::string_view path,
                                            const TableProperties& properties) {
  if (path.empty()) return {};
  const auto columns = PartitionColumns(properties);
  if (columns.size() == 1) return {ValueOf(path, columns[0], properties)};
  std::vector<PartitionValue> values;
  for (const std::string_view folder : Split(path, '/')) {
    const size_t place = values.size();
    values.push_back(
        ValueOf(folder, place < columns.size() ? columns[place] : std::string(), properties));
  }
  return values;
}

}  // namespace tidemark::lake::hudi
