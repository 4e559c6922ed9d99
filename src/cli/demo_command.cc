#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/demo.h"
#include "app/incident.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/freshness_table.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

/// The partition without a leader is asked again until the deadline: in a demo, two seconds show
/// it.
constexpr Milliseconds kProbeDeadline = std::chrono::seconds(2);

std::string ListedRows(const app::Incident& incident) {
  std::string text;
  for (const auto& [profile, rows] : incident.rows) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", profile, rows);
  }
  return text;
}

/// What each reader shows, and the audit's first sentence.
std::string IncidentText(const std::vector<app::Incident>& incidents) {
  std::string out =
      "Rows that vanish: two tables that Flink wrote with Hudi 0.14, ordered by a text column\n"
      "(docs/incident.md). No reader complains.\n\n";
  for (const app::Incident& incident : incidents) {
    out += fmt::format("  {}\n    rows shown: {}\n", incident.story, ListedRows(incident));
    const auto& lost = incident.report.summary.findings;
    const auto found = lost.find("lost_row");
    out += fmt::format("    audit: {} lost under hudi-0.14\n",
                       found == lost.end() ? 0 : found->second);
    if (incident.report.findings.empty()) continue;
    const auto& first = incident.report.findings.front();
    out += fmt::format("    key {}: {}\n", first.record_key, first.explanation);
  }
  return out + "\n  tidemark audit TABLE          tidemark read TABLE --profile hudi-0.14\n";
}

int RunCommand() {
  StopSignal stop;
  const auto edges = app::SystemEdges();
  const auto folder = app::FindDemoData();
  if (!folder) return Complain(folder.error());
  const auto demo = app::Demo::Open(*folder, edges);
  if (!demo) return Complain(demo.error());
  const auto incidents = app::TellIncidents(*folder, edges);
  if (!incidents) return Complain(incidents.error());
  const app::Config& config = (*demo)->config();
  const app::FreshnessRun run = app::RunFreshness(
      config, config.pipelines, {.probe_deadline = kProbeDeadline, .stop = stop.token()}, edges);
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  const Terminal terminal = Terminal::OfStdout();
  std::string out =
      "Five tables that real Hudi releases wrote, and a Kafka cluster inside this process whose\n"
      "topics are loaded so that the tables' checkpoints fit:\n\n";
  for (size_t i = 0; i < config.pipelines.size(); ++i) {
    out += fmt::format("  {:<10}{}\n", config.pipelines[i].spec.name, (*demo)->stories()[i]);
  }
  out += "\n" + FreshnessTable(run.reports, false, terminal) + "\n";
  out += fmt::format(
      "{} partitions judged in {} ms. Your own table:\n\n"
      "  tidemark freshness --table s3://lake/orders --bootstrap broker:9092 --sla 30m\n",
      [&] {
        int64_t total = 0;
        for (const auto& report : run.reports) total += report.counts.total;
        return total;
      }(),
      run.duration.count());
  out += "\n" + IncidentText(*incidents);
  return Print(out);
}

}  // namespace

void AddDemo(CLI::App& app, Run& chosen) {
  CLI::App* command =
      app.add_subcommand("demo", "The main job on real tables, with nothing else installed");
  // The report is all there is to see: it ends by itself either way.
  auto is_once = std::make_shared<bool>(false);
  command->add_flag("--once", *is_once, "End after the report");
  command->callback([is_once, &chosen] { chosen = [is_once] { return RunCommand(); }; });
}

}  // namespace tidemark::cli
