#include "storage/object_key.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::storage {

bool IsKey(std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax || key.contains('\0')) return false;
  while (true) {
    const size_t slash = key.find('/');
    const std::string_view part = key.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.starts_with(kUnfinishedPrefix))
      return false;
    if (slash == std::string_view::npos) return true;
    key.remove_prefix(slash + 1);
  }
}

Status CheckKey(std::string_view uri, std::string_view key) {
  if (IsKey(key)) return {};
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("not a name of an object (relative, no empty, '.' or '..' part, at most "
                          "{} bytes): key='{}' store={}",
                          kKeyBytesMax, Printable(key), Printable(uri)));
}

Result<std::string> FolderPrefix(std::string_view uri, std::string_view folder) {
  if (folder.empty()) return std::string();
  if (folder.ends_with('/')) folder.remove_suffix(1);
  TRY(CheckKey(uri, folder));
  return std::string(folder) + '/';
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (const char c : text.substr(0, kKeyBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      printable += fmt::format("\\x{:02x}", byte);
    } else {
      printable += c;
    }
  }
  return printable;
}

std::string ObjectName(std::string_view uri, std::string_view key) {
  std::string name = Printable(uri);
  if (!key.empty() && !name.ends_with('/')) name += '/';
  return name + Printable(key);
}

bool FolderIsListed(std::string_view folder, std::string_view start_after) {
  return folder > start_after || start_after.starts_with(folder);
}

void SortListing(Listing& listing) {
  std::ranges::sort(listing.objects, {}, &ObjectInfo::key);
  std::ranges::sort(listing.folders);
  const auto twice = std::ranges::unique(listing.folders);
  listing.folders.erase(twice.begin(), twice.end());
}

}  // namespace tidemark::storage
