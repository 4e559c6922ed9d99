#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/publish_run.h"
#include "app/queue_wake_ups.h"
#include "base/budget.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/stop_signal.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::string config_file;
  std::string timeout = "5m";
  bool is_once = false;
  bool is_quiet = false;
};

int PublishOnce(const app::Config& config, const Options& options, const StopSignal& stop) {
  const auto timeout = TimeoutOf(options.timeout);
  if (!timeout) return Complain(timeout.error());
  const auto budget = Budget::For(*timeout, stop.token());
  const auto publisher = app::StartPublisher(config, app::SystemEdges(), {.is_once = true},
                                             app::AbsentCluster::kFail, budget);
  if (stop.was_sent()) return stop.exit_code();
  if (!publisher) return Complain(publisher.error());
  const auto round = (*publisher)->AwaitRound(budget);
  if (stop.was_sent()) return stop.exit_code();
  for (const auto& finding : round.findings) Warn(Printable(finding));
  for (const auto& failure : round.failures) Warn(Printable(failure));
  Say(fmt::format("tidemark: {} of {} tables told", round.told, round.tables));
  return round.failures.empty() && round.told == round.tables ? kHealthy : kUnknown;
}

int PublishOn(const app::Config& config, const StopSignal& stop) {
  const QueuedLog queued;
  app::QueueWakeUps queues(config.wake_ups);  // outlives the publisher, which asks it
  const app::PublisherOptions options{
      .is_told = [&](std::string_view table) { return queues.IsTold(table); }};
  const auto publisher =
      app::StartPublisher(config, app::SystemEdges(), options, app::AbsentCluster::kFail,
                          Budget::For(std::chrono::minutes(1), stop.token()));
  if (stop.was_sent()) return kHealthy;
  if (!publisher) return Complain(publisher.error());
  queues.Start([&](const std::string& uri) { (*publisher)->WakeUpAt(uri); });
  Say("tidemark: publishing");
  while (WaitUnlessStopped(std::chrono::hours(1), stop.token())) {
  }
  queues.Stop();
  // Being asked to stop is how it ends well.
  return kHealthy;
}

int RunCommand(const Options& options) {
  const auto config = app::ReadConfig(
      options.config_file, app::SystemConfigSources(app::NamedFiles::kOfClustersAndStores));
  if (!config) return Complain(config.error());
  SetLogLevel(options.is_quiet || options.is_once ? LogLevel::kWarning : LogLevel::kInfo);
  app::HideInLog(*config);
  StopSignal stop;
  return options.is_once ? PublishOnce(*config, options, stop) : PublishOn(*config, stop);
}

}  // namespace

void AddPublish(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("publish",
                         "Tell the changes of the tables of `feed` to Kafka (docs/feed.md)\n"
                         "Exit codes with --once: 0 all told, 3 something could not be told");
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_flag("--once", options->is_once, "One round over all tables, then end");
  command->add_option("--timeout", options->timeout, "With --once: the longest it may take")
      ->capture_default_str();
  command->add_flag("-q,--quiet", options->is_quiet, "Log warnings and errors only");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
