#include <CLI/CLI.hpp>
#include <memory>

#include "app/table_changes.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::string table;
  storage::StoreOptions store;
  std::string timeout = "5m";
  bool from_start = false;
};

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  StopSignal stop;
  const auto changes = app::ReadTableChanges(
      options.table, options.store, {.from_start = options.from_start, .limits = {}},
      Budget::For(*timeout, stop.token()), app::SystemEdges());
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  if (!changes) return Complain(changes.error());
  for (const auto& finding : changes->findings) {
    Warn(Printable(finding.kind) + ": " + Printable(finding.place) + ": " +
         Printable(finding.message));
  }
  if (changes->is_paused) {
    Warn("a restore or rollback is under way: nothing can be told before it is complete");
    return kUnknown;
  }
  std::string lines;
  for (const auto& event : changes->events) lines += event.body + "\n";
  return Print(lines);
}

}  // namespace

void AddChanges(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "changes",
      "The events of a table's commits as JSON, one a line: what a publisher would send\n"
      "Exit codes: 0 told, 3 a restore is under way and nothing can be told");
  command->add_option("table", options->table, "Path or URI of the table")->required();
  command->add_flag("--from-start", options->from_start,
                    "Begin with the oldest archived instant instead of the oldest active one");
  command->add_option("--timeout", options->timeout, "Longest to wait for the store")
      ->capture_default_str();
  AddStoreFlags(*command, options->store);
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
