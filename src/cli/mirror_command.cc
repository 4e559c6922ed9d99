#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/mirror_serve.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

int RunCommand(const ServingFlags& options) {
  auto config =
      app::ReadConfig(options.config_file, app::SystemConfigSources(app::NamedFiles::kOfAll));
  if (!config) return Complain(config.error());
  if (const auto placed = app::ListenAt(options.listen, *config); !placed)
    return Complain(placed.error());
  SetLogLevel(options.is_quiet ? LogLevel::kWarning : LogLevel::kInfo);
  StopSignal stop;
  const QueuedLog queued;
  const app::MirrorServeOptions serve{
      .on_ready =
          [](const std::string& url) { Say(fmt::format("tidemark: answering at {}", url)); },
      .stop = stop.token()};
  const auto served = app::ServeMirror(*config, serve, app::SystemEdges());
  if (stop.was_sent()) return kHealthy;
  if (!served) return Complain(served.error());
  return kHealthy;
}

}  // namespace

void AddMirror(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<ServingFlags>();
  CLI::App* command = app.add_subcommand(
      "mirror", "Follow the change feed and answer for its tables over HTTP (docs/change-feed.md)");
  AddServingFlags(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
