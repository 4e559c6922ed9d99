#include "rules/objectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/time_text.h"
#include "base/utf8.h"
#include "metrics/names.h"
#include "rules/burn_windows.h"
#include "rules/object_name.h"
#include "rules/prometheus_rules.h"
#include "rules/promql.h"
#include "rules/yaml_text_internal.h"

namespace tidemark::rules {

namespace {

namespace names = metrics::names;
using std::chrono::minutes;

constexpr std::string_view kService = "tidemark";
constexpr std::string_view kDescription =
    "Share of time in which no record waits longer than the SLA of {} and none is lost";
/// A display name is read by people.
constexpr size_t kNameShownMax = 200;

std::string DescriptionOf(const WatchedPipeline& pipeline) {
  return fmt::format(kDescription, FormatDuration(pipeline.sla));
}

std::string BreachOf(const WatchedPipeline& pipeline) {
  return fmt::format("{}{{{}}}", names::kBreach, PipelineMatcher({pipeline.name}));
}

std::vector<WatchedPipeline> ByName(std::span<const WatchedPipeline> pipelines) {
  std::vector<WatchedPipeline> sorted(pipelines.begin(), pipelines.end());
  std::ranges::sort(sorted, {}, &WatchedPipeline::name);
  return sorted;
}

/// Sloth's page alert is our critical pairs, its ticket alert the others.
bool CarriesAll(Severity severity, Milliseconds step) {
  return std::ranges::all_of(AllBurnWindows(), [&](const BurnWindow& burn) {
    return burn.severity != severity || CarriesStep(burn.short_window, step);
  });
}

void WriteSlothAlert(YamlText& yaml, std::string_view key, Severity severity, Milliseconds step) {
  yaml.Key(key).BeginMap();
  if (CarriesAll(severity, step)) {
    yaml.Key("labels").BeginMap();
    yaml.Plain("severity", severity == Severity::kCritical ? "critical" : "warning").EndMap();
  } else {
    yaml.Bool("disable", true);
  }
  yaml.EndMap();
}

void WriteSloth(YamlText& yaml, const WatchedPipeline& pipeline, Milliseconds step) {
  yaml.BeginMap().Plain("name", ObjectNameOf(pipeline.name));
  yaml.Plain("objective", PercentText(pipeline.objective_ppm));
  yaml.Text("description", DescriptionOf(pipeline));
  yaml.Key("labels").BeginMap().Text("pipeline", pipeline.name).EndMap();
  yaml.Key("sli").BeginMap().Key("raw").BeginMap();
  yaml.Query("errorRatioQuery",
             fmt::format("max(avg_over_time({}[{{{{.window}}}}]))", BreachOf(pipeline)));
  yaml.EndMap().EndMap();
  yaml.Key("alerting").BeginMap().Plain("name", alerts::kBudgetBurn);
  WriteSlothAlert(yaml, "pageAlert", Severity::kCritical, step);
  WriteSlothAlert(yaml, "ticketAlert", Severity::kWarning, step);
  yaml.EndMap().EndMap();
}

void WriteMetadata(YamlText& yaml, std::string_view name) {
  yaml.Key("metadata").BeginMap().Plain("name", name).EndMap();
}

void WritePyrra(YamlText& yaml, const WatchedPipeline& pipeline, Milliseconds step) {
  yaml.BeginDocument().BeginMap();
  yaml.Plain("apiVersion", "pyrra.dev/v1alpha1").Plain("kind", "ServiceLevelObjective");
  WriteMetadata(yaml, ObjectNameOf(pipeline.name));
  yaml.Key("spec").BeginMap();
  yaml.Text("target", PercentText(pipeline.objective_ppm)).Plain("window", "4w");
  yaml.Text("description", fmt::format("Pipeline {}. {}", pipeline.name, DescriptionOf(pipeline)));
  yaml.Key("indicator").BeginMap().Key("bool_gauge").BeginMap();
  yaml.Query("metric",
             fmt::format("{}{{{}}}", records::kWithinSla, PipelineMatcher({pipeline.name})));
  yaml.EndMap().EndMap();
  yaml.Key("alerting").BeginMap().Plain("name", alerts::kBudgetBurn);
  yaml.Bool("burnrates", CarriesStep(AllBurnWindows().front().short_window, step));
  // Ours knows a dead exporter from a pipeline that nobody reports.
  yaml.Bool("absent", false).EndMap();
  yaml.EndMap().EndMap();
}

/// "5m": whole minutes, as many as hold a step.
std::string SliceText(Milliseconds step) {
  return fmt::format("{}m",
                     std::max<int64_t>(1, (step + minutes(1) - Milliseconds(1)) / minutes(1)));
}

void WriteOpenSloIndicator(YamlText& yaml, const WatchedPipeline& pipeline) {
  yaml.Key("indicator").BeginMap();
  WriteMetadata(yaml, ObjectNameOf(pipeline.name));
  yaml.Key("spec").BeginMap().Key("thresholdMetric").BeginMap().Key("metricSource").BeginMap();
  yaml.Plain("type", "Prometheus");
  yaml.Key("spec").BeginMap().Query("query", BreachOf(pipeline)).EndMap();
  yaml.EndMap().EndMap().EndMap().EndMap();
}

void WriteOpenSlo(YamlText& yaml, const WatchedPipeline& pipeline, Milliseconds step) {
  yaml.BeginDocument().BeginMap().Plain("apiVersion", "openslo/v1").Plain("kind", "SLO");
  yaml.Key("metadata").BeginMap().Plain("name", ObjectNameOf(pipeline.name));
  yaml.Text("displayName", fmt::format("Freshness of {}", Shortened(pipeline.name, kNameShownMax)));
  yaml.EndMap();
  yaml.Key("spec").BeginMap().Text("description", DescriptionOf(pipeline));
  yaml.Plain("service", kService);
  WriteOpenSloIndicator(yaml, pipeline);
  yaml.Key("timeWindow").BeginList().BeginMap();
  yaml.Plain("duration", "30d").Bool("isRolling", true).EndMap().EndList();
  yaml.Plain("budgetingMethod", "Timeslices");
  yaml.Key("objectives").BeginList().BeginMap();
  yaml.Plain("displayName", "within the SLA").Plain("op", "lte").Plain("value", "0");
  yaml.Plain("target", ShareText(pipeline.objective_ppm));
  yaml.Plain("timeSliceTarget", "1").Plain("timeSliceWindow", SliceText(step));
  yaml.EndMap().EndList().EndMap().EndMap();
}

}  // namespace

std::string SlothObjectives(std::span<const WatchedPipeline> pipelines,
                            const RuleOptions& options) {
  YamlText yaml;
  yaml.BeginMap();
  yaml.Plain("apiVersion", "sloth.slok.dev/v1").Plain("kind", "PrometheusServiceLevel");
  WriteMetadata(yaml, "tidemark-freshness");
  yaml.Key("spec").BeginMap().Plain("service", kService).Key("slos").BeginList();
  for (const WatchedPipeline& pipeline : ByName(pipelines))
    WriteSloth(yaml, pipeline, StepOf(pipeline, options));
  yaml.EndList().EndMap().EndMap();
  return yaml.Finish();
}

std::string PyrraObjectives(std::span<const WatchedPipeline> pipelines,
                            const RuleOptions& options) {
  YamlText yaml;
  for (const WatchedPipeline& pipeline : ByName(pipelines))
    WritePyrra(yaml, pipeline, StepOf(pipeline, options));
  return yaml.Finish();
}

std::string OpenSloObjectives(std::span<const WatchedPipeline> pipelines,
                              const RuleOptions& options) {
  YamlText yaml;
  yaml.BeginDocument().BeginMap().Plain("apiVersion", "openslo/v1").Plain("kind", "Service");
  WriteMetadata(yaml, kService);
  yaml.Key("spec").BeginMap();
  yaml.Plain("description", "Freshness of lake tables that are fed from Kafka").EndMap().EndMap();
  for (const WatchedPipeline& pipeline : ByName(pipelines))
    WriteOpenSlo(yaml, pipeline, StepOf(pipeline, options));
  return yaml.Finish();
}

}  // namespace tidemark::rules
