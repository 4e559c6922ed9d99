#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/log_json.h"
#include "app/log_read.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/log_table.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

using lake::hudi::LogEntryState;

struct Options {
  std::string file;
  storage::StoreOptions store;
  std::string format = "table";
  std::string timeout = "30s";
};

/// Damage outranks what could not be read.
int CodeOf(const lake::hudi::LogListing& listing) {
  if (listing.Has(LogEntryState::kDamaged) || listing.Has(LogEntryState::kTorn)) return kBreach;
  return listing.Has(LogEntryState::kUnreadable) ? kUnknown : kHealthy;
}

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  StopSignal stop;
  const auto reading = app::ReadLog(options.file, options.store,
                                    Budget::For(*timeout, stop.token()), app::SystemEdges());
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  if (!reading) return Complain(reading.error());
  return Print(
      options.format == "json"
          ? api::LogJson(reading->file, reading->bytes->size(), reading->listing) + "\n"
          : LogTable(reading->file, reading->bytes->size(), reading->listing, Terminal::OfStdout()),
      CodeOf(reading->listing));
}

}  // namespace

void AddLog(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "log",
      "Every block of a Hudi log file, deletes with their ordering values included\n"
      "Exit codes: 0 all is sound, 2 something is damaged, 3 something is of a kind or "
      "version\nthat is not read, 65 not a log file");
  command->add_option("file", options->file, "Path or URI of the log file")->required();
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_option("--timeout", options->timeout, "Longest to wait for the store")
      ->capture_default_str();
  AddStoreFlags(*command, options->store);
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
