#include "storage/local_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "storage/local_file.h"
#include "storage/local_listing.h"
#include "storage/object_key.h"

namespace tidemark::storage {

namespace {

/// How often a file that changes while it is read is read again.
constexpr int kSteadyTries = 5;

bool IsSameState(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// A file that may grow is known by its place alone.
Status Hold(ObjectState& state, const struct stat& stat, std::string_view name) {
  std::string tag = fmt::format("{}:{}", stat.st_dev, stat.st_ino);
  if (state.change() == ObjectChange::kNone) {
    tag += fmt::format(":{}.{}", stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec);
  }
  return state.Hold(tag, static_cast<uint64_t>(stat.st_size), name);
}

}  // namespace

LocalStore::LocalStore(std::string path, std::string uri)
    : path_(std::move(path)), uri_(uri.empty() ? path_ : std::move(uri)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  // The root's slashes are its name.
  while (path_ != "/" && uri_.size() > 1 && uri_.ends_with('/')) uri_.pop_back();
}

std::string LocalStore::PathOf(std::string_view key) const {
  if (key.empty()) return path_;
  std::string path = path_;
  if (!path.ends_with('/')) path += '/';
  path += key;
  return path;
}

Result<Listing> LocalStore::List(std::string_view folder, const ListOptions& options,
                                 const Budget& budget) const {
  TRY(budget.Check());
  TRY_ASSIGN(const std::string prefix, FolderPrefix(uri_, folder));
  auto listing = ListLocalFolder(PathOf(prefix), prefix, uri_, options, budget);
  if (listing || listing.error().kind != ErrorKind::kNotFound || prefix.empty()) return listing;
  // A folder that is not there is empty, one whose root is not there is an error: a disk may not be
  // mounted.
  if (::access(path_.c_str(), F_OK) != 0) return FailErrno(errno, "listing", uri_);
  return Listing{};
}

Result<std::string> LocalStore::Read(std::string_view key, const Budget& budget) const {
  return ReadUpTo(key, kReadBytesMax, budget);
}

Result<std::string> LocalStore::ReadUpTo(std::string_view key, uint64_t bytes_max,
                                         const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::string name = ObjectName(uri_, key);
  for (int tries = 0; tries < kSteadyTries; ++tries) {
    TRY_ASSIGN(const OpenFile file, OpenRegularFile(PathOf(key), name));
    const auto size = static_cast<uint64_t>(file.stat.st_size);
    if (size > bytes_max) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("the object is too large to be read whole: object={} bytes={} "
                              "bytes_max={}",
                              name, size, bytes_max));
    }
    TRY_ASSIGN(std::string bytes, ReadAt(file.fd, 0, size, name, budget));
    struct stat after = {};
    if (::fstat(file.fd.get(), &after) != 0) return FailErrno(errno, "reading", name);
    // A writer that only appends leaves what was read as it was when the file was opened.
    const bool has_grown = after.st_size > file.stat.st_size && tries + 1 == kSteadyTries;
    if (bytes.size() == size && (IsSameState(file.stat, after) || has_grown)) return bytes;
  }
  return Fail(
      ErrorKind::kUnavailable,
      fmt::format("the object changes while it is read: object={} tries={}", name, kSteadyTries));
}

Result<std::string> LocalStore::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                          const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::string name = ObjectName(uri_, key);
  TRY_ASSIGN(const OpenFile file, OpenRegularFile(PathOf(key), name));
  const auto size = static_cast<uint64_t>(file.stat.st_size);
  if (offset >= size) return std::string();
  const uint64_t wanted = std::min(length, size - offset);
  if (wanted > kReadBytesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the range is too large: object={} bytes={} bytes_max={}", name, wanted,
                            kReadBytesMax));
  }
  return ReadAt(file.fd, offset, wanted, name, budget);
}

Result<size_t> LocalStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                    ObjectState& state, const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::string name = ObjectName(uri_, key);
  TRY_ASSIGN(const OpenFile file, OpenRegularFile(PathOf(key), name));
  TRY(Hold(state, file.stat, name));
  if (offset >= static_cast<uint64_t>(file.stat.st_size)) return 0;
  TRY_ASSIGN(const size_t size, ReadAt(file.fd, offset, into, name, budget));
  struct stat after = {};
  if (::fstat(file.fd.get(), &after) != 0) return FailErrno(errno, "reading", name);
  TRY(Hold(state, after, name));
  return size;
}

Result<ObjectInfo> LocalStore::Stat(std::string_view key, const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::string name = ObjectName(uri_, key);
  struct stat stat = {};
  if (::stat(PathOf(key).c_str(), &stat) != 0) return FailErrno(errno, "asking for", name);
  if (!S_ISREG(stat.st_mode))
    return Fail(ErrorKind::kNotFound, fmt::format("not a regular file: object={}", name));
  return ObjectInfo{std::string(key), static_cast<uint64_t>(stat.st_size), ModifiedOf(stat)};
}

Status LocalStore::Put(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  return WriteWhole(PathOf(key), bytes, Naming::kReplace, ObjectName(uri_, key), budget);
}

Status LocalStore::PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  return WriteWhole(PathOf(key), bytes, Naming::kMustBeNew, ObjectName(uri_, key), budget);
}

Status LocalStore::Remove(std::string_view key, const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::string path = PathOf(key);
  if (::unlink(path.c_str()) == 0) return {};
  // A folder, or a path through a file, is not an object, so there is nothing to remove.
  if (errno == ENOENT || errno == ENOTDIR || errno == EISDIR || errno == ENAMETOOLONG) return {};
  return FailErrno(errno, "removing", ObjectName(uri_, key));
}

}  // namespace tidemark::storage
