#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/config.h"
#include "app/pipelines.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "rules/dashboard.h"
#include "rules/objectives.h"
#include "rules/prometheus_rules.h"

namespace tidemark::cli {

namespace {

struct Options {
  std::string config_file;
  std::string kind;
  std::string scrape_interval = "60s";
  rules::RuleOptions rules;
};

std::string TextOf(const std::string& kind, const std::vector<rules::WatchedPipeline>& pipelines,
                   const rules::RuleOptions& options) {
  if (kind == "sloth") return rules::SlothObjectives(pipelines, options);
  if (kind == "pyrra") return rules::PyrraObjectives(pipelines, options);
  if (kind == "openslo") return rules::OpenSloObjectives(pipelines, options);
  if (kind == "grafana") return rules::GrafanaDashboard(options.job);
  return rules::PrometheusRules(pipelines, options);
}

int RunCommand(Options options) {
  const auto scrape = ParseDuration(options.scrape_interval);
  if (!scrape) return Complain(Error(scrape.error()).With("--scrape-interval"));
  if (scrape->count() <= 0)
    return Complain({ErrorKind::kInvalidArgument, "--scrape-interval: must be longer than zero"});
  options.rules.scrape_interval = *scrape;
  const auto config = app::ReadConfig(options.config_file, app::SystemConfigSources());
  if (!config) return Complain(config.error());
  const bool has_feed_only = config->feed && config->pipelines.empty();
  const auto pipelines = has_feed_only ? Result<std::vector<app::PipelineConfig>>()
                                       : app::SelectPipelines(*config, {});
  if (!pipelines) return Complain(pipelines.error());
  if (config->feed) options.rules.feed_partitions = config->feed->topics.partition_count;
  const auto watched = app::WatchedPipelines(*pipelines);
  if (watched.empty() && !config->feed)
    return Complain({ErrorKind::kInvalidArgument, "no rules: all pipelines are switched off"});
  return Print(TextOf(options.kind, watched, options.rules));
}

}  // namespace

void AddRules(CLI::App& app, Run& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "rules", "Alerts, objectives or a dashboard from the configuration (docs/rules.md)");
  command->add_option("-c,--config", options->config_file, "Configuration file (YAML)")->required();
  command->add_option("--kind", options->kind, "prometheus, sloth, pyrra, openslo or grafana")
      ->check(CLI::IsMember({"prometheus", "sloth", "pyrra", "openslo", "grafana"}))
      ->required();
  command
      ->add_option("--scrape-interval", options->scrape_interval,
                   "How often Prometheus gets new samples from tidemark")
      ->capture_default_str();
  command
      ->add_option("--job", options->rules.job,
                   "Scrape job of `tidemark serve`; '' when there is none")
      ->capture_default_str();
  command->add_option("--runbook-url", options->rules.runbook_url,
                      "Page that explains the alerts, for their runbook_url");
  command->callback([options, &chosen] { chosen = [options] { return RunCommand(*options); }; });
}

}  // namespace tidemark::cli
