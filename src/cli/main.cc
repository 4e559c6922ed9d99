#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>

#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"

namespace tidemark::cli {
namespace {

constexpr const char* kDescription =
    "Reads a lake table's own commit log and says whether its data is fresh.\n"
    "Exit codes: 0 healthy, 1 warning, 2 breach, 3 unknown, 64 wrong command line or "
    "configuration,\n"
    "65 the data cannot be read, 69 a store or broker could not be reached, 70 a bug of ours.";

int Main(int argc, char** argv) {
  HoldStandardDescriptors();
  // A reader that goes away (`| head`) ends a write, not the process.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(kDescription, "tidemark");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  bool is_verbose = false;
  app.add_flag("-v,--verbose", is_verbose, "Say on stderr what is being done");
  Run chosen;
  AddFreshness(app, chosen);
  AddTimeline(app, chosen);
  AddCheckpoint(app, chosen);
  AddDoctor(app, chosen);
  AddDemo(app, chosen);
  AddVersion(app, chosen);
  AddCompletion(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // --help and the like are "errors" that end well.
    const int code = app.exit(e);
    return code == 0 ? 0 : static_cast<int>(kUsage);
  }
  SetLogLevel(is_verbose ? LogLevel::kDebug : LogLevel::kWarning);
  return chosen();
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  try {
    return tidemark::cli::Main(argc, argv);
  } catch (const std::exception& e) {
    // Nothing of ours throws: whatever arrives here is a bug, and the user should know.
    std::fprintf(stderr, "tidemark: internal error, please report it: %s\n", e.what());
    return tidemark::cli::kBug;
  }
}
