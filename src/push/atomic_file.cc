#include "push/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tidemark::push {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kModeForOthers = 0644;

/// Collectors of *.prom and *.json pass it by.
std::string HiddenNameFor(const std::string& path) {
  const fs::path file(path);
  return (file.parent_path() / ("." + file.filename().string() + ".new")).string();
}

std::unexpected<Error> FailWith(int error, std::string_view what, const std::string& path) {
  const ErrorKind kind = error == EACCES || error == EPERM || error == EROFS ? ErrorKind::kDenied
                         : error == ENOENT || error == ENOTDIR || error == EISDIR
                             ? ErrorKind::kInvalidArgument
                             : ErrorKind::kUnavailable;
  return Fail(kind, fmt::format("{}: path={} error={}", what, path,
                                std::generic_category().message(error)));
}

/// 0, or the errno.
int WriteWhole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string hidden = HiddenNameFor(path);
  const int fd =
      ::open(hidden.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kModeForOthers);
  if (fd < 0) return FailWith(errno, "the file cannot be written", path);
  // Whoever collects it is another user, and the umask of a service leaves that one nothing.
  int error = ::fchmod(fd, kModeForOthers) == 0 ? 0 : errno;
  if (error == 0) error = WriteWhole(fd, bytes);
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(hidden.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(hidden.c_str());
  return FailWith(error, "the file cannot be written", path);
}

Status CheckReplaceable(const std::string& path) {
  const fs::path whole(path);
  const std::string folder =
      whole.parent_path().empty() ? std::string(".") : whole.parent_path().string();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return FailWith(ENOENT, "there is no such folder", folder);
  if (fs::is_directory(whole, error)) return FailWith(EISDIR, "the file cannot be written", path);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return FailWith(errno, "the folder cannot be written to", folder);
  return {};
}

Status RemoveFile(const std::string& path) {
  ::unlink(HiddenNameFor(path).c_str());
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return FailWith(errno, "the file cannot be removed", path);
  return {};
}

}  // namespace tidemark::push
