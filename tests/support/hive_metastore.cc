#include "support/hive_metastore.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace tidemark::support {

namespace {

// Where scripts/bootstrap --tests has put the server.
constexpr const char* kServer = TIDEMARK_DEPS "/hive-metastore-4.0.1";
constexpr std::chrono::seconds kStartTimeout{120};

std::string Property(const std::string& name, const std::string& value) {
  return fmt::format("<property><name>{}</name><value>{}</value></property>\n", name, value);
}

}  // namespace

Result<std::unique_ptr<HiveMetastore>> HiveMetastore::Start(Login login) {
  if (!std::filesystem::exists(std::string(kServer) + "/.complete"))
    return Fail(ErrorKind::kNotFound,
                fmt::format("a server of the tests is missing (run scripts/bootstrap --tests): "
                            "path={}",
                            kServer));
  auto server = std::make_unique<HiveMetastore>(OnlyStart{});
  server->port_ = FreePort();
  server->WriteConfiguration(login);
  TRY(server->Restart());
  return server;
}

void HiveMetastore::WriteConfiguration(Login login) {
  std::ofstream file(folder_.path() + "/metastore-site.xml");
  file << "<configuration>\n"
       << Property("javax.jdo.option.ConnectionURL",
                   fmt::format("jdbc:derby:;databaseName={}/db;create=true", folder_.path()))
       << Property("javax.jdo.option.ConnectionDriverName", "org.apache.derby.jdbc.EmbeddedDriver")
       << Property("metastore.warehouse.dir", fmt::format("file://{}/warehouse", folder_.path()))
       << Property("metastore.schema.verification", "false")
       << Property("datanucleus.schema.autoCreateAll", "true")
       << Property("metastore.thrift.bind.host", "127.0.0.1")
       << Property("metastore.expression.proxy",
                   "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy")
       << Property("metastore.task.threads.always",
                   "org.apache.hadoop.hive.metastore.events.EventCleanerTask");
  if (login == Login::kPlain)
    file << Property("metastore.execute.setugi", "false")
         << Property("metastore.authentication", "CONFIG")
         << Property("metastore.authentication.config.username", kUser)
         << Property("metastore.authentication.config.password", kPassword);
  file << "</configuration>\n";
}

Status HiveMetastore::Restart() {
  ChildOptions options;
  options.command = {"java", "-Xmx512m"};
  for (const char* const package :
       {"java.lang", "java.net", "java.util", "java.util.concurrent", "java.nio"}) {
    options.command.emplace_back("--add-opens");
    options.command.push_back(fmt::format("java.base/{}=ALL-UNNAMED", package));
  }
  options.command.insert(
      options.command.end(),
      {"-cp", fmt::format("{0}:{1}/hadoop/*:{1}/libs/*", folder_.path(), kServer),
       "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", std::to_string(port_)});
  options.folder = folder_.path();
  TRY_ASSIGN(process_, ChildProcess::Start(options));
  return process_->WaitForPort(port_, kStartTimeout);
}

}  // namespace tidemark::support
