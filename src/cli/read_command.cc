#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/table_rows.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/stop_signal.h"
#include "merge/profile.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::string table;
  app::RowsOptions rows;
  std::string view = "snapshot";
  std::string columns;
  std::string as_of;
  std::string format = "jsonl";
  std::string output;
  RowsFlags flags;
};

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size() && !list.empty();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

Status Complete(Options& options) {
  auto& scan = options.rows.scan;
  TRY_ASSIGN(scan.memory_max, BytesOf(options.flags.memory));
  scan.threads = options.flags.threads;
  scan.engine = options.flags.engine;
  scan.view =
      options.view == "snapshot" ? scan::SliceView::kSnapshot : scan::SliceView::kReadOptimized;
  scan.columns = Split(options.columns);
  if (!options.as_of.empty()) scan.as_of = options.as_of;
  options.rows.format = *columnar::FindRowFormat(options.format);
  return {};
}

void Tell(const lake::Finding& finding, ProgressLine& progress) {
  progress.Clear();
  std::fprintf(stderr, "%s: %s: %s\n", finding.kind.c_str(), Printable(finding.place).c_str(),
               Printable(finding.message).c_str());
}

int RunCommand(Options options) {
  if (const auto done = Complete(options); !done) return Complain(done.error());
  const auto timeout = TimeoutOf(options.flags.timeout);
  if (!timeout) return Complain(timeout.error());
  if (const auto done = CheckOutsideTable(options.output, options.table); !done) {
    return Complain(done.error());
  }
  const StopSignal stop;
  auto output = OutputFile::Open(options.output, stop.token());
  if (!output) return Complain(output.error());
  const SystemClock clock;
  std::optional<ProgressLine> progress(
      std::in_place, clock,
      StyleOnStderr(options.flags.progress,
                    options.output.empty() ? ProgressRows::kOnStdout : ProgressRows::kElsewhere),
      PrintToStderr);
  options.rows.progress = progress->sink();
  const auto written = app::WriteRows(
      options.table, options.flags.store, options.rows,
      [&](std::string_view bytes) { return output->Write(bytes); },
      [&](const lake::Finding& finding) { Tell(finding, *progress); },
      Budget::For(*timeout, stop.token()), app::SystemEdges());
  progress.reset();
  if (stop.was_sent()) return stop.exit_code();
  if (output->is_reader_gone()) return kHealthy;
  if (!written) return Complain(written.error());
  if (const auto done = output->Finish(); !done) return Complain(done.error());
  if (written->damages == 0) return kHealthy;
  std::fprintf(stderr, "tidemark: rows may be missing or wrong, damages=%llu\n",
               static_cast<unsigned long long>(written->damages));
  return kBreach;
}

std::vector<std::string> Names(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

}  // namespace

void AddRead(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("read", "The rows of a table");
  auto& scan = options->rows.scan;
  command->add_option("table", options->table, "Path or URI of the table")->required();
  command
      ->add_option("--profile", scan.profile,
                   "Whose rules merge the versions of a row: right by event time, or those of a "
                   "release of Hudi")
      ->check(CLI::IsMember(Names(merge::ProfileNames())))
      ->capture_default_str();
  command->add_option("--view", options->view, "read-optimized leaves the logs out")
      ->check(CLI::IsMember({"snapshot", "read-optimized"}))
      ->capture_default_str();
  command->add_option("--columns", options->columns, "Only these, separated by commas")
      ->check(RefuseEmpty);
  command
      ->add_option("--where-partition", scan.partition_glob,
                   "Only partitions whose path matches, e.g. 'dt=2026-01-*'")
      ->check(RefuseEmpty);
  command->add_flag("--history", scan.with_history,
                    "Fold what older slices still hold, too: rows that a compaction lost");
  command->add_option("--as-of", options->as_of, "The table as it was at this instant")
      ->check(RefuseEmpty);
  command->add_flag("--meta", scan.with_meta, "Hudi's five meta columns as well");
  command->add_option("--format", options->format, "")
      ->check(CLI::IsMember({"jsonl", "csv", "parquet", "arrow"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "A file instead of stdout")->check(RefuseEmpty);
  AddRowsFlags(*command, options->flags, "File groups read at the same time");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
