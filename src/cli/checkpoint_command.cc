#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/checkpoint_json.h"
#include "app/table_read.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

struct Options {
  TableFlags flags;
  int64_t commit_depth_max = 100;
};

std::string Render(const app::CheckpointReading& reading, const Terminal& terminal) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{:<16}{}\n", name, Printable(value));
  };
  add("table", reading.table);
  const lake::CheckpointSearch& search = reading.search;
  if (!search.found) {
    add("checkpoint", fmt::format("none in {} commit{}{}", search.commits_examined,
                                  search.commits_examined == 1 ? "" : "s",
                                  search.is_depth_exhausted
                                      ? ", older ones were not looked at (--max-commit-depth)"
                                      : ""));
  } else {
    const lake::CommitPoint& commit = *search.found;
    add("instant", fmt::format("{} {}{}", commit.instant, commit.action,
                               commit.is_archived ? " (archived)" : ""));
    if (commit.committed_at) add("committed at", FormatRfc3339(*commit.committed_at));
    add("commit depth", std::to_string(commit.commit_depth));
    add("kind", std::string(CheckpointKindName(commit.checkpoint.kind)));
    add("key", commit.checkpoint.key);
    add("value", commit.checkpoint.value);
    for (const auto& topic : commit.checkpoint.topics) {
      for (const auto& [partition, offset] : topic.offsets) {
        add("", fmt::format("{}-{} next offset {}{}", topic.topic, partition, offset,
                            topic.writer.empty() ? "" : " by " + topic.writer));
      }
    }
    if (search.last_change && search.last_change->instant != commit.instant) {
      add("last change", search.last_change->instant);
    }
  }
  for (const auto& finding : search.findings) {
    out += fmt::format("{}: {}: {}\n", Paint(terminal, Colour::kYellow, finding.kind),
                       Printable(finding.place), Printable(finding.message));
  }
  return out;
}

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.flags.timeout);
  if (!timeout) return Complain(timeout.error());
  StopSignal stop;
  const auto reading = app::ReadCheckpoint(options.flags.table, options.flags.store,
                                           {.commit_depth_max = options.commit_depth_max},
                                           Budget::For(*timeout, stop.token()), app::SystemEdges());
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  if (!reading) return Complain(reading.error());
  return Print(options.flags.format == "json"
                   ? api::CheckpointJson(reading->table, reading->search) + "\n"
                   : Render(*reading, Terminal::OfStdout()),
               reading->search.found ? kHealthy : kUnknown);
}

}  // namespace

void AddCheckpoint(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("checkpoint", "Up to which source position a table is committed");
  AddTableFlags(*command, options->flags);
  command
      ->add_option("--max-commit-depth", options->commit_depth_max,
                   "Commits without a checkpoint that may be passed over")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
