#include "metrics/feed_points.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "metrics/names.h"

namespace tidemark::metrics {

namespace {

std::string SecondsText(Milliseconds duration) {
  return fmt::format("{:.3f}", SecondsOf(std::max(duration, Milliseconds(0))));
}

class Writer {
 public:
  explicit Writer(Points& points) : points_(points) {}

  void Add(std::string_view name, Labels labels, std::string value, std::string_view suffix = "") {
    points_.push_back(
        {&FamilyNamed(FamilyGroup::kFeed, name), std::move(labels), std::move(value), suffix});
  }

  /// One family of all tables.
  template <class ValueOf>
  void AddTables(const FeedReport& report, std::string_view name, const ValueOf& value_of) {
    for (const auto& table : report.tables) {
      const std::optional<std::string> value = value_of(table);
      if (value) Add(name, {{"table", table.table}}, *value);
    }
  }

 private:
  Points& points_;
};

void AddTableSeries(const FeedReport& report, Writer& out) {
  const auto seconds = [](const std::optional<Milliseconds>& value) {
    return value ? std::optional(SecondsText(*value)) : std::nullopt;
  };
  out.AddTables(report, names::kSendSuccessRate, [](const FeedTable& table) {
    return table.send_success_rate ? std::optional(fmt::format("{:.6f}", *table.send_success_rate))
                                   : std::nullopt;
  });
  out.AddTables(report, names::kSendLatencyP99,
                [&](const FeedTable& table) { return seconds(table.send_latency_p99); });
  out.AddTables(report, names::kUnpublishedInstants, [](const FeedTable& table) {
    return table.unpublished_instants
               ? std::optional(fmt::format("{}", *table.unpublished_instants))
               : std::nullopt;
  });
  out.AddTables(report, names::kOldestUnpublished,
                [&](const FeedTable& table) { return seconds(table.oldest_unpublished); });
  out.AddTables(report, names::kTimelineCheckAge,
                [&](const FeedTable& table) { return seconds(table.check_age); });
  out.AddTables(report, names::kTablePaused, [](const FeedTable& table) {
    return std::optional<std::string>(table.is_paused ? "1" : "0");
  });
}

}  // namespace

void SendWindow::Tried(bool is_good, MonoTime now) {
  tries_.push_back({now, is_good});
  if (tries_.size() > kSendSamplesMax) tries_.pop_front();
}

void SendWindow::Confirmed(Milliseconds latency, MonoTime now) {
  latencies_.push_back({now, latency});
  if (latencies_.size() > kSendSamplesMax) latencies_.pop_front();
}

std::optional<double> SendWindow::success_rate(MonoTime now) const {
  size_t all = 0, good = 0;
  for (const auto& each : tries_) {
    if (now - each.at > kSendWindow) continue;
    ++all;
    if (each.value) ++good;
  }
  if (all == 0) return std::nullopt;
  return static_cast<double>(good) / static_cast<double>(all);
}

std::optional<Milliseconds> SendWindow::latency_p99(MonoTime now) const {
  std::vector<Milliseconds> values;
  for (const auto& each : latencies_)
    if (now - each.at <= kSendWindow) values.push_back(each.value);
  if (values.empty()) return std::nullopt;
  // The smallest that at least 99 of 100 are not above.
  const size_t place = (values.size() * 99 + 99) / 100 - 1;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place));
  return values[place];
}

Points FeedPoints(const FeedReport& report, size_t table_series_max) {
  Points points;
  Writer out(points);
  const bool has_series = report.tables.size() <= table_series_max;
  if (has_series) AddTableSeries(report, out);
  AddHistogram(FamilyNamed(FamilyGroup::kFeed, names::kSendLatency), {}, report.latency,
               SecondsText(report.latency.sum), points);
  const auto add = [&](std::string_view name, uint64_t value) {
    out.Add(name, {}, fmt::format("{}", value));
  };
  add(names::kSendTries, report.send_tries);
  add(names::kSendFailures, report.send_failures);
  add(names::kGroups, report.groups);
  add(names::kLateInstants, report.late_instants);
  add(names::kSnapshots, report.snapshots);
  add(names::kFenced, report.fenced);
  add(names::kControlRefused, report.control_refused);
  add(names::kTables, report.tables.size());
  add(names::kTablesParked, static_cast<uint64_t>(std::ranges::count_if(
                                report.tables, [](const auto& each) { return each.is_parked; })));
  add(names::kTablesLeftOut, has_series ? 0 : report.tables.size());
  add(names::kPartitionsHeld, report.partitions_held);
  add(names::kPartitionsClosed, report.partitions_closed);
  return points;
}

}  // namespace tidemark::metrics
