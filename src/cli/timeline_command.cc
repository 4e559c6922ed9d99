#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/timeline_json.h"
#include "app/table_read.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

using lake::hudi::Instant;
using lake::hudi::State;

/// More instants than a timeline has.
constexpr int64_t kLimitMax = 1'000'000;

struct Options {
  TableFlags flags;
  int64_t limit = 0;
  bool with_archived = false;
};

std::string Render(const app::TimelineReading& reading, const Terminal& terminal) {
  const auto& properties = reading.properties;
  std::string out = fmt::format(
      "{}  {}  version {}, layout {}\n\n", Printable(reading.table),
      properties.type == lake::hudi::TableType::kMergeOnRead ? "MERGE_ON_READ" : "COPY_ON_WRITE",
      properties.version, properties.layout);
  TextTable table({"REQUESTED", "COMPLETED", "ACTION", "STATE", "OPERATION", ""});
  for (const Instant& instant : reading.timeline.instants) {
    const bool is_done = instant.state == State::kCompleted;
    table.AddRow(
        {{instant.requested},
         {instant.completed.value_or("-")},
         {instant.action_name},
         {std::string(StateName(instant.state)), is_done ? Colour::kGreen : Colour::kYellow},
         {instant.operation.value_or("-")},
         {instant.is_archived ? "archived" : "", Colour::kDim}});
  }
  out += table.Render(terminal);
  for (const auto& finding : reading.timeline.findings) {
    out += fmt::format("{}: {}: {}\n", Paint(terminal, Colour::kYellow, finding.kind),
                       Printable(finding.place), Printable(finding.message));
  }
  return out;
}

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.flags.timeout);
  if (!timeout) return Complain(timeout.error());
  StopSignal stop;
  const auto reading = app::ReadTimeline(
      options.flags.table, options.flags.store,
      {.with_archived = options.with_archived, .limit = static_cast<size_t>(options.limit)},
      Budget::For(*timeout, stop.token()), app::SystemEdges());
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  if (!reading) return Complain(reading.error());
  return Print(options.flags.format == "json"
                   ? api::TimelineJson(reading->table, reading->properties, reading->timeline) +
                         "\n"
                   : Render(*reading, Terminal::OfStdout()));
}

}  // namespace

void AddTimeline(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("timeline", "What was done to a table, and how far it got");
  AddTableFlags(*command, options->flags);
  command->add_option("--limit", options->limit, "Only the newest N instants (0: all)")
      ->check(CLI::Range(int64_t{0}, kLimitMax));
  command->add_flag("--archived", options->with_archived, "The archived instants as well");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
