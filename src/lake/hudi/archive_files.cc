#include "lake/hudi/archive_files.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "lake/avro/container.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kLogPrefix = ".commits_.archive.";
constexpr std::string_view kManifestPrefix = "manifest_";
constexpr std::string_view kVersionName = "_version_";
// The version file goes away for a moment on every update, and files leave with their manifest.
constexpr int kManifestTries = 4;
constexpr size_t kManifestSizeMax = size_t{64} << 20;

std::string_view NameOf(std::string_view key) {
  const auto slash = key.rfind('/');
  return slash == key.npos ? key : key.substr(slash + 1);
}

// Digits only, as the version file and manifest names have them.
std::optional<int64_t> NumberOf(std::string_view digits) {
  int64_t number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size() ||
      number < 0) {
    return std::nullopt;
  }
  return number;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

ArchiveFile FileOf(const storage::ObjectInfo& object, ArchiveFormat format) {
  return {object.key, object.size, object.modified, format};
}

void AddLogs(const storage::Listing& listing, ArchiveFiles& found) {
  for (const auto& object : listing.objects) {
    if (IsArchiveLogName(NameOf(object.key))) {
      found.files.push_back(FileOf(object, ArchiveFormat::kLog));
    }
  }
}

// Folders of layout 1 that a table of layout 2 may still have: the one its properties name, which
// 1.x writers call "history", and the one of older releases.
std::set<std::string> LegacyFolders(const TableProperties& properties) {
  std::set<std::string> folders{".hoodie/archived"};
  const auto named = properties.Find("hoodie.archivelog.folder").value_or("");
  // A name that leads elsewhere was no folder to its writer either.
  if (!named.empty() && named.find('/') == named.npos && named != "." && named != "..") {
    folders.insert(".hoodie/" + std::string(named));
  }
  folders.erase(properties.archive_folder);
  return folders;
}

// One look at the history of layout 2.
struct History {
  storage::Listing listing;
  std::optional<int64_t> manifest;
  std::string manifest_key;
};

Result<History> LookAtHistory(const storage::ObjectStore& store, const std::string& folder,
                              const Budget& budget) {
  History history;
  TRY_ASSIGN(history.listing, store.List(folder, {}, budget));
  std::optional<int64_t> newest;
  bool has_version = false;
  for (const auto& object : history.listing.objects) {
    const auto name = NameOf(object.key);
    has_version = has_version || name == kVersionName;
    if (!name.starts_with(kManifestPrefix)) continue;
    newest = std::max(newest, NumberOf(name.substr(kManifestPrefix.size())));
  }
  if (has_version) {
    const auto text = store.Read(folder + "/" + std::string(kVersionName), budget);
    if (!text && text.error().kind != ErrorKind::kNotFound) return std::unexpected(text.error());
    if (text) history.manifest = NumberOf(Trimmed(*text));
  }
  if (!history.manifest) history.manifest = newest;
  if (history.manifest) {
    history.manifest_key = fmt::format("{}/{}{}", folder, kManifestPrefix, *history.manifest);
  }
  return history;
}

void LoseFile(ArchiveFiles& found, std::string kind, const std::string& place,
              std::string message) {
  found.is_whole = false;
  found.findings.push_back({std::move(kind), place, std::move(message)});
}

// Adds what the manifest names; nullopt when something of it is gone and another look may show why.
Result<std::optional<ArchiveFiles>> FilesOf(const storage::ObjectStore& store,
                                            const History& history, const std::string& folder,
                                            bool is_last_look, const Budget& budget) {
  ArchiveFiles found;
  AddLogs(history.listing, found);
  std::map<std::string_view, const storage::ObjectInfo*> objects;
  bool has_data = false;
  for (const auto& object : history.listing.objects) {
    objects.emplace(NameOf(object.key), &object);
    has_data = has_data || object.key.ends_with(".parquet");
  }
  if (!history.manifest) {
    if (has_data) {
      LoseFile(found, "unreadable_archive_manifest", folder,
               "archive has data files and no manifest that names them");
    }
    return found;
  }
  const auto text = store.Read(history.manifest_key, budget);
  if (!text && text.error().kind != ErrorKind::kNotFound) return std::unexpected(text.error());
  if (!text && !is_last_look) return std::nullopt;
  const auto names = text ? ParseArchiveManifest(*text)
                          : Result<std::vector<std::string>>(std::unexpected(text.error()));
  if (!names) {
    LoseFile(found, "unreadable_archive_manifest", history.manifest_key, names.error().message);
    return found;
  }
  for (const auto& name : *names) {
    const auto object = objects.find(name);
    if (object != objects.end()) {
      found.files.push_back(FileOf(*object->second, ArchiveFormat::kParquet));
    } else if (!is_last_look) {
      return std::nullopt;
    } else {
      LoseFile(found, "missing_archive_file", folder + "/" + name,
               fmt::format("the archive's manifest names a file that is not there manifest={}",
                           NameOf(history.manifest_key)));
    }
  }
  return found;
}

Result<ArchiveFiles> FindHistory(const storage::ObjectStore& store, const std::string& folder,
                                 const Budget& budget) {
  for (int look = 1;; ++look) {
    TRY(budget.Check());
    TRY_ASSIGN(const History history, LookAtHistory(store, folder, budget));
    TRY_ASSIGN(auto found, FilesOf(store, history, folder, look == kManifestTries, budget));
    if (found) return *std::move(found);
  }
}

}  // namespace

bool IsArchiveLogName(std::string_view name) {
  if (!name.starts_with(kLogPrefix)) return false;
  const auto rest = name.substr(kLogPrefix.size());
  // Sidecars of Hadoop's local file system start with one more dot: "..commits_".
  return !rest.empty() && rest.front() >= '0' && rest.front() <= '9' && !rest.ends_with(".crc");
}

Result<std::vector<std::string>> ParseArchiveManifest(std::string_view json) {
  const auto bad = [](std::string_view why) {
    return Fail(ErrorKind::kCorrupt, fmt::format("archive manifest is damaged, reason={}", why));
  };
  if (json.size() > kManifestSizeMax) return bad("too large");
  if (json.empty()) return bad("empty");  // simdjson copies from where a null view points to
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return bad(simdjson::error_message(error));
  }
  simdjson::dom::array files;
  if (root["files"].get(files) != simdjson::SUCCESS) return bad("no list of files");
  std::vector<std::string> names;
  for (const auto file : files) {
    std::string_view name;
    if (file["fileName"].get(name) != simdjson::SUCCESS) return bad("a file has no name");
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos ||
        name.find('\0') != name.npos) {
      return bad(fmt::format("a file name leads elsewhere name={}", name));
    }
    names.emplace_back(name);
  }
  return names;
}

Result<ArchiveMergePlan> ParseArchiveMergePlan(std::string_view bytes) {
  TRY_ASSIGN(auto container, avro::Container::Open(bytes));
  TRY_ASSIGN(const auto record, container.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "archive merge plan has no record");
  ArchiveMergePlan plan;
  TRY_ASSIGN(const auto merged, record->Field("mergedArchiveFileName"));
  if (merged && !merged->is_null()) {
    TRY_ASSIGN(plan.merged, merged->String());
  }
  if (plan.merged.empty()) return Fail(ErrorKind::kCorrupt, "archive merge plan names no file");
  TRY_ASSIGN(const auto candidates, record->Field("candidate"));
  if (!candidates || candidates->is_null()) return plan;
  TRY_ASSIGN(auto items, candidates->OpenItems());
  while (true) {
    TRY_ASSIGN(const auto item, items.Next());
    if (!item) return plan;
    TRY_ASSIGN(const auto name, item->value.String());
    plan.candidates.emplace_back(NameOf(name));
  }
}

Result<ArchiveFiles> FindArchiveFiles(const storage::ObjectStore& store,
                                      const TableProperties& properties, const Budget& budget) {
  ArchiveFiles found;
  if (properties.layout < 2) {
    TRY_ASSIGN(const auto listing, store.List(properties.archive_folder, {}, budget));
    AddLogs(listing, found);
  } else {
    TRY_ASSIGN(found, FindHistory(store, properties.archive_folder, budget));
    for (const auto& folder : LegacyFolders(properties)) {
      TRY_ASSIGN(const auto listing, store.List(folder, {}, budget));
      AddLogs(listing, found);
    }
  }
  std::ranges::stable_sort(found.files, std::ranges::greater(), &ArchiveFile::modified);
  return found;
}

}  // namespace tidemark::lake::hudi
