// Runs a command while three mock brokers are up in this process, with their address in its
// environment as BOOTSTRAP: what the smoke test needs of Kafka, in milliseconds.
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "kafka/client/mock_cluster.h"

namespace tidemark::bench {
namespace {

constexpr int kBrokers = 3;

struct Options {
  std::vector<std::string> topics;
  int32_t partitions = 1;  ///< of each topic
  std::vector<std::string> command;
};

/// The exit code of the command; 1 when it did not end by itself.
Result<int> RunCommand(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return Fail(ErrorKind::kNotFound, "no such command name=" + command[0]);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Result<int> Run(const Options& options) {
  TRY_ASSIGN(const auto cluster, kafka::client::MockCluster::Open(kBrokers));
  for (const std::string& topic : options.topics) {
    TRY(cluster->CreateTopic(topic, options.partitions));
  }
  setenv("BOOTSTRAP", cluster->options().bootstrap_servers.c_str(), 1);
  return RunCommand(options.command);
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("mock_brokers [--topic NAME]… -- COMMAND…");
  app.add_option("--topic", options.topics)->take_all()->allow_extra_args(false);
  app.add_option("--partitions", options.partitions, "of each topic");
  app.add_option("command", options.command)->required();
  CLI11_PARSE(app, argc, argv);
  const auto code = tidemark::bench::Run(options);
  if (!code) fmt::print(stderr, "mock_brokers: {}\n", code.error().message);
  return code.value_or(1);
}
