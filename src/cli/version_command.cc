#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/build_info.h"
#include "cli/command.h"
#include "cli/commands.h"

namespace tidemark::cli {

void AddVersion(CLI::App& app, Run& chosen) {
  CLI::App* command =
      app.add_subcommand("version", "Version of tidemark and of what it is built on");
  command->callback([&chosen] {
    chosen = [] {
      const app::BuildInfo build = app::GetBuildInfo();
      return Print(fmt::format("tidemark {} ({}, librdkafka {})\n", build.version, build.compiler,
                               build.rdkafka_version));
    };
  });
}

}  // namespace tidemark::cli
