#include "rules/prometheus_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/letter_case.h"
#include "freshness/judge.h"
#include "metrics/names.h"
#include "rules/burn_windows.h"
#include "rules/promql.h"
#include "rules/yaml_text_internal.h"

namespace tidemark::rules {

namespace {

namespace names = metrics::names;
using std::chrono::minutes;

/// A breach or a warning is told when the second look in a row says so.
constexpr int kLooksToTell = 2;
/// Longer than a broker takes to come back.
constexpr Milliseconds kUnknownMin = minutes(10);
constexpr Milliseconds kExporterMin = minutes(5);
/// Looks that may be missing, and what a round may take beyond its interval, before a report that
/// calls itself known counts as frozen. The daemon itself takes it back after three.
constexpr int kLooksMissing = 5;
constexpr Milliseconds kRoundMax = minutes(5);

/// Of the change feed: an instant that is seen is told within this, even after a retry or two.
constexpr Milliseconds kUnpublishedMax = minutes(1);
constexpr Milliseconds kSendLatencyMax = std::chrono::seconds(5);
constexpr Milliseconds kCheckAgeMax = minutes(5);

/// What pipelines must have in common to share rules.
struct Thresholds {
  Milliseconds step{0};
  int64_t objective_ppm = 0;
  Milliseconds retention_margin{0};
  auto operator<=>(const Thresholds&) const = default;
};

std::string SeverityText(Severity severity) {
  return severity == Severity::kCritical ? "critical" : "warning";
}

std::string Identity(const Thresholds& thresholds) {
  return fmt::format("every-{}-objective-{}-margin-{}", RangeText(thresholds.step),
                     PercentText(thresholds.objective_ppm), RangeText(thresholds.retention_margin));
}

struct Alert {
  std::string_view name;
  std::string expr;
  Milliseconds lasts{0};  ///< how long the condition must hold
  Severity severity = Severity::kWarning;
  std::string summary;
  std::string description;
  std::vector<std::pair<std::string, std::string>> labels{};
};

/// Writes rules into the list of a group.
class RuleWriter {
 public:
  explicit RuleWriter(const RuleOptions& options) : options_(options) {}

  void BeginGroup(const std::string& name) {
    yaml_.BeginMap().Text("name", name).Key("rules").BeginList();
  }
  void EndGroup() { yaml_.EndList().EndMap(); }

  void Write(const Alert& alert) {
    yaml_.BeginMap().Plain("alert", alert.name).Query("expr", alert.expr);
    if (alert.lasts.count() > 0) yaml_.Plain("for", RangeText(alert.lasts));
    yaml_.Key("labels").BeginMap().Plain("severity", SeverityText(alert.severity));
    for (const auto& [name, value] : alert.labels) yaml_.Text(name, value);
    yaml_.EndMap().Key("annotations").BeginMap();
    yaml_.Text("summary", alert.summary).Text("description", alert.description);
    if (!options_.runbook_url.empty()) yaml_.Text("runbook_url", RunbookOf(alert.name));
    yaml_.EndMap().EndMap();
  }

  void Record(const std::string& name, const std::string& expr,
              const std::vector<std::pair<std::string, std::string>>& labels) {
    yaml_.BeginMap().Plain("record", name).Query("expr", expr).Key("labels").BeginMap();
    for (const auto& [label, value] : labels) yaml_.Text(label, value);
    yaml_.EndMap().EndMap();
  }

  YamlText& yaml() { return yaml_; }

 private:
  std::string RunbookOf(std::string_view alert) const {
    return options_.runbook_url + "#" + LowerCase(alert);
  }

  const RuleOptions& options_;
  YamlText yaml_;
};

std::string UpOf(const RuleOptions& options) {
  return fmt::format("up{{job={}}}", QuotedText(options.job));
}

/// What tidemark says of the receivers that it tells by itself.
Alert DeliveryFailing(const RuleOptions& options, Milliseconds lasts) {
  const std::string matcher =
      options.job.empty() ? "" : fmt::format("{{job={}}}", QuotedText(options.job));
  return {alerts::kDeliveryFailing,
          fmt::format("tidemark_exporter_up{} == 0", matcher),
          lasts,
          Severity::kWarning,
          "Nothing arrives at exporter {{ $labels.exporter }}",
          "What the receiver behind it shows is old, or it does not hear of incidents; the log and "
          "`tidemark doctor --config` say why."};
}

void WriteExporter(RuleWriter& out, const RuleOptions& options) {
  const Milliseconds lasts = std::max(kExporterMin, options.scrape_interval * kSamplesMin);
  out.BeginGroup("tidemark-exporter");
  if (options.job.empty()) {
    out.Write(DeliveryFailing(options, lasts));
    out.EndGroup();
    return;
  }
  out.Write({alerts::kExporterDown, UpOf(options) + " == 0", lasts, Severity::kCritical,
             "tidemark on {{ $labels.instance }} does not answer",
             "Nothing is known of the pipelines it watches until it answers again."});
  out.Write({alerts::kExporterAbsent, fmt::format("absent({})", UpOf(options)), lasts,
             Severity::kCritical, "Prometheus scrapes no tidemark",
             "No target of this job is known: nobody watches the pipelines."});
  out.Write(DeliveryFailing(options, lasts));
  out.EndGroup();
}

/// Alerts on the change feed (change-feed R52-R55, F15, F17, F23): tries are counted one by one,
/// and what hides behind them, silence and holes, is watched too.
void WriteFeed(RuleWriter& out, const RuleOptions& options) {
  if (options.feed_partitions == 0) return;
  const Milliseconds lasts = std::max(kExporterMin, options.scrape_interval * kSamplesMin);
  out.BeginGroup("tidemark-feed");
  out.Write(
      {alerts::kFeedUnowned,
       fmt::format("(sum({}) or vector(0)) < {}", names::kPartitionsHeld, options.feed_partitions),
       lasts, Severity::kCritical, "Nobody publishes a part of the change feed",
       fmt::format("{{{{ $value }}}} of {} partitions have a publisher: start one, or see why "
                   "it is in no group.",
                   options.feed_partitions)});
  out.Write({alerts::kFeedClosed, fmt::format("{} > 0", names::kPartitionsClosed), lasts,
             Severity::kCritical, "A publisher cannot take its partitions over",
             "{{ $value }} partitions of {{ $labels.instance }}: its log says what the cluster "
             "answers."});
  out.Write({alerts::kFeedBehind,
             fmt::format("{} > {} and on (table) {} > 0", names::kOldestUnpublished,
                         kUnpublishedMax / std::chrono::seconds(1), names::kUnpublishedInstants),
             options.scrape_interval * kLooksToTell, Severity::kCritical,
             "Commits of {{ $labels.table }} are not told",
             "The oldest has been waiting for {{ $value | humanizeDuration }}."});
  out.Write({alerts::kFeedParked, fmt::format("{} > 0", names::kTablesParked), lasts,
             Severity::kWarning, "Tables cannot be sent by {{ $labels.instance }}",
             "{{ $value }} tables are tried again and again: the log names them and says why."});
  out.Write({alerts::kFeedFailing, fmt::format("{} < 0.99", names::kSendSuccessRate), lasts,
             Severity::kWarning, "Sending the changes of {{ $labels.table }} often fails",
             "{{ $value | humanizePercentage }} of the tries of the last 10 minutes were "
             "confirmed."});
  out.Write(
      {alerts::kFeedSlow,
       fmt::format("{} > {}", names::kSendLatencyP99, kSendLatencyMax / std::chrono::seconds(1)),
       kUnknownMin, Severity::kWarning, "The changes of {{ $labels.table }} are told late",
       "One of a hundred commits is confirmed {{ $value | humanizeDuration }} after it "
       "completed."});
  out.Write(
      {alerts::kFeedBlind,
       fmt::format("{} > {}", names::kTimelineCheckAge, kCheckAgeMax / std::chrono::seconds(1)),
       options.scrape_interval * kLooksToTell, Severity::kCritical,
       "The timeline of {{ $labels.table }} cannot be read",
       "It was last read {{ $value | humanizeDuration }} ago, and whether it has commits that "
       "are not told is not known."});
  out.EndGroup();
}

/// The rules of pipelines with the same thresholds.
class ClassRules {
 public:
  ClassRules(RuleWriter& out, const RuleOptions& options, const Thresholds& thresholds,
             std::vector<std::string> pipelines)
      : out_(out),
        options_(options),
        thresholds_(thresholds),
        pipelines_(std::move(pipelines)),
        matcher_(PipelineMatcher(pipelines_)),
        identity_{{"thresholds", Identity(thresholds)}} {}

  void Write() {
    out_.BeginGroup("tidemark-" + Identity(thresholds_));
    WriteRecords();
    WriteHealth();
    WriteData();
    WriteBurn();
    out_.EndGroup();
  }

 private:
  std::string Of(std::string_view metric) const {
    return fmt::format("{}{{{}}}", metric, matcher_);
  }
  std::string WithStatus(std::string_view status) const {
    return fmt::format("{}{{{},status={}}}", names::kStatus, matcher_, QuotedText(status));
  }

  void Add(Alert alert) {
    alert.labels.insert(alert.labels.begin(), identity_.begin(), identity_.end());
    out_.Write(alert);
  }

  void WriteRecords() {
    for (const std::string& pipeline : pipelines_) {
      out_.Record(std::string(records::kExpected), "vector(1)",
                  {{"pipeline", pipeline}, identity_.front()});
    }
    out_.Record(std::string(records::kWithinSla), fmt::format("1 - {}", Of(names::kBreach)),
                identity_);
    std::set<Milliseconds> windows;
    for (const BurnWindow& burn : Burns()) {
      windows.insert(burn.short_window);
      windows.insert(burn.long_window);
    }
    for (const Milliseconds window : windows) {
      out_.Record(AverageOver(window),
                  fmt::format("avg_over_time({}[{}])", Of(names::kBreach), RangeText(window)),
                  identity_);
    }
  }

  /// Whether somebody looks at all.
  void WriteHealth() {
    std::string absent =
        fmt::format("{} unless on (pipeline) {}", Of(records::kExpected), Of(names::kStatus));
    // A dead exporter is one alert, not one for each of its pipelines.
    if (!options_.job.empty()) {
      absent = fmt::format("({}) unless on () (max({}) == 0 or absent({}))", absent, UpOf(options_),
                           UpOf(options_));
    }
    Add({alerts::kPipelineAbsent, absent, LastsUnknown(), Severity::kCritical,
         "Nobody reports pipeline {{ $labels.pipeline }}",
         "It is in the configuration, and no instance of tidemark says anything about it."});
    const Milliseconds frozen_after = thresholds_.step * kLooksMissing + kRoundMax;
    Add({alerts::kReportFrozen,
         fmt::format("time() - {} > {} and on (pipeline) {}{{{},status=~\"fresh|warning|breach\"}} "
                     "== 1",
                     Of(names::kLastSuccess), frozen_after / std::chrono::seconds(1),
                     names::kStatus, matcher_),
         Milliseconds(0), Severity::kCritical,
         "The report on pipeline {{ $labels.pipeline }} is not renewed",
         "What is shown was found {{ $value | humanizeDuration }} ago: the file or push it comes "
         "from stands still."});
    Add({alerts::kUnknown, WithStatus("unknown") + " == 1", LastsUnknown(), Severity::kWarning,
         "It is not known whether pipeline {{ $labels.pipeline }} is fresh",
         "The label reason of the metric of that name, and `tidemark doctor`, say why."});
    Add({alerts::kBlind,
         fmt::format("{} == 1 and on (pipeline) (time() - {} > {})", WithStatus("unknown"),
                     Of(names::kLastSuccess), Of(names::kSla)),
         Milliseconds(0), Severity::kCritical,
         "Pipeline {{ $labels.pipeline }} has been unknown for longer than its SLA",
         "It may be in breach by now, and nobody can tell."});
  }

  /// What is wrong with the data.
  void WriteData() {
    const Milliseconds lasts = thresholds_.step * kLooksToTell;
    Add({alerts::kRecordsLost, Of(names::kLostRecords) + " > 0", Milliseconds(0),
         Severity::kCritical,
         "Records of pipeline {{ $labels.pipeline }} expired before the table read them",
         "Up to {{ $value }} records are gone from Kafka: restore them from elsewhere and lengthen "
         "retention."});
    Add({alerts::kRetentionMargin,
         fmt::format("{} < {}", Of(names::kRetentionMargin),
                     thresholds_.retention_margin / std::chrono::seconds(1)),
         lasts, Severity::kCritical,
         "Records of pipeline {{ $labels.pipeline }} are about to be deleted unread",
         "The oldest waiting record may be deleted in {{ $value | humanizeDuration }}: make the "
         "writer run, or lengthen retention."});
    Add({alerts::kBreach, Of(names::kBreach) + " == 1", lasts, Severity::kCritical,
         "Pipeline {{ $labels.pipeline }} breaks its SLA",
         "Its oldest record not in the table waits longer than allowed, or records were lost."});
    Add({alerts::kWarning, WithStatus("warning") + " == 1", lasts, Severity::kWarning,
         fmt::format("Pipeline {{{{ $labels.pipeline }}}} has used {:.0f} % of its SLA",
                     freshness::kWarningRatio * 100),
         "It will be in breach when the table is not written soon."});
  }

  void WriteBurn() {
    for (const BurnWindow& burn : Burns()) {
      const std::string threshold =
          fmt::format("{}.{} * {}", burn.factor_tenths / 10, burn.factor_tenths % 10,
                      ShareText(kPpm - thresholds_.objective_ppm));
      const auto over = [&](Milliseconds window) {
        return fmt::format("{} > {}", Of(AverageOver(window)), threshold);
      };
      Add({alerts::kBudgetBurn,
           fmt::format("{} and {} and on (pipeline) {}", over(burn.long_window),
                       over(burn.short_window), WatchedThroughout(burn)),
           Milliseconds(0),
           burn.severity,
           "Pipeline {{ $labels.pipeline }} spends its error budget too fast",
           fmt::format(
               "{{{{ $value | humanizePercentage }}}} of the last {} were a breach; {} % of "
               "the time it must not be one.",
               RangeText(burn.long_window), PercentText(thresholds_.objective_ppm)),
           {{"window", RangeText(burn.long_window)}}});
    }
  }

  /// Whether the pipeline was reported at the beginning of the long window. Of one that is watched
  /// for ten minutes, one bad sample would be a tenth of any window.
  std::string WatchedThroughout(const BurnWindow& burn) const {
    return fmt::format("present_over_time({}[{}] offset {})", Of(names::kStatus),
                       RangeText(burn.short_window),
                       RangeText(burn.long_window - burn.short_window));
  }

  std::vector<BurnWindow> Burns() const {
    return BurnWindowsFor(thresholds_.step, thresholds_.objective_ppm);
  }
  static std::string AverageOver(Milliseconds window) {
    return std::string(records::kBreachAverage) + RangeText(window);
  }
  Milliseconds LastsUnknown() const {
    return std::max(kUnknownMin, thresholds_.step * kSamplesMin);
  }

  static constexpr int64_t kPpm = 1'000'000;

  RuleWriter& out_;
  const RuleOptions& options_;
  const Thresholds thresholds_;
  const std::vector<std::string> pipelines_;
  const std::string matcher_;
  const std::vector<std::pair<std::string, std::string>> identity_;
};

}  // namespace

std::string PrometheusRules(std::span<const WatchedPipeline> pipelines,
                            const RuleOptions& options) {
  std::map<Thresholds, std::vector<std::string>> classes;
  for (const WatchedPipeline& pipeline : pipelines) {
    classes[{StepOf(pipeline, options), pipeline.objective_ppm, pipeline.retention_margin}]
        .push_back(pipeline.name);
  }
  RuleWriter out(options);
  out.yaml().Comment(
      "Made by `tidemark rules --kind prometheus`: change the configuration, not this");
  out.yaml().BeginMap().Key("groups").BeginList();
  WriteExporter(out, options);
  WriteFeed(out, options);
  for (auto& [thresholds, names] : classes) {
    std::ranges::sort(names);
    ClassRules(out, options, thresholds, std::move(names)).Write();
  }
  out.yaml().EndList().EndMap();
  return out.yaml().Finish();
}

}  // namespace tidemark::rules
