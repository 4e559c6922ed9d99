#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/freshness_json.h"
#include "api/sources_json.h"
#include "app/config.h"
#include "app/freshness_run.h"
#include "app/pipelines.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/freshness_table.h"
#include "cli/stop_signal.h"
#include "metrics/freshness_points.h"
#include "metrics/text_exposition.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::vector<std::string> names;
  std::string config_file;
  app::SinglePipeline single;
  std::string format = "table";
  bool with_partitions = false;
  std::string timeout = "10s";
};

Result<app::Config> ConfigFrom(const Options& options) {
  const auto sources = app::SystemConfigSources();
  if (!options.config_file.empty()) return app::ReadConfig(options.config_file, sources);
  if (options.single.table.empty()) {
    return Fail(
        ErrorKind::kInvalidArgument,
        "nothing to look at: give --config FILE, or --table URI with --bootstrap HOST:PORT");
  }
  if (options.single.bootstrap.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "--table needs --bootstrap HOST:PORT[,HOST:PORT]");
  }
  return app::ConfigOf(options.single, sources);
}

std::string Render(const Options& options, const app::FreshnessRun& run) {
  if (options.format == "json") {
    return api::FreshnessJson(run.reports, {.generated_at = run.generated_at,
                                            .duration = run.duration,
                                            .with_partitions = options.with_partitions}) +
           "\n";
  }
  if (options.format == "prometheus")
    return metrics::TextExposition(
        metrics::FreshnessPoints(run.reports, {.with_partitions = options.with_partitions}),
        metrics::TextFormat::kPrometheus);
  if (options.format == "sources") {
    return api::SourcesJson(run.reports, run.generated_at, run.duration) + "\n";
  }
  return FreshnessTable(run.reports, options.with_partitions, Terminal::OfStdout());
}

/// A mistake in the configuration counts before whatever the other clusters say, as one that is
/// found while it is read does.
int ExitCodeOfRun(const app::FreshnessRun& run) {
  const size_t count = run.reports.size();
  if (run.misconfigured > 0) return kUsage;
  if (count > 0 && run.unreachable == count) return kUnreachable;
  if (count > 0 && run.unreadable == count) return kUnreadable;
  return freshness::ExitCodeOf(run.reports);
}

int RunCommand(const Options& options) {
  if (options.format == "sources" && options.with_partitions) {
    return Complain({ErrorKind::kInvalidArgument,
                     "--partitions: sources.json has sources alone, no place for partitions"});
  }
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  const auto config = ConfigFrom(options);
  if (!config) return Complain(config.error());
  app::HideInLog(*config);
  const auto pipelines = app::SelectPipelines(*config, options.names);
  if (!pipelines) return Complain(pipelines.error());
  StopSignal stop;
  const app::FreshnessRun run = app::RunFreshness(
      *config, *pipelines,
      {.table_deadline = *timeout, .probe_deadline = *timeout, .stop = stop.token()},
      app::SystemEdges());
  if (stop.was_sent()) return stop.exit_code();
  stop.End();
  WarnIfAllDisabled(*pipelines);
  for (const auto& [cluster, mistake] : run.cluster_mistakes) {
    // The only cluster of the command line has no name.
    Complain({ErrorKind::kInvalidArgument,
              cluster.empty() ? mistake : fmt::format("cluster '{}': {}", cluster, mistake)});
  }
  for (const auto& [table, mistake] : run.table_mistakes)
    Complain({ErrorKind::kInvalidArgument, fmt::format("table {}: {}", table, mistake)});
  return Print(Render(options, run), ExitCodeOfRun(run));
}

}  // namespace

void AddFreshness(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "freshness", "How long the oldest record that is not in the table yet has been waiting");
  command->add_option("pipeline", options->names, "Pipelines of the configuration (default: all)");
  auto* config =
      command->add_option("-c,--config", options->config_file, "Configuration file (YAML)");
  auto* table = command->add_option("--table", options->single.table, "Look at this table instead");
  table->excludes(config);
  command
      ->add_option("--bootstrap", options->single.bootstrap, "Kafka brokers: HOST:PORT[,HOST:PORT]")
      ->needs(table);
  command->add_option("--topic", options->single.topic, "Topic the checkpoint must name")
      ->check(RefuseEmpty)
      ->needs(table);
  command->add_option("--sla", options->single.sla, "Longest a record may wait: 90s, 30m, 24h")
      ->check(RefuseEmpty)
      ->needs(table);
  command->add_option("--mode", options->single.mode, "streaming (SLA 60m) or batch (SLA 24h)")
      ->check(CLI::IsMember({"streaming", "batch"}))
      ->needs(table);
  command
      ->add_option("--isolation", options->single.isolation, "What the pipeline's reader is shown")
      ->check(CLI::IsMember({"read_uncommitted", "read_committed"}))
      ->needs(table);
  command->add_option("--property", options->single.properties, "Kafka client property, key=value")
      ->needs(table);
  for (CLI::Option* flag : AddKafkaFlags(*command, options->single)) flag->needs(table);
  command
      ->add_option("--max-commit-depth", options->single.commit_depth_max,
                   "Commits without a checkpoint that may be passed over")
      ->check(CLI::Range(0, 1'000'000))
      ->needs(table);
  AddStoreFlags(*command, options->single.store);
  command->add_option("--format", options->format, "table, json, prometheus or sources")
      ->check(CLI::IsMember({"table", "json", "prometheus", "sources"}));
  command->add_flag("--partitions", options->with_partitions, "Show every partition");
  command->add_option("--timeout", options->timeout, "For each table, and for each cluster")
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
