#include "support/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tidemark::support {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPauseMillis = 20;
constexpr std::chrono::seconds kStopGently{5};
constexpr size_t kShownBytes = 4000;

sockaddr_in LocalAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Neither a file that grows nor a port that opens can be waited for.
void Pause() {
  ::poll(nullptr, 0, kPauseMillis);
}

bool Accepts(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = LocalAddress(port);
  const bool is_open =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(fd);
  return is_open;
}

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void RunChild(char* const* words, char* const* environment, const char* folder,
                           int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (*folder != '\0' && ::chdir(folder) != 0) ::_exit(127);
  ::execvpe(words[0], words, environment);
  ::_exit(127);
}

std::vector<std::string> MergedEnvironment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + '=' + value);
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildOptions& options) {
  std::string path = (std::filesystem::temp_directory_path() / "tidemark-output-XXXXXX").string();
  const int output = ::mkostemp(path.data(), O_CLOEXEC);
  if (output < 0 || options.command.empty())
    return Fail(ErrorKind::kInternal, "no output file or no command for a child process");
  std::vector<std::string> words = options.command;
  std::vector<std::string> environment = MergedEnvironment(options.added);
  const std::vector<char*> word_pointers = Pointers(words);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0)
    RunChild(word_pointers.data(), environment_pointers.data(), options.folder.c_str(), output,
             parent);
  ::close(output);
  if (pid < 0) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("fork: {}", std::generic_category().message(errno)));
  }
  ::setpgid(pid, pid);  // also here: whoever comes first
  return std::make_unique<ChildProcess>(Private(), pid, path);
}

ChildProcess::ChildProcess(Private, pid_t pid, std::string output_path)
    : pid_(pid), output_path_(std::move(output_path)) {}

ChildProcess::~ChildProcess() {
  Stop();
  ::unlink(output_path_.c_str());
}

std::string ChildProcess::Output() const {
  std::ostringstream text;
  text << std::ifstream(output_path_).rdbuf();
  return text.str();
}

bool ChildProcess::HasEnded() {
  if (has_ended_) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  has_ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

std::unexpected<Error> ChildProcess::Failed(std::string_view waited_for) const {
  std::string output = Output();
  if (output.size() > kShownBytes) output.erase(0, output.size() - kShownBytes);
  return Fail(ErrorKind::kUnavailable,
              fmt::format("the child process did not come to it: wanted={} ended={} exit_code={} "
                          "output:\n{}",
                          waited_for, has_ended_, exit_code_, output));
}

Result<std::string> ChildProcess::WaitForLine(std::string_view beginning,
                                              std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const bool has_ended = HasEnded();  // before reading, so that its last words are seen
    std::istringstream lines(Output());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(beginning) && !lines.eof()) return line;
    }
    if (has_ended || Clock::now() > deadline) return Failed(beginning);
    Pause();
  }
}

Status ChildProcess::WaitForPort(int port, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!Accepts(port)) {
    if (HasEnded() || Clock::now() > deadline) return Failed(fmt::format("port {}", port));
    Pause();
  }
  return {};
}

Result<int> ChildProcess::WaitForExit(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!HasEnded()) {
    if (Clock::now() > deadline) return Failed("its end");
    Pause();
  }
  return exit_code_;
}

void ChildProcess::Signal(int signal) {
  ::kill(-pid_, signal);
}

void ChildProcess::Stop() {
  if (!HasEnded()) {
    Signal(SIGTERM);
    if (!WaitForExit(kStopGently)) {
      Signal(SIGKILL);
      (void)WaitForExit(kStopGently).has_value();
    }
  }
  // What it left behind in its group.
  ::kill(-pid_, SIGKILL);
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = LocalAddress(0);
  socklen_t size = sizeof(address);
  ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tidemark::support
