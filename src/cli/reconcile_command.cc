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
  std::vector<std::string> sinks;
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

int WorstOf(const std::vector<api::ReconciledTable>& tables) {
  auto worst = Agreement::kEqual;
  for (const auto& table : tables) worst = api::WorseOf(worst, AgreementOf(table));
  return CodeOf(worst);
}

Colour ColourOf(Agreement agreement) {
  switch (agreement) {
    case Agreement::kEqual: return Colour::kGreen;
    case Agreement::kDifferent: return Colour::kRed;
    case Agreement::kBehind:
    case Agreement::kUnknown: break;
  }
  return Colour::kYellow;
}

/// Phrases of a note, one after the other.
class Note {
 public:
  void Add(const std::string& phrase) { text_ += (text_.empty() ? "" : ", ") + phrase; }
  /// How many, and the first of them.
  void AddPartitions(std::string_view what, const std::vector<std::string>& partitions) {
    const size_t count = partitions.size();
    if (count == 1) Add(fmt::format("1 partition {} ({})", what, partitions[0]));
    if (count > 1) Add(fmt::format("{} partitions {} ({}, …)", count, what, partitions[0]));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What to say of a table in one cell.
std::string NoteOf(const api::ReconciledTable& table) {
  if (table.failure) return table.failure->message;
  const auto& found = table.found;
  if (found.agreement == Agreement::kUnknown) return "never published";
  Note note;
  note.AddPartitions("missing", found.missing);
  note.AddPartitions("too many", found.surplus);
  if (!found.is_schema_equal) note.Add("another schema");
  if (!found.untold.empty())
    note.Add(fmt::format("{} instants not told ({}, …)", found.untold.size(),
                         found.untold[0].requested));
  for (const auto& [first, last] : found.holes)
    note.Add(fmt::format("groups {}-{} lost", first, last));
  if (table.is_repair_asked) note.Add("repair asked for");
  return note.text();
}

/// The same of a sink: only those of its tables that are not equal.
std::string NoteOf(const api::ReconciledSink& sink) {
  constexpr size_t kDifferencesShown = 3;
  if (sink.failure) return sink.failure->message;
  std::string text;
  for (const auto& table : sink.tables) {
    if (table.agreement == Agreement::kEqual) continue;
    Note note;
    note.AddPartitions("missing", table.missing);
    note.AddPartitions("too many", table.surplus);
    const auto& differences = table.differences;
    for (size_t i = 0; i < std::min(differences.size(), kDifferencesShown); ++i)
      note.Add(differences[i]);
    if (differences.size() > kDifferencesShown)
      note.Add(fmt::format("{} more differences", differences.size() - kDifferencesShown));
    if (!table.message.empty()) note.Add(table.message);
    text += fmt::format("{}{}.{}: {}", text.empty() ? "" : "; ", table.database, table.table,
                        note.text().empty() ? "an older stamp" : note.text());
  }
  return text;
}

/// The stamp of the table that is the least far; nullopt: one of them bears none.
std::optional<std::pair<int64_t, int64_t>> OldestStamp(const api::ReconciledSink& sink) {
  std::optional<std::pair<int64_t, int64_t>> oldest;
  for (const auto& table : sink.tables) {
    if (!table.stamp) return std::nullopt;
    if (!oldest || *table.stamp < *oldest) oldest = table.stamp;
  }
  return oldest;
}

void AddSink(const api::ReconciledSink& sink, const api::ReconciledTable& table, TextTable& text) {
  const auto agreement = AgreementOf(sink);
  const auto stamp = OldestStamp(sink);
  text.AddRow({{"  sink " + sink.sink},
               {std::string(AgreementName(agreement)), ColourOf(agreement)},
               {stamp ? std::to_string(stamp->first) : "-", Colour::kPlain, true},
               {std::to_string(table.found.told_seq), Colour::kPlain, true},
               {stamp ? std::to_string(stamp->second) : "-", Colour::kPlain, true},
               {NoteOf(sink)}});
}

std::string Render(const std::vector<api::ReconciledTable>& tables, const Terminal& terminal) {
  TextTable text({"TABLE", "AGREEMENT", "EPOCH", "TOLD", "APPLIED", ""});
  for (const auto& table : tables) {
    const auto& found = table.found;
    text.AddRow({{table.table},
                 {std::string(AgreementName(found.agreement)), ColourOf(found.agreement)},
                 {std::to_string(found.epoch), Colour::kPlain, true},
                 {std::to_string(found.told_seq), Colour::kPlain, true},
                 {std::to_string(found.applied_seq), Colour::kPlain, true},
                 {NoteOf(table)}});
    for (const auto& sink : table.sinks) AddSink(sink, table, text);
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
  const auto results = app::ReconcileTables(*config, options.tables,
                                            {.repairs = options.repairs, .sinks = options.sinks},
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
                         "Compare tables with what the change feed told of them, and catalogs\n"
                         "Exit codes: 0 equal, 1 something is on its way, 2 different, 3 unknown");
  command->add_option("tables", options->tables, "Paths or URIs of tables")
      ->required()
      ->check(RefuseEmpty);
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_flag("--repair", options->repairs,
                    "Ask the publisher to tell the difference, for tables that are different");
  command
      ->add_option("--sink", options->sinks,
                   "Compare what this catalog of mirror.sinks holds, too; may be repeated")
      ->check(RefuseEmpty)
      ->allow_extra_args(false);
  command->add_option("--timeout", options->timeout, "The longest it may take")
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
