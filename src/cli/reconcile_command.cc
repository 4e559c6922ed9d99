#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "api/reconcile_json.h"
#include "app/config.h"
#include "app/reconcile_run.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

using change::Agreement;

struct Options {
  std::vector<std::string> tables;
  std::string config_file;
  std::string format = "table";
  std::string timeout = "5m";
  bool repairs = false;
};

int CodeOf(Agreement agreement) {
  switch (agreement) {
    case Agreement::kEqual: return kHealthy;
    case Agreement::kBehind: return kWarning;
    case Agreement::kDifferent: return kBreach;
    case Agreement::kUnknown: break;
  }
  return kUnknown;
}

/// Different before unknown before behind before equal, as for pipelines.
int WorstOf(const std::vector<api::ReconciledTable>& tables) {
  constexpr int kRanks[] = {kHealthy, kWarning, kUnknown, kBreach};
  const auto rank = [&](int code) { return std::ranges::find(kRanks, code) - kRanks; };
  int worst = kHealthy;
  for (const auto& table : tables)
    worst = std::max(worst, CodeOf(table.found.agreement),
                     [&](int a, int b) { return rank(a) < rank(b); });
  return worst;
}

/// What to say of a table in one cell.
std::string NoteOf(const api::ReconciledTable& table) {
  if (table.failure) return table.failure->message;
  const auto& found = table.found;
  std::string note;
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : ", ") + text; };
  if (found.agreement == Agreement::kUnknown) return "never published";
  if (!found.missing.empty())
    add(fmt::format("{} partitions missing ({}, …)", found.missing.size(), found.missing[0]));
  if (!found.surplus.empty())
    add(fmt::format("{} partitions too many ({}, …)", found.surplus.size(), found.surplus[0]));
  if (!found.is_schema_equal) add("another schema");
  if (!found.untold.empty())
    add(fmt::format("{} instants not told ({}, …)", found.untold.size(),
                    found.untold[0].requested));
  for (const auto& [first, last] : found.holes) add(fmt::format("groups {}-{} lost", first, last));
  if (table.is_repair_asked) add("repair asked for");
  return note;
}

std::string Render(const std::vector<api::ReconciledTable>& tables, const Terminal& terminal) {
  TextTable text({"TABLE", "AGREEMENT", "EPOCH", "TOLD", "APPLIED", ""});
  for (const auto& table : tables) {
    const auto& found = table.found;
    const int code = CodeOf(found.agreement);
    const Colour colour = code == kHealthy  ? Colour::kGreen
                          : code == kBreach ? Colour::kRed
                                            : Colour::kYellow;
    text.AddRow({{table.table},
                 {std::string(AgreementName(found.agreement)), colour},
                 {std::to_string(found.epoch), Colour::kPlain, true},
                 {std::to_string(found.told_seq), Colour::kPlain, true},
                 {std::to_string(found.applied_seq), Colour::kPlain, true},
                 {NoteOf(table)}});
  }
  return text.Render(terminal);
}

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  const auto config = app::ReadConfig(options.config_file, app::SystemConfigSources());
  if (!config) return Complain(config.error());
  SetLogLevel(LogLevel::kWarning);
  app::HideInLog(*config);
  StopSignal stop;
  const auto edges = app::SystemEdges();
  const auto results = app::ReconcileTables(*config, options.tables, {.repairs = options.repairs},
                                            Budget::For(*timeout, stop.token()), edges);
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  if (!results) return Complain(results.error());
  const bool is_unreachable = std::ranges::all_of(*results, [](const auto& result) {
    return result.failure && ExitCodeOf(result.failure->kind) == kUnreachable;
  });
  if (is_unreachable) return Complain(*results->front().failure);
  return Print(options.format == "json" ? api::ReconcileJson(*results, edges.clock->Now()) + "\n"
                                        : Render(*results, Terminal::OfStdout()),
               WorstOf(*results));
}

}  // namespace

void AddReconcile(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("reconcile",
                         "Compare tables with what the change feed told of them\n"
                         "Exit codes: 0 equal, 1 something is on its way, 2 different, 3 unknown");
  command->add_option("tables", options->tables, "Paths or URIs of tables")
      ->required()
      ->check(RefuseEmpty);
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_flag("--repair", options->repairs,
                    "Ask the publisher to tell the difference, for tables that are different");
  command->add_option("--timeout", options->timeout, "The longest it may take")
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
