#include "state/sql_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "state/memory_text.h"
#include "state/schema.h"

namespace tidemark::state {

namespace {

using freshness::PipelineStatus;

/// Reads the columns of a row one after the other; of another type than asked for, or missing, is
/// kCorrupt.
class RowReader {
 public:
  explicit RowReader(const SqlRow& row) : row_(row) {}

  Result<std::string> Text() { return Take<std::string>("text"); }
  Result<int64_t> Integer() { return Take<int64_t>("a whole number"); }
  Result<std::optional<int64_t>> IntegerOrNull() { return TakeOrNull<int64_t>("a whole number"); }
  Result<std::optional<double>> DoubleOrNull() {
    if (next_ < row_.size()) {
      if (const auto* whole = std::get_if<int64_t>(&row_[next_])) {
        ++next_;
        return static_cast<double>(*whole);
      }
    }
    return TakeOrNull<double>("a number");
  }

 private:
  template <class T>
  Result<T> Take(std::string_view what) {
    const T* value = next_ < row_.size() ? std::get_if<T>(&row_[next_]) : nullptr;
    if (value == nullptr)
      return Fail(ErrorKind::kCorrupt, fmt::format("not {} in the state column={}", what, next_));
    ++next_;
    return *value;
  }
  template <class T>
  Result<std::optional<T>> TakeOrNull(std::string_view what) {
    if (next_ < row_.size() && std::holds_alternative<std::monostate>(row_[next_])) {
      ++next_;
      return std::nullopt;
    }
    TRY_ASSIGN(T value, Take<T>(what));
    return value;
  }

  const SqlRow& row_;
  size_t next_ = 0;
};

template <class T>
SqlValue OrNull(const std::optional<T>& value) {
  return value ? SqlValue(*value) : SqlValue();
}
SqlValue MillisOrNull(const std::optional<WallTime>& time) {
  return time ? SqlValue(int64_t{MillisOf(*time)}) : SqlValue();
}
std::optional<WallTime> TimeOf(const std::optional<int64_t>& millis) {
  return millis ? std::optional(WallTimeFromMillis(*millis)) : std::nullopt;
}

Result<PipelineStatus> ParseStatus(std::string_view word) {
  for (const auto status :
       {PipelineStatus::kFresh, PipelineStatus::kWarning, PipelineStatus::kBreach,
        PipelineStatus::kUnknown, PipelineStatus::kDisabled}) {
    if (freshness::PipelineStatusName(status) == word) return status;
  }
  return Fail(ErrorKind::kCorrupt, fmt::format("not a status in the state value={}", word));
}

SqlValue Text(std::string_view text) {
  return std::string(text);
}
SqlValue Millis(WallTime time) {
  return int64_t{MillisOf(time)};
}

Result<PipelineState> PipelineOf(const SqlRow& row) {
  RowReader reader(row);
  PipelineState state;
  TRY_ASSIGN(state.pipeline, reader.Text());
  TRY_ASSIGN(state.table, reader.Text());
  TRY_ASSIGN(const std::string memory, reader.Text());
  TRY_ASSIGN(state.memory, ParseMemory(memory));
  TRY_ASSIGN(const auto last_success_ms, reader.IntegerOrNull());
  state.last_success = TimeOf(last_success_ms);
  TRY_ASSIGN(state.last_report, reader.Text());
  return state;
}

Result<Incident> IncidentOf(const SqlRow& row) {
  RowReader reader(row);
  Incident incident;
  TRY_ASSIGN(incident.pipeline, reader.Text());
  TRY_ASSIGN(const int64_t opened_ms, reader.Integer());
  incident.opened_at = WallTimeFromMillis(opened_ms);
  TRY_ASSIGN(const std::string status, reader.Text());
  TRY_ASSIGN(incident.status, ParseStatus(status));
  TRY_ASSIGN(incident.reason, reader.Text());
  TRY_ASSIGN(const auto closed_ms, reader.IntegerOrNull());
  incident.closed_at = TimeOf(closed_ms);
  return incident;
}

Result<HistoryPoint> PointOf(const SqlRow& row, Milliseconds width) {
  RowReader reader(row);
  HistoryPoint point;
  point.width = width;
  TRY_ASSIGN(const int64_t at_ms, reader.Integer());
  point.at = WallTimeFromMillis(at_ms);
  TRY_ASSIGN(point.samples, reader.Integer());
  TRY_ASSIGN(point.unknown, reader.Integer());
  TRY_ASSIGN(point.breaches, reader.Integer());
  TRY_ASSIGN(point.lag_seconds_max, reader.DoubleOrNull());
  TRY_ASSIGN(point.sla_ratio_max, reader.DoubleOrNull());
  return point;
}

constexpr std::string_view kIncidentColumns = "pipeline, opened_ms, status, reason, closed_ms";

// A step that was rolled up before gets late samples added.
constexpr std::string_view kRollUp =
    "INSERT INTO tidemark_history (pipeline, at_ms, samples, unknown, breaches, lag_seconds_max, "
    "sla_ratio_max) "
    "SELECT pipeline, at_ms - at_ms % $1, COUNT(*), "
    "CAST(SUM(CASE WHEN status = 'unknown' THEN 1 ELSE 0 END) AS BIGINT), "
    "CAST(SUM(CASE WHEN status = 'breach' THEN 1 ELSE 0 END) AS BIGINT), "
    "MAX(lag_seconds), MAX(sla_ratio) FROM tidemark_sample WHERE at_ms < $2 "
    "GROUP BY pipeline, at_ms - at_ms % $1 "
    "ON CONFLICT (pipeline, at_ms) DO UPDATE SET "
    "samples = tidemark_history.samples + excluded.samples, "
    "unknown = tidemark_history.unknown + excluded.unknown, "
    "breaches = tidemark_history.breaches + excluded.breaches, "
    "lag_seconds_max = CASE WHEN tidemark_history.lag_seconds_max IS NULL OR "
    "excluded.lag_seconds_max > tidemark_history.lag_seconds_max THEN excluded.lag_seconds_max "
    "ELSE tidemark_history.lag_seconds_max END, "
    "sla_ratio_max = CASE WHEN tidemark_history.sla_ratio_max IS NULL OR "
    "excluded.sla_ratio_max > tidemark_history.sla_ratio_max THEN excluded.sla_ratio_max "
    "ELSE tidemark_history.sla_ratio_max END";

class SqlStore final : public StateStore {
 public:
  explicit SqlStore(std::unique_ptr<SqlSession> session) : session_(std::move(session)) {}

  Result<Loaded> LoadPipelines() override {
    TRY_ASSIGN(const auto rows,
               session_->Query("SELECT pipeline, source_table, memory, last_success_ms, "
                               "last_report FROM tidemark_pipeline ORDER BY pipeline",
                               {}));
    Loaded loaded;
    for (const SqlRow& row : rows) {
      auto state = PipelineOf(row);
      if (state) {
        loaded.pipelines.push_back(*std::move(state));
        continue;
      }
      const auto* name = row.empty() ? nullptr : std::get_if<std::string>(&row[0]);
      loaded.findings.push_back(
          {"unreadable_state", name == nullptr ? "?" : *name, state.error().message});
    }
    // Databases order text by their own rules.
    std::ranges::sort(loaded.pipelines, {}, &PipelineState::pipeline);
    return loaded;
  }

  Status SavePipelines(std::span<const PipelineState> pipelines) override {
    std::vector<SqlRow> rows;
    for (const PipelineState& state : pipelines) {
      rows.push_back({Text(state.pipeline), Text(state.table), FormatMemory(state.memory),
                      MillisOrNull(state.last_success), Text(state.last_report)});
    }
    return Write(
        "INSERT INTO tidemark_pipeline (pipeline, source_table, memory, last_success_ms, "
        "last_report) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (pipeline) DO UPDATE SET "
        "source_table = excluded.source_table, memory = excluded.memory, "
        "last_success_ms = excluded.last_success_ms, last_report = excluded.last_report",
        rows);
  }

  Status KeepOnly(std::span<const std::string> pipelines) override {
    const std::set<std::string_view> kept(pipelines.begin(), pipelines.end());
    TRY_ASSIGN(const auto rows, session_->Query("SELECT pipeline FROM tidemark_pipeline", {}));
    std::vector<SqlRow> gone;
    for (const SqlRow& row : rows) {
      TRY_ASSIGN(const std::string name, RowReader(row).Text());
      if (!kept.contains(name)) gone.push_back({name});
    }
    if (gone.empty()) return {};
    TRY_ASSIGN(auto transaction, Transaction::Begin(*session_));
    for (const std::string_view table :
         {"tidemark_pipeline", "tidemark_incident", "tidemark_sample", "tidemark_history"})
      TRY(session_->RunForEach(fmt::format("DELETE FROM {} WHERE pipeline = $1", table), gone));
    return std::move(transaction).Commit();
  }

  Status SaveIncidents(std::span<const Incident> incidents) override {
    std::vector<SqlRow> rows;
    for (const Incident& incident : incidents) {
      rows.push_back({Text(incident.pipeline), Millis(incident.opened_at),
                      Text(freshness::PipelineStatusName(incident.status)), Text(incident.reason),
                      MillisOrNull(incident.closed_at)});
    }
    return Write(
        "INSERT INTO tidemark_incident (pipeline, opened_ms, status, reason, closed_ms) VALUES "
        "($1, $2, $3, $4, $5) ON CONFLICT (pipeline, opened_ms) DO UPDATE SET "
        "status = excluded.status, reason = excluded.reason, closed_ms = excluded.closed_ms",
        rows);
  }

  Result<std::vector<Incident>> ReadIncidents(std::string_view pipeline, size_t limit) override {
    const auto bound = static_cast<int64_t>(std::min(limit, kIncidentsMax));
    const std::string select = fmt::format("SELECT {} FROM tidemark_incident ", kIncidentColumns);
    constexpr std::string_view kNewestFirst = "ORDER BY opened_ms DESC, pipeline LIMIT ";
    if (pipeline.empty()) return Incidents(fmt::format("{}{}$1", select, kNewestFirst), {bound});
    return Incidents(fmt::format("{}WHERE pipeline = $1 {}$2", select, kNewestFirst),
                     {Text(pipeline), bound});
  }

  Result<std::vector<Incident>> ReadOpenIncidents() override {
    return Incidents(fmt::format("SELECT {} FROM tidemark_incident WHERE closed_ms IS NULL "
                                 "ORDER BY opened_ms DESC, pipeline",
                                 kIncidentColumns),
                     {});
  }

  Status AddSamples(std::span<const Sample> samples) override {
    std::vector<SqlRow> rows;
    for (const Sample& sample : samples) {
      rows.push_back({Text(sample.pipeline), Millis(sample.at),
                      Text(freshness::PipelineStatusName(sample.status)),
                      OrNull(sample.lag_seconds), OrNull(sample.sla_ratio)});
    }
    return Write(
        "INSERT INTO tidemark_sample (pipeline, at_ms, status, lag_seconds, sla_ratio) VALUES "
        "($1, $2, $3, $4, $5) ON CONFLICT (pipeline, at_ms) DO UPDATE SET "
        "status = excluded.status, lag_seconds = excluded.lag_seconds, "
        "sla_ratio = excluded.sla_ratio",
        rows);
  }

  void LimitTo(const Budget& budget) override { session_->LimitTo(budget); }

  Result<std::vector<HistoryPoint>> ReadHistory(std::string_view pipeline, WallTime from,
                                                WallTime to) override {
    const SqlRow parameters{Text(pipeline), Millis(from), Millis(to),
                            static_cast<int64_t>(kHistoryPointsMax)};
    constexpr std::string_view kRange =
        "WHERE pipeline = $1 AND at_ms >= $2 AND at_ms < $3 ORDER BY at_ms DESC LIMIT $4";
    TRY_ASSIGN(auto points,
               Points(fmt::format("SELECT at_ms, samples, unknown, breaches, lag_seconds_max, "
                                  "sla_ratio_max FROM tidemark_history {}",
                                  kRange),
                      parameters, kHistoryStep));
    TRY_ASSIGN(auto raw,
               Points(fmt::format("SELECT at_ms, CAST(1 AS BIGINT), "
                                  "CAST(CASE WHEN status = 'unknown' THEN 1 ELSE 0 END AS BIGINT), "
                                  "CAST(CASE WHEN status = 'breach' THEN 1 ELSE 0 END AS BIGINT), "
                                  "lag_seconds, sla_ratio FROM tidemark_sample {}",
                                  kRange),
                      parameters, Milliseconds(0)));
    std::ranges::move(raw, std::back_inserter(points));
    std::ranges::stable_sort(points, {}, &HistoryPoint::at);
    if (points.size() > kHistoryPointsMax)
      points.erase(points.begin(), points.end() - kHistoryPointsMax);
    return points;
  }

  Status RollUp(WallTime now, const Retention& retention) override {
    const int64_t step = kHistoryStep.count();
    const int64_t raw_end = MillisOf(now - retention.raw);
    const int64_t step_end = raw_end - raw_end % step;
    const int64_t oldest = MillisOf(now - retention.rolled_up);
    TRY_ASSIGN(auto transaction, Transaction::Begin(*session_));
    TRY(session_->Query(kRollUp, {step, step_end}));
    TRY(session_->Query("DELETE FROM tidemark_sample WHERE at_ms < $1", {step_end}));
    TRY(session_->Query("DELETE FROM tidemark_history WHERE at_ms < $1", {oldest}));
    TRY(session_->Query("DELETE FROM tidemark_incident WHERE closed_ms < $1", {oldest}));
    return std::move(transaction).Commit();
  }

 private:
  Status Write(std::string_view sql, const std::vector<SqlRow>& rows) {
    if (rows.empty()) return {};
    TRY_ASSIGN(auto transaction, Transaction::Begin(*session_));
    TRY(session_->RunForEach(sql, rows));
    return std::move(transaction).Commit();
  }

  Result<std::vector<Incident>> Incidents(std::string_view sql, const SqlRow& parameters) {
    TRY_ASSIGN(const auto rows, session_->Query(sql, parameters));
    std::vector<Incident> incidents;
    for (const SqlRow& row : rows) {
      TRY_ASSIGN(Incident incident, IncidentOf(row));
      incidents.push_back(std::move(incident));
    }
    return incidents;
  }

  Result<std::vector<HistoryPoint>> Points(std::string_view sql, const SqlRow& parameters,
                                           Milliseconds width) {
    TRY_ASSIGN(const auto rows, session_->Query(sql, parameters));
    std::vector<HistoryPoint> points;
    for (const SqlRow& row : rows) {
      TRY_ASSIGN(HistoryPoint point, PointOf(row, width));
      points.push_back(point);
    }
    return points;
  }

  std::unique_ptr<SqlSession> session_;
};

}  // namespace

Result<std::unique_ptr<StateStore>> OpenSqlStore(std::unique_ptr<SqlSession> session) {
  TRY(Migrate(*session));
  return std::make_unique<SqlStore>(std::move(session));
}

}  // namespace tidemark::state
