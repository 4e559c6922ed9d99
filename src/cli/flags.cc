#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/pipelines.h"
#include "cli/command.h"

namespace tidemark::cli {

void AddStoreFlags(CLI::App& command, storage::StoreOptions& options) {
  command.add_option("--endpoint", options.endpoint, "S3 endpoint, such as http://127.0.0.1:9000");
  command.add_option("--region", options.region, "S3 region (default: the usual AWS chain)");
  command.add_flag("--anonymous", options.is_anonymous, "Do not sign S3 requests");
}

void AddTableFlags(CLI::App& command, TableFlags& flags) {
  command.add_option("table", flags.table, "Path or URI of the table")->required();
  command.add_option("--format", flags.format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command.add_option("--timeout", flags.timeout, "Longest to wait for the store")
      ->capture_default_str();
  AddStoreFlags(command, flags.store);
}

Result<Milliseconds> TimeoutOf(const std::string& text) {
  auto timeout = ParseDuration(text);
  if (!timeout) return std::unexpected(std::move(timeout).error().With("--timeout"));
  if (timeout->count() <= 0) {
    return Fail(ErrorKind::kInvalidArgument, "--timeout: must be longer than zero");
  }
  return timeout;
}

void WarnIfAllDisabled(const std::vector<app::PipelineConfig>& pipelines) {
  if (!app::AreAllDisabled(pipelines)) return;
  Warn(pipelines.size() == 1
           ? fmt::format("nothing was looked at: pipeline '{}' is switched off",
                         pipelines[0].spec.name)
           : fmt::format("nothing was looked at: all {} pipelines are switched off",
                         pipelines.size()));
}

}  // namespace tidemark::cli
