#include "storage/local_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "storage/object_key.h"
#include "storage/object_store.h"

namespace tidemark::storage {

namespace {

/// Between two looks at the budget.
constexpr size_t kChunkBytes = size_t{4} << 20;
constexpr mode_t kFileMode = 0666;
constexpr mode_t kFolderMode = 0777;
constexpr int kTemporaryNameTries = 100;

ErrorKind KindOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENXIO: return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::kDenied;
    case ENAMETOOLONG: return ErrorKind::kInvalidArgument;
    default: return ErrorKind::kUnavailable;
  }
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Removes an unfinished file unless it got its name.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)) {}
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }
  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

Result<FileDescriptor> OpenUnfinished(const std::string& folder, std::string& path,
                                      std::string_view name) {
  static std::atomic<unsigned> counter = 0;
  for (int i = 0; i < kTemporaryNameTries; ++i) {
    path = fmt::format("{}/{}{}-{}", folder, kUnfinishedPrefix, ::getpid(), ++counter);
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
    if (fd.is_open()) return fd;
    if (errno != EEXIST) return FailErrno(errno, "writing", name);
  }
  return FailErrno(EEXIST, "writing", name);
}

Status WriteBytes(const FileDescriptor& fd, std::string_view bytes, std::string_view name,
                  const Budget& budget) {
  while (!bytes.empty()) {
    TRY(budget.Check());
    const ssize_t count = ::write(fd.get(), bytes.data(), std::min(bytes.size(), kChunkBytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailErrno(errno, "writing", name);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (::fsync(fd.get()) != 0) return FailErrno(errno, "writing", name);
  return {};
}

Status NameNew(const FileDescriptor& fd, UnfinishedFile& unfinished, const std::string& path,
               std::string_view name) {
  if (::link(unfinished.path().c_str(), path.c_str()) == 0) return {};
  int error = errno;
  struct stat stat = {};
  // A network file system may have made the link and lost the answer; then the repeated request
  // fails.
  if (::fstat(fd.get(), &stat) == 0 && stat.st_nlink == 2) return {};
  if (error == EPERM || error == ENOSYS || error == EOPNOTSUPP || error == EMLINK) {
    // A file system without hard links.
    if (::renameat2(AT_FDCWD, unfinished.path().c_str(), AT_FDCWD, path.c_str(),
                    RENAME_NOREPLACE) == 0) {
      unfinished.Keep();
      return {};
    }
    if (errno == EINVAL || errno == ENOSYS) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("the file system can neither link nor rename without replacing: "
                              "object={}",
                              name));
    }
    error = errno;
  }
  if (error == EEXIST) {
    return Fail(ErrorKind::kConflict, fmt::format("the object exists already: object={}", name));
  }
  return FailErrno(error, "naming", name);
}

Status NameReplacing(UnfinishedFile& unfinished, const std::string& path, std::string_view name) {
  if (::rename(unfinished.path().c_str(), path.c_str()) == 0) {
    unfinished.Keep();
    return {};
  }
  if (errno == EISDIR || errno == EEXIST || errno == ENOTEMPTY) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a folder has this name: object={}", name));
  }
  return FailErrno(errno, "naming", name);
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::Release() {
  return std::exchange(fd_, -1);
}

std::unexpected<Error> FailErrno(int error, std::string_view doing, std::string_view name) {
  return Fail(KindOf(error), fmt::format("{} failed: {}: object={}", doing,
                                         std::generic_category().message(error), name));
}

WallTime ModifiedOf(const struct stat& stat) {
  return WallTimeFromMillis(static_cast<long long>(stat.st_mtim.tv_sec) * 1000 +
                            stat.st_mtim.tv_nsec / 1'000'000);
}

Result<OpenFile> OpenRegularFile(const std::string& path, std::string_view name) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  OpenFile file{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))};
  if (!file.fd.is_open()) return FailErrno(errno, "opening", name);
  if (::fstat(file.fd.get(), &file.stat) != 0) return FailErrno(errno, "opening", name);
  if (!S_ISREG(file.stat.st_mode))
    return Fail(ErrorKind::kNotFound, fmt::format("not a regular file: object={}", name));
  return file;
}

Result<std::string> ReadAt(const FileDescriptor& fd, uint64_t offset, uint64_t length,
                           std::string_view name, const Budget& budget) {
  std::string bytes;
  bytes.reserve(length + kReadRoomBytes);
  Result<size_t> done = 0;
  bytes.resize_and_overwrite(length, [&](char* into, size_t) {
    done = ReadAt(fd, offset, std::span(into, length), name, budget);
    return done.value_or(0);
  });
  if (!done) return std::unexpected(std::move(done).error());
  return bytes;
}

Result<size_t> ReadAt(const FileDescriptor& fd, uint64_t offset, std::span<char> into,
                      std::string_view name, const Budget& budget) {
  size_t done = 0;
  while (done < into.size()) {
    TRY(budget.Check());
    const ssize_t count =
        ::pread(fd.get(), into.data() + done, std::min<size_t>(into.size() - done, kChunkBytes),
                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailErrno(errno, "reading", name);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Status MakeParents(const std::string& path, std::string_view name) {
  const std::string folder = FolderOf(path);
  if (::mkdir(folder.c_str(), kFolderMode) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return FailErrno(errno, "making the folder", name);
  for (size_t slash = folder.find('/', 1); slash != std::string::npos;
       slash = folder.find('/', slash + 1)) {
    if (::mkdir(folder.substr(0, slash).c_str(), kFolderMode) != 0 && errno != EEXIST)
      return FailErrno(errno, "making the folder", name);
  }
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST)
    return FailErrno(errno, "making the folder", name);
  return {};
}

Status WriteWhole(const std::string& path, std::string_view bytes, Naming naming,
                  std::string_view name, const Budget& budget) {
  TRY(MakeParents(path, name));
  const std::string folder = FolderOf(path);
  std::string unfinished_path;
  TRY_ASSIGN(const FileDescriptor fd, OpenUnfinished(folder, unfinished_path, name));
  UnfinishedFile unfinished(std::move(unfinished_path));
  TRY(WriteBytes(fd, bytes, name, budget));
  if (naming == Naming::kMustBeNew) {
    TRY(NameNew(fd, unfinished, path, name));
  } else {
    TRY(NameReplacing(unfinished, path, name));
  }
  // The name must survive a power cut too. Some file systems refuse to sync a folder; the object is
  // whole all the same.
  const FileDescriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.is_open() && ::fsync(parent.get()) != 0 && errno == EIO)
    return FailErrno(errno, "naming", name);
  return {};
}

}  // namespace tidemark::storage
