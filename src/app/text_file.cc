#include "app/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "storage/local_file.h"

namespace tidemark::app {

namespace {

constexpr size_t kChunkBytes = 64 << 10;

ErrorKind KindOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorKind::kNotFound;
    case EACCES:
    case EPERM: return ErrorKind::kDenied;
    default: return ErrorKind::kUnavailable;
  }
}

std::unexpected<Error> Unreadable(const std::string& path, int error) {
  return Fail(KindOf(error),
              fmt::format("'{}' cannot be read: {}", path, std::generic_category().message(error)));
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, uint64_t bytes_max) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const storage::FileDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return Unreadable(path, errno);
  struct stat stat = {};
  if (::fstat(file.get(), &stat) != 0) return Unreadable(path, errno);
  if (S_ISDIR(stat.st_mode)) return Unreadable(path, EISDIR);
  if (!S_ISREG(stat.st_mode)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("'{}' cannot be read: it is no regular file", path));
  }
  std::string text;
  while (true) {
    const size_t size = text.size();
    text.resize(size + kChunkBytes);
    const ssize_t count = ::read(file.get(), text.data() + size, kChunkBytes);
    const int error = errno;
    text.resize(size + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (count < 0 && error != EINTR) return Unreadable(path, error);
    if (text.size() > bytes_max) {
      return Fail(ErrorKind::kExhausted, fmt::format("'{}' has over {} bytes", path, bytes_max));
    }
  }
}

}  // namespace tidemark::app
