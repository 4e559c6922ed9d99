#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/build_info.h"
#include "cli/command.h"
#include "cli/commands.h"

namespace tidemark::cli {

std::string VersionText() {
  const app::BuildInfo build = app::GetBuildInfo();
  return fmt::format("tidemark {} ({}, librdkafka {})", build.version, build.compiler,
                     build.rdkafka_version);
}

void AddVersion(CLI::App& app, Run& chosen) {
  CLI::App* command =
      app.add_subcommand("version", "Version of tidemark and of what it is built on");
  command->callback([&chosen] { chosen = [] { return Print(VersionText() + "\n"); }; });
}

}  // namespace tidemark::cli
