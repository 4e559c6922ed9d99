#include "push/line_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

namespace tidemark::push {

namespace {

constexpr int kPollMillisMax = 100;

std::string TextOf(int error) {
  return std::generic_category().message(error);
}

/// -1 with errno. A new file is for an agent, which is another user, and the umask of a service
/// leaves that one nothing. What was there keeps its mode.
int OpenToAppend(const char* path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  constexpr mode_t kModeForOthers = 0644;
  const int made = ::open(path, kFlags | O_EXCL, kModeForOthers);
  if (made < 0) return ::open(path, kFlags, kModeForOthers);
  if (::fchmod(made, kModeForOthers) == 0) return made;
  const int error = errno;
  ::close(made);
  errno = error;
  return -1;
}

}  // namespace

Status AppendToFile(const std::string& path, std::string_view lines) {
  const auto failed = [&](int error) {
    const bool is_denied = error == EACCES || error == EPERM || error == EROFS;
    return Fail(is_denied ? ErrorKind::kDenied : ErrorKind::kUnavailable,
                fmt::format("the file cannot be written: path={} error={}", path, TextOf(error)));
  };
  const int fd = OpenToAppend(path.c_str());
  if (fd < 0) return failed(errno);
  struct stat before{};
  int error = ::fstat(fd, &before) == 0 ? 0 : errno;
  while (error == 0 && !lines.empty()) {
    const ssize_t written = ::write(fd, lines.data(), lines.size());
    if (written < 0 && errno != EINTR) error = errno;
    if (written > 0) lines.remove_prefix(static_cast<size_t>(written));
  }
  // Of a full disk: a torn line would spoil the next one too.
  if (error != 0 && S_ISREG(before.st_mode) && ::ftruncate(fd, before.st_size) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return failed(error);
  return {};
}

Status StandardOutputLines::Write(std::string_view lines, const Budget& budget) {
  const std::string whole = (is_in_line_ ? "\n" : "") + std::string(lines);
  std::string_view rest = whole;
  while (!rest.empty()) {
    TRY(budget.Check());
    pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    const auto wait = std::min<long long>(budget.Remaining().count(), kPollMillisMax);
    if (::poll(&ready, 1, static_cast<int>(wait)) <= 0) continue;
    // A pipe that is ready has room for so much: the write does not wait.
    const size_t piece = std::min<size_t>(rest.size(), PIPE_BUF);
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), piece);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0)
      return Fail(ErrorKind::kUnavailable, "standard output is gone: error=" + TextOf(errno));
    is_in_line_ = rest[static_cast<size_t>(written) - 1] != '\n';
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace tidemark::push
