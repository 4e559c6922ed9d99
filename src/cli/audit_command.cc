#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>

#include "api/audit_json.h"
#include "api/audit_lines.h"
#include "app/table_audit.h"
#include "base/clock.h"
#include "cli/audit_table.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/stop_signal.h"
#include "merge/profile.h"

namespace tidemark::cli {

namespace {

constexpr int64_t kLimitMax = 1'000'000'000;
/// A task is below one kilobyte; the report of a part holds up to --limit findings.
constexpr size_t kLineBytesMax = size_t{1} << 30;
constexpr size_t kReadBytes = size_t{1} << 16;

struct Options {
  std::string table;
  audit::AuditOptions audit;
  int64_t limit = 1000;
  std::string as_of;
  std::string format = "table";
  RowsFlags flags;
  bool wants_plan = false;
  std::string tasks;
  std::vector<std::string> merged;
  std::string repair_plan;
};

Result<std::vector<std::string>> LinesOf(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& input = path == "-" ? std::cin : file;
  if (!input) {
    return Fail(ErrorKind::kNotFound, fmt::format("file cannot be opened, file={}", path));
  }
  std::vector<std::string> lines(1);
  std::array<char, kReadBytes> bytes{};
  while (input.read(bytes.data(), bytes.size()) || input.gcount() > 0) {
    std::string_view read(bytes.data(), static_cast<size_t>(input.gcount()));
    for (size_t end = read.find('\n'); end != read.npos; end = read.find('\n')) {
      lines.back() += read.substr(0, end);
      lines.emplace_back();
      read.remove_prefix(end + 1);
    }
    lines.back() += read;
    if (lines.back().size() > kLineBytesMax) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("line is over the bound, file={} max={}", path, kLineBytesMax));
    }
  }
  if (input.bad()) {
    return Fail(ErrorKind::kUnavailable, fmt::format("file cannot be read, file={}", path));
  }
  std::erase(lines, "");
  return lines;
}

Error InLine(const Error& error, const std::string& path, size_t number) {
  return Error(error).With(fmt::format("{} line {}", path, number + 1));
}

int VerdictOf(const audit::Report& report) {
  if (report.has_faults()) return kBreach;
  return report.is_complete() ? kHealthy : kUnknown;
}

int Show(const audit::Report& report, const Options& options) {
  return Print(options.format == "json" ? api::AuditJson(report) + "\n"
                                        : AuditTable(report, Terminal::OfStdout()),
               VerdictOf(report));
}

int RunPlan(const Options& options, const Budget& budget, StopSignal& stop) {
  const auto tasks =
      app::PlanAudit(options.table, options.flags.store, options.audit, budget, app::SystemEdges());
  if (!tasks) return Complain(tasks.error());
  std::string lines;
  for (const auto& task : *tasks) lines += api::AuditTaskJson(task) + "\n";
  stop.End();  // writing waits for whoever reads, and may be ended at once
  return Print(lines);
}

Result<std::vector<audit::AuditTask>> ReadTasks(const std::string& path) {
  TRY_ASSIGN(const auto lines, LinesOf(path));
  std::vector<audit::AuditTask> tasks;
  for (size_t i = 0; i < lines.size(); ++i) {
    auto task = api::ParseAuditTask(lines[i]);
    if (!task) return std::unexpected(InLine(task.error(), path, i));
    tasks.push_back(*std::move(task));
  }
  return tasks;
}

/// The verdict is that of all tasks together.
int RunTasks(const std::vector<audit::AuditTask>& tasks, const Options& options,
             const Budget& budget, const StopSignal& stop) {
  auto output = OutputFile::Open("", stop.token());
  if (!output) return Complain(output.error());
  bool has_faults = false;
  bool is_complete = true;
  const auto done = app::RunAuditTasks(
      tasks, options.flags.store, options.audit,
      [&](const audit::Report& report) {
        has_faults = has_faults || report.has_faults();
        is_complete = is_complete && report.is_complete();
        return output->Write(api::AuditPartJson(report) + "\n");
      },
      budget, app::SystemEdges());
  if (output->is_reader_gone()) return kHealthy;
  if (!done) return Complain(done.error());
  if (const auto finished = output->Finish(); !finished) return Complain(finished.error());
  if (has_faults) return kBreach;
  return is_complete ? kHealthy : kUnknown;
}

Result<std::vector<audit::Report>> ReadParts(const std::vector<std::string>& paths) {
  std::vector<audit::Report> parts;
  for (const auto& path : paths) {
    TRY_ASSIGN(const auto lines, LinesOf(path));
    for (size_t i = 0; i < lines.size(); ++i) {
      auto part = api::ParseAuditPart(lines[i]);
      if (!part) return std::unexpected(InLine(part.error(), path, i));
      parts.push_back(*std::move(part));
    }
  }
  return parts;
}

int RunMerge(const Options& options) {
  auto parts = ReadParts(options.merged);
  if (!parts) return Complain(parts.error());
  const auto merged = audit::MergeReports(*std::move(parts), options.audit.limit);
  return merged ? Show(*merged, options) : Complain(merged.error());
}

int RunWhole(const Options& options, const Budget& budget, StopSignal& stop) {
  std::optional<OutputFile> output;
  app::TableAuditOptions wanted = {options.audit};
  if (!options.repair_plan.empty()) {
    if (const auto done = CheckOutsideTable(options.repair_plan, options.table); !done) {
      return Complain(done.error());
    }
    auto opened = OutputFile::Open(options.repair_plan, stop.token());
    if (!opened) return Complain(opened.error());
    output = *std::move(opened);
    wanted.repair_plan = [&](std::string_view bytes) { return output->Write(bytes); };
  }
  const SystemClock clock;
  std::optional<ProgressLine> progress(
      std::in_place, clock, StyleOnStderr(options.flags.progress, ProgressRows::kElsewhere),
      PrintToStderr);
  wanted.progress = progress->sink();
  const auto report =
      app::AuditTable(options.table, options.flags.store, wanted, budget, app::SystemEdges());
  progress.reset();
  if (stop.was_sent()) return stop.exit_code();
  if (!report) return Complain(report.error());
  if (output) {
    if (const auto done = output->Finish(); !done) return Complain(done.error());
  }
  stop.End();
  return Show(*report, options);
}

Status Check(const Options& options) {
  const int modes = (options.wants_plan ? 1 : 0) + (options.tasks.empty() ? 0 : 1) +
                    (options.merged.empty() ? 0 : 1) + (options.repair_plan.empty() ? 0 : 1);
  if (modes > 1) {
    return Fail(ErrorKind::kInvalidArgument,
                "only one of --plan, --tasks, --merge and --repair-plan can be done at a time");
  }
  const bool needs_table = options.tasks.empty() && options.merged.empty();
  if (needs_table && options.table.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "a table is wanted");
  }
  if (!needs_table && !options.table.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "tasks and parts name their table themselves");
  }
  return {};
}

int RunCommand(Options options) {
  if (const auto done = Check(options); !done) return Complain(done.error());
  const auto memory = BytesOf(options.flags.memory);
  if (!memory) return Complain(memory.error());
  const auto timeout = TimeoutOf(options.flags.timeout);
  if (!timeout) return Complain(timeout.error());
  options.audit.memory_max = *memory;
  options.audit.threads = options.flags.threads;
  options.audit.limit = static_cast<size_t>(options.limit);
  options.audit.engine = options.flags.engine;
  if (!options.as_of.empty()) options.audit.as_of = options.as_of;
  if (!options.merged.empty()) return RunMerge(options);
  std::vector<audit::AuditTask> tasks;
  if (!options.tasks.empty()) {
    // Before signals are held back: reading a pipe may wait for long.
    auto read = ReadTasks(options.tasks);
    if (!read) return Complain(read.error());
    tasks = *std::move(read);
  }
  StopSignal stop;
  const Budget budget = Budget::For(*timeout, stop.token());
  int code = kHealthy;
  if (options.wants_plan) {
    code = RunPlan(options, budget, stop);
  } else if (!options.tasks.empty()) {
    code = RunTasks(tasks, options, budget, stop);
  } else {
    code = RunWhole(options, budget, stop);
  }
  return stop.was_sent() ? stop.exit_code() : code;
}

std::vector<std::string> ReaderNames() {
  std::vector<std::string> names;
  for (const auto name : merge::ProfileNames()) {
    if (name != "event-time") names.emplace_back(name);
  }
  return names;
}

}  // namespace

void AddAudit(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "audit", "Rows that readers lose, bring back or show stale, with the evidence");
  command->add_option("table", options->table, "Path or URI of the table");
  command
      ->add_option("--profile", options->audit.profiles,
                   "A reader to hold against event time; may be repeated (default: the release of "
                   "the table's version, and what the table itself asks of the newest reader)")
      ->check(CLI::IsMember(ReaderNames()))
      ->allow_extra_args(false);
  command->add_option("--format", options->format, "")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_option("--limit", options->limit, "Findings listed, the gravest first (0: all)")
      ->check(CLI::Range(int64_t{0}, kLimitMax))
      ->capture_default_str();
  command->add_flag("--plan", options->wants_plan, "Print the work as tasks, one a line");
  command
      ->add_option("--tasks", options->tasks,
                   "Do the tasks in this file (-: stdin), print one result a line")
      ->check(RefuseEmpty);
  command->add_option("--merge", options->merged, "Put such results together")->check(RefuseEmpty);
  command
      ->add_option("--repair-plan", options->repair_plan,
                   "Write the rows that make the table right for the first profile (Parquet)")
      ->check(RefuseEmpty);
  command->add_flag("--global-index", options->audit.keys_are_global,
                    "A key is one row of the whole table, whatever its partition");
  command
      ->add_option("--where-partition", options->audit.partition_glob,
                   "Only partitions whose path matches, e.g. 'dt=2026-01-*'")
      ->check(RefuseEmpty);
  command->add_option("--as-of", options->as_of, "The table as it was at this instant")
      ->check(RefuseEmpty);
  AddRowsFlags(*command, options->flags, "File groups judged at the same time");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
