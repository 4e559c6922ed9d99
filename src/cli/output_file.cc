#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace tidemark::cli {
namespace {

constexpr size_t kHeldBytes = size_t{128} << 10;
constexpr mode_t kMode = 0666;  // as the umask has it

std::unexpected<Error> Unwritable(std::string_view what, const std::string& path) {
  return Fail(ErrorKind::kUnavailable,
              fmt::format("{}, output={} reason={}", what, path.empty() ? "stdout" : path,
                          std::strerror(errno)));
}

/// What a link stands for, since renaming would replace the link; the path itself where nothing is
/// there yet.
std::string Followed(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

}  // namespace

Result<OutputFile> OutputFile::Open(const std::string& path) {
  if (path.empty()) return OutputFile("", "", STDOUT_FILENO);
  std::string target = Followed(path);
  struct stat there{};
  if (stat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    // A device or a pipe is written to; renaming would put a file in its place (/dev/null).
    const int descriptor = open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return Unwritable("output cannot be opened", path);
    return OutputFile(path, "", descriptor);
  }
  std::string partial = fmt::format("{}.{}.partial", target, getpid());
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor < 0) return Unwritable("output cannot be created", partial);
  return OutputFile(std::move(target), std::move(partial), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      held_(std::move(other.held_)),
      is_reader_gone_(other.is_reader_gone_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(partial_, other.partial_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(held_, other.held_);
  std::swap(is_reader_gone_, other.is_reader_gone_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && !path_.empty()) close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

Status OutputFile::Flush() {
  const Status done = Send(held_);
  held_.clear();
  return done;
}

Status OutputFile::Send(std::string_view left) {
  while (!left.empty() && !is_reader_gone_) {
    const ssize_t wrote = write(descriptor_, left.data(), left.size());
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
