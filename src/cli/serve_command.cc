#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/pipelines.h"
#include "app/serve.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::string config_file;
  std::string listen;
  bool is_quiet = false;
};

std::atomic<bool> wants_reload = false;

int RunCommand(const Options& options) {
  const auto sources = app::SystemConfigSources();
  auto config = app::ReadConfig(options.config_file, sources);
  if (!config) return Complain(config.error());
  if (const auto any = app::SelectPipelines(*config, {}); !any && !config->feed && !config->mirror)
    return Complain(any.error());
  if (!options.listen.empty()) {
    app::HttpConfig http = config->http.value_or(app::HttpConfig{});
    if (const auto parsed = app::ParseListen(options.listen, http); !parsed)
      return Complain({ErrorKind::kInvalidArgument, "--listen: " + parsed.error().message});
    config->http = http;
  }
  SetLogLevel(options.is_quiet ? LogLevel::kWarning : LogLevel::kInfo);
  struct sigaction on_hangup = {};
  on_hangup.sa_handler = [](int) { wants_reload = true; };
  on_hangup.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &on_hangup, nullptr);
  StopSignal stop;
  const app::ServeOptions serve{
      .config_file = options.config_file,
      .wants_reload = [] { return wants_reload.exchange(false); },
      .on_ready =
          [](const std::string& url) {
            std::fputs(fmt::format("tidemark: answering at {}\n", url).c_str(), stderr);
          },
      .watch = {},
      .stop = stop.token()};
  const auto served = app::Serve(*std::move(config), sources, serve, app::SystemEdges());
  if (!served) return Complain(served.error());
  // Being asked to stop is how a daemon ends well.
  return kHealthy;
}

}  // namespace

void AddServe(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "serve", "Watch all pipelines of a configuration, and answer over HTTP (docs/serve.md)");
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT instead of the configuration's; port 0: any free one");
  command->add_flag("-q,--quiet", options->is_quiet, "Log warnings and errors only");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
