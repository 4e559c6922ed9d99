#include "support/mariadb_server.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tidemark::support {

namespace {

// Where scripts/bootstrap --tests has put the server.
constexpr const char* kServer = TIDEMARK_DEPS "/mariadb-10.11";
constexpr std::chrono::seconds kStartTimeout{120};

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Result<std::unique_ptr<MariadbServer>> MariadbServer::Start() {
  if (!std::filesystem::exists(std::string(kServer) + "/.complete"))
    return Fail(ErrorKind::kNotFound,
                fmt::format("a server of the tests is missing (run scripts/bootstrap --tests): "
                            "path={}",
                            kServer));
  auto server = std::make_unique<MariadbServer>(OnlyStart{});
  TRY(server->Install());
  server->port_ = FreePort();
  ChildOptions options;
  options.command = server->Command();
  options.command.insert(
      options.command.end(),
      {"--bind-address=127.0.0.1", fmt::format("--port={}", server->port_), "--skip-name-resolve",
       fmt::format("--socket={}/socket", server->folder_.path()), "--general-log=1",
       fmt::format("--general-log-file={}/statements", server->folder_.path()),
       fmt::format("--init-file={}/users.sql", server->folder_.path())});
  options.added["LD_LIBRARY_PATH"] = std::string(kServer) + "/lib";
  TRY_ASSIGN(server->process_, ChildProcess::Start(options));
  TRY(server->process_->WaitForPort(server->port_, kStartTimeout));
  return server;
}

std::vector<std::string> MariadbServer::Command() const {
  return {std::string(kServer) + "/mariadbd",
          "--no-defaults",
          "--user=root",
          fmt::format("--datadir={}/data", folder_.path()),
          fmt::format("--lc-messages-dir={}/share", kServer),
          fmt::format("--character-sets-dir={}/share/charsets", kServer),
          "--innodb-log-file-size=8M"};
}

Status MariadbServer::Install() {
  std::filesystem::create_directory(folder_.path() + "/data");
  std::ofstream users(folder_.path() + "/users.sql");
  users << fmt::format(
      "CREATE USER '{0}'@'127.0.0.1' IDENTIFIED BY 'p''w-5ecret';\n"
      "GRANT ALL ON *.* TO '{0}'@'127.0.0.1';\n",
      kUser);
  users.close();
  {
    std::ofstream sql(folder_.path() + "/system.sql");
    sql << "create database mysql;\nuse mysql;\n";
    for (const char* const name :
         {"mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data"})
      sql << ReadFile(fmt::format("{}/share/{}.sql", kServer, name)) << "\n";
  }
  ChildOptions options;
  std::string line;
  for (const auto& word : Command()) line += fmt::format("'{}' ", word);
  options.command = {"sh", "-c",
                     fmt::format("{} --bootstrap < '{}/system.sql'", line, folder_.path())};
  options.added["LD_LIBRARY_PATH"] = std::string(kServer) + "/lib";
  TRY_ASSIGN(const auto child, ChildProcess::Start(options));
  TRY_ASSIGN(const int code, child->WaitForExit(kStartTimeout));
  if (code == 0) return {};
  return Fail(ErrorKind::kUnavailable, "MariaDB was not set up: " + child->Output());
}

std::string MariadbServer::Statements() const {
  return ReadFile(folder_.path() + "/statements");
}

}  // namespace tidemark::support
