#include "storage/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include "storage/local_file.h"

namespace tidemark::storage {

namespace {

constexpr size_t kOutputBytesMax = size_t{64} << 10U;
/// How often a stop is looked for.
constexpr std::chrono::milliseconds kPollMax{100};

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

/// A child that is killed with its children, and waited for, unless it ended.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    static_cast<void>(Wait(0));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its status when it ended; with WNOHANG nullopt while it runs.
  std::optional<int> Wait(int options) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(pid_, &status, options);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    pid_ = 0;
    return ended < 0 ? -1 : status;
  }

 private:
  pid_t pid_;
};

int Spawn(const std::vector<std::string>& words, int output, pid_t& pid) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&settings.files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Our threads block the signals that end us, and ignore some: the program is to have them all.
  sigset_t none, ours;
  sigemptyset(&none);
  sigemptyset(&ours);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) sigaddset(&ours, each);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &ours);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return ::posix_spawnp(&pid, arguments[0], &settings.files, &settings.attributes, arguments.data(),
                        environ);
}

}  // namespace

Result<std::vector<std::string>> SplitCommand(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_blank = c == ' ' || c == '\t';
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      // As a shell: inside of double quotes most backslashes are themselves.
      const char next = line[++i];
      if (!word) word.emplace();
      if (quote == '"' && next != '"' && next != '\\') *word += c;
      *word += next;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        *word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      if (!word) word.emplace();
    } else if (!is_blank) {
      if (!word) word.emplace();
      *word += c;
    } else if (word) {
      words.push_back(*std::move(word));
      word.reset();
    }
  }
  if (quote != 0) return Fail(ErrorKind::kInvalidArgument, "a quote in the command is not closed");
  if (word) words.push_back(*std::move(word));
  if (words.empty() || words[0].empty())
    return Fail(ErrorKind::kInvalidArgument, "the command names no program");
  return words;
}

Result<std::string> ProgramOutput(const std::vector<std::string>& words, const Budget& budget) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("no pipe: error={}", std::generic_category().message(errno)));
  }
  const FileDescriptor from(ends[0]);
  pid_t pid = 0;
  {
    const FileDescriptor to(ends[1]);
    if (const int error = Spawn(words, to.get(), pid); error != 0) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the program cannot be started: program={} error={}", words[0],
                              std::generic_category().message(error)));
    }
  }
  Child child(pid);
  std::string output;
  bool is_open = true;
  while (true) {
    TRY(budget.Check());
    if (!is_open) {
      const auto status = child.Wait(WNOHANG);
      if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return output;
      if (status) {
        return Fail(ErrorKind::kDenied,
                    fmt::format("the program failed: program={} {}={}", words[0],
                                WIFSIGNALED(*status) ? "signal" : "exit_code",
                                WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status)));
      }
    }
    pollfd ready{.fd = is_open ? from.get() : -1, .events = POLLIN, .revents = 0};
    const auto wait = std::min(budget.Remaining(), is_open ? kPollMax : kPollMax / 10);
    if (::poll(&ready, 1, static_cast<int>(wait.count())) <= 0) continue;
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(from.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      is_open = false;
      continue;
    }
    output.append(piece.data(), static_cast<size_t>(count));
    if (output.size() > kOutputBytesMax) {
      return Fail(ErrorKind::kDenied, fmt::format("the program writes more than {} bytes: "
                                                  "program={}",
                                                  kOutputBytesMax, words[0]));
    }
  }
}

}  // namespace tidemark::storage
