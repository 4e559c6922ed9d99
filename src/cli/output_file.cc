#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "storage/store_uri.h"

namespace tidemark::cli {
namespace {

constexpr size_t kHeldBytes = size_t{128} << 10;
constexpr int kPollMillis = 100;
constexpr mode_t kMode = 0666;  // as the umask has it

std::unexpected<Error> Unwritable(std::string_view what, const std::string& path) {
  return Fail(ErrorKind::kUnavailable,
              fmt::format("{}, output={} reason={}", what, path.empty() ? "stdout" : path,
                          std::strerror(errno)));
}

/// More would be a circle.
constexpr int kLinksMax = 40;

/// What a link stands for, since renaming would replace the link; it need not be there yet. nullopt
/// where links lead in a circle.
std::optional<std::filesystem::path> Followed(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kLinksMax) return std::nullopt;
    const auto target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// Waits for the reader of a pipe, without which it cannot be opened, unless stopped: open() itself
/// would begin to wait again after a signal. -1 with errno; EINTR when stopped.
int OpenPipe(const char* path, const std::stop_token& stop) {
  while (true) {
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) {
      fcntl(descriptor, F_SETFL, O_WRONLY);
      return descriptor;
    }
    if (errno != ENXIO) return -1;
    if (stop.stop_requested()) {
      errno = EINTR;
      return -1;
    }
    poll(nullptr, 0, kPollMillis);
  }
}

bool IsInside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

Status CheckOutsideTable(const std::string& output, const std::string& table) {
  const auto store = storage::ParseStoreUri(table);
  if (output.empty() || !store || store->kind != storage::StoreKind::kLocal) return {};
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(store->path, error);
  if (error) return {};
  const auto followed = Followed(output);
  if (!followed) return {};
  const auto path = std::filesystem::weakly_canonical(*followed, error);
  if (error || !IsInside(path, root)) return {};
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("the output lies in the table, which is only read, output={} table={}",
                          output, table));
}

Result<OutputFile> OutputFile::Open(const std::string& path, std::stop_token stop) {
  if (path.empty()) return OutputFile("", "", STDOUT_FILENO, std::move(stop));
  const auto followed = Followed(path);
  if (!followed) {
    errno = ELOOP;
    return Unwritable("output cannot be created", path);
  }
  std::string target = *followed;
  struct stat there{};
  if (stat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    // A device or a pipe is written to; renaming would put a file in its place (/dev/null).
    const int descriptor = S_ISFIFO(there.st_mode)
                               ? OpenPipe(target.c_str(), stop)
                               : open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0 && stop.stop_requested())
      return Fail(ErrorKind::kCancelled, "stopped while nobody read the output");
    if (descriptor < 0) return Unwritable("output cannot be opened", path);
    return OutputFile(path, "", descriptor, std::move(stop));
  }
  std::string partial = fmt::format("{}.{}.partial", target, getpid());
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor < 0) return Unwritable("output cannot be created", partial);
  return OutputFile(std::move(target), std::move(partial), descriptor, std::move(stop));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      stop_(std::move(other.stop_)),
      held_(std::move(other.held_)),
      is_reader_gone_(other.is_reader_gone_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(partial_, other.partial_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(stop_, other.stop_);
  std::swap(held_, other.held_);
  std::swap(is_reader_gone_, other.is_reader_gone_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && !path_.empty()) close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

Status OutputFile::WaitForReader() const {
  while (!stop_.stop_requested()) {
    pollfd asked = {descriptor_, POLLOUT, 0};
    if (poll(&asked, 1, kPollMillis) != 0) return {};  // ready, or the write will say why not
  }
  return Fail(ErrorKind::kCancelled, "stopped while nobody read the output");
}

Status OutputFile::Flush() {
  const Status done = Send(held_);
  held_.clear();
  return done;
}

Status OutputFile::Send(std::string_view left) {
  while (!left.empty() && !is_reader_gone_) {
    if (partial_.empty()) TRY(WaitForReader());
    // A pipe that is ready takes so much without waiting.
    const size_t size = partial_.empty() ? std::min<size_t>(left.size(), PIPE_BUF) : left.size();
    const ssize_t wrote = write(descriptor_, left.data(), size);
    if (wrote >= 0) {
      left.remove_prefix(static_cast<size_t>(wrote));
    } else if (errno == EPIPE && partial_.empty()) {
      is_reader_gone_ = true;
    } else if (errno != EINTR) {
      return Unwritable("output cannot be written", path_);
    }
  }
  return {};
}

Status OutputFile::Write(std::string_view bytes) {
  if (held_.size() + bytes.size() >= kHeldBytes) TRY(Flush());
  if (bytes.size() >= kHeldBytes) {
    TRY(Send(bytes));
  } else {
    held_ += bytes;
  }
  if (is_reader_gone_) return Fail(ErrorKind::kCancelled, "nobody reads the output any more");
  return {};
}

Status OutputFile::Finish() {
  TRY(Flush());
  if (path_.empty()) return {};
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    return Unwritable("output cannot be written", path_);
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    return Unwritable("output cannot be written", path_);
  }
  if (partial_.empty()) return {};
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    return Unwritable("output cannot be given its name", path_);
  }
  partial_.clear();
  return {};
}

}  // namespace tidemark::cli
