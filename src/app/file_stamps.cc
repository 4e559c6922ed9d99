#include "app/file_stamps.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace tidemark::app {

namespace {

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

FileStamps FileStamps::Now() const {
  FileStamps now;
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
