#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <set>
#include <sstream>
#include <string>

#include "base/log.h"
#include "base/nearest_word.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {
namespace {

constexpr const char* kDescription =
    "Reads a lake table's own commit log and says whether its data is fresh.\n"
    "Exit codes: 0 healthy, 1 warning, 2 breach, 3 unknown, 64 wrong command line or "
    "configuration,\n"
    "65 the data cannot be read, 69 a store or broker could not be reached, 70 a bug of ours.";

int RefuseWords(std::string message, const std::string& help) {
  return Complain(
      {ErrorKind::kInvalidArgument, fmt::format("{} (see `{} --help`)", std::move(message), help)});
}

std::set<std::string> CommandsOf(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.insert(command->get_name());
  return names;
}

/// The word that stands where a command is wanted and is none; empty when there is none.
std::string UnknownCommand(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;  // no flag in front of a command takes a value
    return CommandsOf(app).contains(word) ? "" : word;
  }
  return "";
}

/// What the parser left over. A word may be a misplaced secret: only what stands before its '='
/// is repeated.
std::string MessageOfExtras(const CLI::App& command) {
  std::set<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.insert("--" + name);
  }
  const auto extras = command.remaining();
  if (extras.empty()) return "unexpected words in front of the command";
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (!word.starts_with('-')) return fmt::format("unexpected word '{}'", word);
  return fmt::format("unknown flag '{}'{}", word, DidYouMean(word, flags));
}

int RefuseCommandLine(const CLI::App& app, const CLI::ParseError& error) {
  const auto parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const std::string help = parsed.empty() ? "tidemark" : "tidemark " + command.get_name();
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  return RefuseWords(is_extra ? MessageOfExtras(command) : error.what(), help);
}

int Main(int argc, char** argv) {
  EndOnSignals();
  HoldStandardDescriptors();
  // A reader that goes away (`| head`) ends a write, not the process.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that may not grow (ulimit -f): the write fails and is told.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app(kDescription, "tidemark");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  bool is_verbose = false;
  app.add_flag("-v,--verbose", is_verbose, "Say on stderr what is being done");
  app.set_version_flag("--version", VersionText, "The same as the command version");
  Run chosen;
  AddFreshness(app, chosen);
  AddServe(app, chosen);
  AddTimeline(app, chosen);
  AddCheckpoint(app, chosen);
  AddChanges(app, chosen);
  AddPublish(app, chosen);
  AddMirror(app, chosen);
  AddLog(app, chosen);
  AddRead(app, chosen);
  AddAudit(app, chosen);
  AddReconcile(app, chosen);
  AddRules(app, chosen);
  AddDoctor(app, chosen);
  AddDemo(app, chosen);
  AddVersion(app, chosen);
  AddCompletion(app, chosen);
  if (const std::string word = UnknownCommand(app, argc, argv); !word.empty()) {
    return RefuseWords(
        fmt::format("there is no command '{}'{}", word, DidYouMean(word, CommandsOf(app))),
        "tidemark");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) return RefuseCommandLine(app, e);
    // --help and --version are "errors" that end well.
    std::ostringstream out;
    app.exit(e, out, out);
    return Print(out.str());
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
