#include "app/table_discovery.h"

#include <algorithm>

#include "base/glob.h"

namespace tidemark::app {

namespace {

/// Where the path begins: behind "s3://bucket/", "file:///" or "/".
size_t PathStart(std::string_view uri) {
  const size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos) return 0;
  const size_t slash = uri.find('/', scheme + 3);
  return slash == std::string_view::npos ? uri.size() : slash + 1;
}

/// Folders of `folder` whose name is of the pattern, as URIs.
Result<std::vector<std::string>> Matching(const std::string& folder, std::string_view pattern,
                                          const OpenStoreAt& open, const Budget& budget) {
  TRY_ASSIGN(const auto store, open(folder));
  TRY_ASSIGN(const auto listing, store->List("", {}, budget));
  std::vector<std::string> found;
  for (std::string name : listing.folders) {
    name.pop_back();
    if (name.starts_with('.') || !MatchesGlob(pattern, name)) continue;
    found.push_back((folder.ends_with('/') ? folder : folder + "/") + name);
  }
  return found;
}

Result<bool> IsTable(const std::string& uri, const OpenStoreAt& open, const Budget& budget) {
  TRY_ASSIGN(const auto store, open(uri));
  TRY_ASSIGN(const auto listing, store->List(".hoodie", {}, budget));
  return std::ranges::any_of(listing.objects, [](const auto& object) {
    return object.key == ".hoodie/hoodie.properties";
  });
}

}  // namespace

std::string ParentOf(std::string_view uri) {
  while (uri.size() > 1 && uri.ends_with('/')) uri.remove_suffix(1);
  const size_t start = PathStart(uri);
  const size_t slash = uri.rfind('/');
  if (slash == std::string_view::npos || start >= uri.size()) return "";
  if (slash + 1 == start) return std::string(uri.substr(0, uri.contains("://") ? start : 1));
  if (slash == 0) return "/";
  return std::string(uri.substr(0, slash));
}

Result<std::vector<std::string>> FindTables(
    const std::string& pattern, const OpenStoreAt& open,
    const std::function<bool(const std::string& uri)>& is_known, const Budget& budget) {
  if (pattern.find('*') == std::string::npos) return std::vector<std::string>{pattern};
  // The folder before the first part with a star, then part by part.
  const size_t cut = pattern.rfind('/', pattern.find('*'));
  std::vector<std::string> folders{pattern.substr(0, cut == 0 ? 1 : cut)};
  std::string_view rest = std::string_view(pattern).substr(cut + 1);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::vector<std::string> deeper;
    for (const auto& folder : folders) {
      TRY_ASSIGN(auto found, Matching(folder, part, open, budget));
      for (auto& each : found) deeper.push_back(std::move(each));
      if (deeper.size() > kFoundTablesMax)
        return Fail(ErrorKind::kExhausted, "too many folders are of the pattern " + pattern);
    }
    folders = std::move(deeper);
  }
  std::vector<std::string> tables;
  for (auto& folder : folders) {
    if (is_known(folder)) {
      tables.push_back(std::move(folder));
      continue;
    }
    TRY_ASSIGN(const bool is_table, IsTable(folder, open, budget));
    if (is_table) tables.push_back(std::move(folder));
  }
  std::ranges::sort(tables);
  return tables;
}

}  // namespace tidemark::app
