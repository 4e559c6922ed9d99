#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <memory>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/pipelines.h"
#include "app/serve.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

std::atomic<bool> wants_reload = false;

int RunCommand(const ServingFlags& options) {
  const auto sources = app::SystemConfigSources(app::NamedFiles::kOfAll);
  auto config = app::ReadConfig(options.config_file, sources);
  if (!config) return Complain(config.error());
  if (const auto any = app::SelectPipelines(*config, {}); !any && !config->feed && !config->mirror)
    return Complain(any.error());
  if (const auto placed = app::ListenAt(options.listen, *config); !placed)
    return Complain(placed.error());
  SetLogLevel(options.is_quiet ? LogLevel::kWarning : LogLevel::kInfo);
  struct sigaction on_hangup = {};
  on_hangup.sa_handler = [](int) { wants_reload = true; };
  on_hangup.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &on_hangup, nullptr);
  StopSignal stop;
  const QueuedLog queued;
  const app::ServeOptions serve{
      .config_file = options.config_file,
      .listen = options.listen,
      .wants_reload = [] { return wants_reload.exchange(false); },
      .on_ready =
          [](const std::string& url) { Say(fmt::format("tidemark: answering at {}", url)); },
      .watch = {},
      .stop = stop.token()};
  const auto served = app::Serve(*std::move(config), sources, serve, app::SystemEdges());
  if (!served) return Complain(served.error());
  // Being asked to stop is how a daemon ends well.
  return kHealthy;
}

}  // namespace

void AddServe(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<ServingFlags>();
  CLI::App* command = app.add_subcommand(
      "serve", "Watch all pipelines of a configuration, and answer over HTTP (docs/serve.md)");
  AddServingFlags(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
