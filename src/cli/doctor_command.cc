#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "app/doctor.h"
#include "app/pipelines.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/doctor_json.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

using app::CheckOutcome;
using app::Diagnosis;

struct Options {
  std::string config_file;
  app::SinglePipeline single;
  std::string format = "table";
  std::string timeout = "10s";
};

Colour ColourOf(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kOk: return Colour::kGreen;
    case CheckOutcome::kWarning: return Colour::kYellow;
    case CheckOutcome::kFailed: return Colour::kRed;
    case CheckOutcome::kSkipped: return Colour::kDim;
  }
  return Colour::kPlain;
}

std::string Render(const std::vector<Diagnosis>& diagnoses, const Terminal& terminal) {
  std::string out;
  for (const Diagnosis& diagnosis : diagnoses) {
    out += fmt::format("{}  {}\n", Paint(terminal, Colour::kBold, Printable(diagnosis.subject)),
                       Printable(diagnosis.table));
    for (const app::DoctorCheck& check : diagnosis.checks) {
      out += fmt::format("  {}  {:<11} {}\n",
                         Paint(terminal, ColourOf(check.outcome),
                               fmt::format("{:<7}", CheckOutcomeName(check.outcome))),
                         check.name, Printable(check.detail));
      if (!check.cure.empty()) {
        out += fmt::format("  {:>9}{:<11} -> {}\n", "", "", Printable(check.cure));
      }
    }
  }
  return out;
}

/// A mistake in the configuration outranks unreadable data, that an unreachable store, that a
/// failed check (3), and that a warning (1).
int ExitCodeOfAll(const std::vector<Diagnosis>& diagnoses) {
  int code = kHealthy;
  const auto rank = [](int c) {
    return c == kUsage ? 5 : c == kUnreadable ? 4 : c == kUnreachable ? 3 : c == kUnknown ? 2 : c;
  };
  for (const Diagnosis& diagnosis : diagnoses) {
    for (const app::DoctorCheck& check : diagnosis.checks) {
      int found = kHealthy;
      if (check.outcome == CheckOutcome::kWarning) found = kWarning;
      if (check.outcome == CheckOutcome::kFailed) {
        found =
            check.error ? static_cast<int>(ExitCodeOf(*check.error)) : static_cast<int>(kUnknown);
      }
      if (rank(found) > rank(code)) code = found;
    }
  }
  return code;
}

int RunCommand(const Options& options) {
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  if (options.config_file.empty() == options.single.table.empty()) {
    return Complain({ErrorKind::kInvalidArgument, "give a TABLE, or --config FILE"});
  }
  const auto sources = app::SystemConfigSources(app::NamedFiles::kOfAll);
  const auto config = options.config_file.empty() ? app::ConfigOf(options.single, sources)
                                                  : app::ReadConfig(options.config_file, sources);
  if (!config) return Complain(config.error());
  app::HideInLog(*config);
  const bool has_feed_only = config->feed && config->pipelines.empty();
  const auto pipelines = has_feed_only ? Result<std::vector<app::PipelineConfig>>()
                                       : app::SelectPipelines(*config, {});
  if (!pipelines) return Complain(pipelines.error());
  StopSignal stop;
  const auto edges = app::SystemEdges();
  std::vector<Diagnosis> diagnoses = app::DiagnoseAll(
      *config, *pipelines,
      {.table_deadline = *timeout, .probe_deadline = *timeout, .stop = stop.token()}, edges);
  if (stop.was_sent()) return stop.exit_code();
  if (auto daemon = app::DiagnoseDaemon(*config, *timeout); !daemon.checks.empty())
    diagnoses.push_back(std::move(daemon));
  auto exporters = app::DiagnoseExporters(*config, *timeout, stop.token());
  if (stop.was_sent()) return stop.exit_code();
  if (!exporters.checks.empty()) diagnoses.push_back(std::move(exporters));
  if (auto queues = app::DiagnoseQueues(*config, *timeout, stop.token()); !queues.checks.empty())
    diagnoses.push_back(std::move(queues));
  if (stop.was_sent()) return stop.exit_code();
  if (auto feed = app::DiagnoseFeed(*config, *timeout); !feed.checks.empty())
    diagnoses.push_back(std::move(feed));
  if (auto sinks = app::DiagnoseSinks(*config, *timeout, stop.token()); !sinks.checks.empty())
    diagnoses.push_back(std::move(sinks));
  stop.End();
  WarnIfAllDisabled(*pipelines);
  return Print(options.format == "json" ? DoctorJson(diagnoses) + "\n"
                                        : Render(diagnoses, Terminal::OfStdout()),
               ExitCodeOfAll(diagnoses));
}

}  // namespace

void AddDoctor(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("doctor", "What is wrong with this set-up and what to do about it");
  command->add_option("table", options->single.table, "Path or URI of a table");
  command->add_option("-c,--config", options->config_file,
                      "Check everything in this configuration");
  command->add_option("--bootstrap", options->single.bootstrap,
                      "Kafka brokers: HOST:PORT[,HOST:PORT]");
  command->add_option("--topic", options->single.topic, "Topic the checkpoint must name")
      ->check(RefuseEmpty);
  command->add_option("--sla", options->single.sla, "Longest a record may wait: 90s, 30m, 24h")
      ->check(RefuseEmpty);
  command->add_option("--mode", options->single.mode, "streaming or batch")
      ->check(CLI::IsMember({"streaming", "batch"}));
  command->add_option("--property", options->single.properties, "Kafka client property, key=value");
  AddKafkaFlags(*command, options->single);
  AddStoreFlags(*command, options->single.store);
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_option("--timeout", options->timeout, "For each table, and for each cluster")
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
