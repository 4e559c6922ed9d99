#include "support/postgres_server.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace tidemark::support {

namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// Where scripts/bootstrap --tests has put the server.
constexpr const char* kServer = TIDEMARK_DEPS "/postgresql-15.13.0";
constexpr seconds kStepLimit{120};
// Debian's "nobody": owns nothing.
constexpr uid_t kNobody = 65534;
constexpr const char* kUser = "tidemark";
constexpr const char* kPassword = "hunter2";

/// The command as a user that PostgreSQL accepts. A change of user clears what the child was to do
/// at the death of its parent, so it is set anew: no server outlives a test that crashed.
std::vector<std::string> Unprivileged(std::vector<std::string> command) {
  if (::getuid() != 0) return command;
  std::vector<std::string> whole{"setpriv",        "--reuid=65534",   "--regid=65534",
                                 "--clear-groups", "--pdeathsig=INT", "--"};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

Status RunToEnd(const std::vector<std::string>& command, const std::string& folder) {
  TRY_ASSIGN(
      const auto child,
      ChildProcess::Start({.command = Unprivileged(command), .added = {}, .folder = folder}));
  TRY_ASSIGN(const int code, child->WaitForExit(kStepLimit));
  if (code == 0) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("child ended command={} code={}: {}", command[0], code, child->Output()));
}

}  // namespace

Result<std::unique_ptr<PostgresServer>> PostgresServer::Start() {
  auto server = std::make_unique<PostgresServer>(OnlyStart{});
  TRY(server->Install());
  TRY(server->Run());
  return server;
}

Status PostgresServer::Install() {
  if (!fs::exists(std::string(kServer) + "/.complete")) {
    return Fail(ErrorKind::kNotFound,
                fmt::format("a server of the tests is missing (run scripts/bootstrap --tests): "
                            "path={}",
                            kServer));
  }
  // The folder of the dependencies may be closed to the other user.
  std::error_code error;
  fs::copy(kServer, folder_.path() + "/server",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return Fail(ErrorKind::kUnavailable, "server not copied: " + error.message());
  fs::create_directory(folder_.path() + "/data");
  fs::permissions(folder_.path(),
                  fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  if (::getuid() == 0 && ::chown((folder_.path() + "/data").c_str(), kNobody, kNobody) != 0)
    return Fail(ErrorKind::kDenied, "data folder not given away");
  const std::string password = folder_.path() + "/password";
  std::ofstream(password) << kPassword;
  return RunToEnd(
      {folder_.path() + "/server/bin/initdb", "-D", folder_.path() + "/data", "-U", kUser,
       "--pwfile=" + password, "-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync"},
      "/");
}

Status PostgresServer::Run() {
  if (port_ == 0) port_ = FreePort();
  TRY_ASSIGN(server_, ChildProcess::Start({.command = Unprivileged(
                                               {folder_.path() + "/server/bin/postgres", "-D",
                                                folder_.path() + "/data", "-p",
                                                std::to_string(port_), "-h", "127.0.0.1", "-k", "",
                                                "-c", "fsync=off", "-c", "log_line_prefix="}),
                                           .added = {},
                                           .folder = "/"}));
  // It listens before it can answer.
  TRY(server_->WaitForLine("LOG:  database system is ready to accept connections", kStepLimit));
  return {};
}

std::string PostgresServer::url() const {
  return fmt::format("postgresql://{}:{}@127.0.0.1:{}/postgres", kUser, kPassword, port_);
}

Status PostgresServer::Crash() {
  server_->Signal(SIGKILL);
  TRY(server_->WaitForExit(kStepLimit));
  return Run();
}

void PostgresServer::Freeze() {
  SignalAll(SIGSTOP);
}
void PostgresServer::Thaw() {
  SignalAll(SIGCONT);
}

/// Those that serve connections are in process groups of their own. The parent goes first, so that
/// it makes no others.
void PostgresServer::SignalAll(int signal) const {
  ::kill(server_->pid(), signal);
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", server_->pid()));
  for (pid_t child = 0; children >> child;) ::kill(child, signal);
}

}  // namespace tidemark::support
