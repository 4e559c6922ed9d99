#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/mirror_serve.h"
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

int RunCommand(const Options& options) {
  auto config = app::ReadConfig(options.config_file, app::SystemConfigSources());
  if (!config) return Complain(config.error());
  if (!options.listen.empty()) {
    app::HttpConfig http = config->http.value_or(app::HttpConfig{});
    if (const auto parsed = app::ParseListen(options.listen, http); !parsed)
      return Complain({ErrorKind::kInvalidArgument, "--listen: " + parsed.error().message});
    config->http = http;
  }
  SetLogLevel(options.is_quiet ? LogLevel::kWarning : LogLevel::kInfo);
  StopSignal stop;
  const app::MirrorServeOptions serve{
      .on_ready =
          [](const std::string& url) {
            std::fputs(fmt::format("tidemark: answering at {}\n", url).c_str(), stderr);
          },
      .stop = stop.token()};
  const auto served = app::ServeMirror(*config, serve, app::SystemEdges());
  if (stop.was_sent()) return kHealthy;
  if (!served) return Complain(served.error());
  return kHealthy;
}

}  // namespace

void AddMirror(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "mirror", "Follow the change feed and answer for its tables over HTTP (docs/change-feed.md)");
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT instead of the configuration's; port 0: any free one");
  command->add_flag("-q,--quiet", options->is_quiet, "Log warnings and errors only");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
