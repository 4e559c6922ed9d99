/// The system calls under the local store, with their errors turned into kinds.
#pragma once

#include <sys/stat.h>

#include <span>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"

namespace tidemark::storage {

/// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int Release();

 private:
  int fd_;
};

/// Turns an errno into an Error: what the user has to do decides the kind. `doing` is a verb phrase
/// ("reading"), `name` the object.
std::unexpected<Error> FailErrno(int error, std::string_view doing, std::string_view name);

WallTime ModifiedOf(const struct stat& stat);

/// A regular file opened for reading, and its state at that moment. A folder, a pipe or a device is
/// kNotFound, and is not waited for.
struct OpenFile {
  FileDescriptor fd;
  struct stat stat = {};
};
Result<OpenFile> OpenRegularFile(const std::string& path, std::string_view name);

/// Bytes [offset, offset + length), fewer only where the file ends.
Result<std::string> ReadAt(const FileDescriptor& fd, uint64_t offset, uint64_t length,
                           std::string_view name, const Budget& budget);

/// The same into `into`: how many bytes it were.
Result<size_t> ReadAt(const FileDescriptor& fd, uint64_t offset, std::span<char> into,
                      std::string_view name, const Budget& budget);

/// Makes the folders above `path` that are missing.
Status MakeParents(const std::string& path, std::string_view name);

/// How a finished file gets its name.
enum class Naming { kReplace, kMustBeNew };

/// Writes `bytes` beside `path`, brings them to the disk and names them. kConflict when the name is
/// taken and must be new.
Status WriteWhole(const std::string& path, std::string_view bytes, Naming naming,
                  std::string_view name, const Budget& budget);

}  // namespace tidemark::storage
