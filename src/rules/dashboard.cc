#include "rules/dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "freshness/judge.h"
#include "metrics/names.h"
#include "rules/promql.h"

namespace tidemark::rules {

namespace {

namespace names = metrics::names;
using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 38;
constexpr int kColumns = 24;
constexpr int kHeight = 8;

const Json& DataSource() {
  static const Json source = {{"type", "prometheus"}, {"uid", "${datasource}"}};
  return source;
}

struct Query {
  std::string expr;
  std::string legend{};
};

struct Panel {
  std::string title;
  std::string type = "timeseries";
  std::string unit{};
  int width = kColumns / 2;
  std::vector<Query> queries;
  std::string description{};
  Json options = Json::object();
  Json field_defaults = Json::object();
};

/// `metric` of the pipelines that were chosen on the page.
std::string Chosen(std::string_view metric, std::string_view more = "") {
  return fmt::format(R"({}{{cluster=~"$cluster",pipeline=~"$pipeline"{}}})", metric, more);
}

Json Steps(const std::vector<std::pair<double, std::string>>& steps) {
  Json list = Json::array({{{"color", "green"}, {"value", nullptr}}});
  for (const auto& [value, colour] : steps) list.push_back({{"color", colour}, {"value", value}});
  return {{"mode", "absolute"}, {"steps", list}};
}

Json RatioSteps() {
  return Steps({{freshness::kWarningRatio, "yellow"}, {freshness::kBreachRatio, "red"}});
}

Json TableOptions() {
  return {{"showHeader", true},
          {"sortBy", Json::array({{{"displayName", "Value"}, {"desc", true}}})}};
}

std::vector<Panel> FleetPanels() {
  return {
      {.title = "Pipelines by status",
       .type = "stat",
       .width = 8,
       .queries = {{fmt::format("sum by (status) ({})", Chosen(names::kStatus)), "{{status}}"}},
       .description = "How many pipelines are in each status now."},
      {.title = "Share of the SLA that is used, worst first",
       .type = "table",
       .width = 16,
       .queries = {{fmt::format("sort_desc({})", Chosen(names::kSlaRatio))}},
       .description = "1 is the SLA. A pipeline whose lag is not known has no row.",
       .options = TableOptions(),
       .field_defaults = {{"thresholds", RatioSteps()}, {"decimals", 2}}},
      {.title = "Breach, lost records or unknown",
       .type = "table",
       .width = kColumns,
       .queries = {{fmt::format("{} == 1 or {} > 0 or {} == 1", Chosen(names::kBreach),
                                Chosen(names::kLostRecords),
                                Chosen(names::kStatus, R"(,status="unknown")"))}},
       .description = "What somebody has to look at."},
  };
}

std::vector<Panel> TimePanels() {
  return {
      {.title = "Lag, and the SLA",
       .unit = "s",
       .queries = {{Chosen(names::kLag), "{{pipeline}}"},
                   {Chosen(names::kSla), "SLA {{pipeline}}"}},
       .description = "Time in queue of the oldest record that is not in the table. A gap is a "
                      "time in which it was not known."},
      {.title = "Share of the SLA",
       .unit = "percentunit",
       .queries = {{Chosen(names::kSlaRatio), "{{pipeline}}"}},
       .field_defaults = {{"thresholds", RatioSteps()}}},
      {.title = "Partitions by verdict",
       .queries = {{fmt::format("sum by (verdict) ({})", Chosen(names::kPartitions)),
                    "{{verdict}}"}}},
      {.title = "Records not in the table",
       .unit = "short",
       .queries = {{Chosen(names::kUncommittedRecords), "{{pipeline}}"}}},
      {.title = "Records lost",
       .unit = "short",
       .queries = {{fmt::format("{} > 0", Chosen(names::kLostRecords)), "{{pipeline}}"}},
       .description = "Expired in Kafka before the table read them."},
      {.title = "Time until a waiting record may be deleted",
       .unit = "s",
       .queries = {{Chosen(names::kRetentionMargin), "{{pipeline}}"}}},
  };
}

std::vector<Panel> CommitPanels() {
  return {
      {.title = "Age of the commit with the checkpoint",
       .unit = "s",
       .queries = {{Chosen(names::kCommitAge), "{{pipeline}}"}}},
      {.title = "Age of the last commit that moved the offsets",
       .unit = "s",
       .queries = {{Chosen(names::kOffsetsAge), "{{pipeline}}"}}},
      {.title = "Commits without a usable checkpoint passed over",
       .unit = "short",
       .queries = {{Chosen(names::kCommitDepth), "{{pipeline}}"}}},
      {.title = "Stamps in the future",
       .unit = "s",
       .queries = {{Chosen(names::kClockSkew), "{{pipeline}}"}},
       .description = "How far a producer's clock is ahead, at most."},
  };
}

std::vector<Panel> WatcherPanels(const std::string& job) {
  const std::string of_job = fmt::format("{{job={}}}", QuotedText(job));
  const auto by_instance = [&](std::string_view metric) {
    return Query{fmt::format("{}{}", metric, of_job), "{{instance}}"};
  };
  return {
      {.title = "Instances that answer",
       .type = "stat",
       .width = 6,
       .queries = {{fmt::format("sum(up{})", of_job), "up"}}},
      {.title = "Versions",
       .type = "stat",
       .width = 6,
       .queries = {{fmt::format("count by (version) ({}{})", names::kBuildInfo, of_job),
                    "{{version}}"}}},
      {.title = "Since the last judgement without doubt",
       .unit = "s",
       .queries = {{fmt::format("time() - {}", Chosen(names::kLastSuccess)), "{{pipeline}}"}}},
      {.title = "Time the cluster took to answer",
       .unit = "s",
       .queries = {{fmt::format("max by (cluster) ({})", Chosen(names::kProbeDuration)),
                    "{{cluster}}"}}},
      {.title = "Memory", .unit = "bytes", .queries = {by_instance(names::kResidentMemory)}},
      {.title = "Open files", .unit = "short", .queries = {by_instance(names::kOpenFiles)}},
      {.title = "Running since",
       .unit = "s",
       .queries = {{fmt::format("time() - {}{}", names::kProcessStart, of_job), "{{instance}}"}}},
  };
}

/// Lays panels out from left to right, in rows, and numbers them.
class Page {
 public:
  void AddRow(const std::string& title, const std::vector<Panel>& panels) {
    StartLine();
    panels_.push_back({{"id", ++last_id_},
                       {"type", "row"},
                       {"title", title},
                       {"collapsed", false},
                       {"gridPos", GridPos(kColumns, 1)},
                       {"panels", Json::array()}});
    y_ += 1;
    for (const Panel& panel : panels) Add(panel);
  }

  Json TakePanels() && { return std::move(panels_); }

 private:
  void StartLine() {
    if (x_ == 0) return;
    x_ = 0;
    y_ += kHeight;
  }

  Json GridPos(int width, int height) const {
    return {{"h", height}, {"w", width}, {"x", x_}, {"y", y_}};
  }

  void Add(const Panel& panel) {
    if (x_ + panel.width > kColumns) StartLine();
    Json targets = Json::array();
    for (const Query& query : panel.queries) {
      const std::string letter(1, static_cast<char>('A' + static_cast<int>(targets.size())));
      const bool is_table = panel.type == "table";
      targets.push_back({{"refId", letter},
                         {"datasource", DataSource()},
                         {"expr", query.expr},
                         {"legendFormat", query.legend},
                         {"instant", is_table || panel.type == "stat"},
                         {"range", !is_table && panel.type != "stat"},
                         {"format", is_table ? "table" : "time_series"}});
    }
    Json defaults = panel.field_defaults;
    if (!panel.unit.empty()) defaults["unit"] = panel.unit;
    panels_.push_back({{"id", ++last_id_},
                       {"type", panel.type},
                       {"title", panel.title},
                       {"description", panel.description},
                       {"datasource", DataSource()},
                       {"gridPos", GridPos(panel.width, kHeight)},
                       {"fieldConfig", {{"defaults", defaults}, {"overrides", Json::array()}}},
                       {"options", panel.options},
                       {"targets", targets}});
    x_ += panel.width;
    if (x_ == kColumns) StartLine();
  }

  Json panels_ = Json::array();
  int last_id_ = 0;
  int x_ = 0;
  int y_ = 0;
};

/// A choice of values of a label, all at first.
Json Choice(std::string_view name, std::string_view label, const std::string& query) {
  return {{"name", name},
          {"label", label},
          {"type", "query"},
          {"datasource", DataSource()},
          {"query", {{"query", query}, {"refId", name}}},
          {"refresh", 2},
          {"sort", 1},
          {"multi", true},
          {"includeAll", true},
          {"allValue", ".*"},
          {"current", {{"text", "All"}, {"value", "$__all"}}}};
}

Json Choices() {
  return Json::array(
      {{{"name", "datasource"},
        {"label", "Data source"},
        {"type", "datasource"},
        {"query", "prometheus"}},
       Choice("cluster", "Cluster", fmt::format("label_values({}, cluster)", names::kStatus)),
       Choice(
           "pipeline", "Pipeline",
           fmt::format(R"(label_values({}{{cluster=~"$cluster"}}, pipeline))", names::kStatus))});
}

}  // namespace

std::string GrafanaDashboard(const std::string& job) {
  Page page;
  page.AddRow("Fleet", FleetPanels());
  page.AddRow("What waits", TimePanels());
  page.AddRow("Commits", CommitPanels());
  if (!job.empty()) page.AddRow("tidemark itself", WatcherPanels(job));
  const Json dashboard = {
      {"uid", "tidemark-freshness"},
      {"title", "Freshness of lake tables"},
      {"description",
       "Whether tables have what was sent to them, and how long the rest has waited."},
      {"tags", Json::array({"tidemark"})},
      {"schemaVersion", kSchemaVersion},
      {"editable", true},
      {"graphTooltip", 1},
      {"timezone", "browser"},
      {"refresh", "1m"},
      {"time", {{"from", "now-6h"}, {"to", "now"}}},
      {"templating", {{"list", Choices()}}},
      {"panels", std::move(page).TakePanels()}};
  // Labels may hold bytes that are no UTF-8: they become U+FFFD.
  return dashboard.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::rules
