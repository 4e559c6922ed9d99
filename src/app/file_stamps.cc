#include "app/file_stamps.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/glob.h"

namespace tidemark::app {

namespace {

namespace fs = std::filesystem;

int64_t NanosecondsOf(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamps::Stamp FileStamps::StampOf(const std::string& path) {
  struct stat stat = {};
  if (::stat(path.c_str(), &stat) != 0) return {.error = errno};
  return {.modified_ns = NanosecondsOf(stat.st_mtim),
          .status_changed_ns = NanosecondsOf(stat.st_ctim),
          .size = stat.st_size,
          .device = stat.st_dev,
          .inode = stat.st_ino};
}

void FileStamps::Add(const std::string& path) {
  if (!files_.contains(path)) files_.emplace(path, StampOf(path));
}

FileStamps::Listing FileStamps::ListingOf(const std::string& folder, const std::string& pattern) {
  Listing listing;
  fs::directory_iterator entry(folder, listing.error);
  for (const fs::directory_iterator end; !listing.error && entry != end;
       entry.increment(listing.error)) {
    std::string name = entry->path().filename().string();
    if (MatchesGlob(pattern, name)) listing.names.push_back(std::move(name));
  }
  if (listing.error) listing.names.clear();
  std::ranges::sort(listing.names);
  return listing;
}

FileStamps::Listing FileStamps::AddMatches(const std::string& folder, const std::string& pattern) {
  const auto [known, is_new] = matches_.try_emplace({folder, pattern});
  if (is_new) known->second = ListingOf(folder, pattern);
  return known->second;
}

FileStamps FileStamps::Now() const {
  FileStamps now;
  for (const auto& [place, listing] : matches_) now.AddMatches(place.first, place.second);
  for (const auto& [path, stamp] : files_) now.Add(path);
  return now;
}

bool SettledChange::Look() {
  FileStamps now = read_.Now();
  if (now == read_) {
    changing_.reset();
    return false;
  }
  if (changing_ == now) return true;
  changing_ = std::move(now);
  return false;
}

void SettledChange::Set(FileStamps read) {
  read_ = std::move(read);
  changing_.reset();
}

}  // namespace tidemark::app
