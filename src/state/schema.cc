#include "state/schema.h"

#include <fmt/core.h>

#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark::state {

namespace {

// A step that was released is never changed: a later one corrects it. Times are milliseconds since
// 1970, UTC.
constexpr std::string_view kStep1[] = {
    "CREATE TABLE tidemark_pipeline (pipeline TEXT PRIMARY KEY, source_table TEXT NOT NULL, "
    "memory TEXT NOT NULL, last_success_ms BIGINT, last_report TEXT NOT NULL)",
    "CREATE TABLE tidemark_incident (pipeline TEXT NOT NULL, opened_ms BIGINT NOT NULL, "
    "status TEXT NOT NULL, reason TEXT NOT NULL, closed_ms BIGINT, "
    "PRIMARY KEY (pipeline, opened_ms))",
    "CREATE INDEX tidemark_incident_opened ON tidemark_incident (opened_ms)",
    "CREATE TABLE tidemark_sample (pipeline TEXT NOT NULL, at_ms BIGINT NOT NULL, "
    "status TEXT NOT NULL, lag_seconds DOUBLE PRECISION, sla_ratio DOUBLE PRECISION, "
    "PRIMARY KEY (pipeline, at_ms))",
    "CREATE INDEX tidemark_sample_at ON tidemark_sample (at_ms)",
    "CREATE TABLE tidemark_history (pipeline TEXT NOT NULL, at_ms BIGINT NOT NULL, "
    "samples BIGINT NOT NULL, unknown BIGINT NOT NULL, breaches BIGINT NOT NULL, "
    "lag_seconds_max DOUBLE PRECISION, sla_ratio_max DOUBLE PRECISION, "
    "PRIMARY KEY (pipeline, at_ms))",
    "CREATE INDEX tidemark_history_at ON tidemark_history (at_ms)",
};
constexpr std::span<const std::string_view> kSteps[] = {kStep1};

constexpr auto kStepsKnown = static_cast<int64_t>(std::size(kSteps));

Status CheckKnown(int64_t steps) {
  if (steps >= 0 && steps <= kStepsKnown) return {};
  return Fail(ErrorKind::kUnsupported,
              fmt::format("the state was written by a newer release schema_steps={} known={}",
                          steps, kStepsKnown));
}

Result<int64_t> StepsDone(SqlSession& session) {
  TRY_ASSIGN(const auto rows, session.Query("SELECT MAX(steps) FROM tidemark_schema", {}));
  if (rows.empty() || rows[0].empty()) return 0;
  const auto* steps = std::get_if<int64_t>(&rows[0][0]);
  return steps == nullptr ? 0 : *steps;
}

}  // namespace

Status CheckSteps(SqlSession& session) {
  TRY_ASSIGN(const int64_t done, StepsDone(session));
  return CheckKnown(done);
}

Status Migrate(SqlSession& session) {
  TRY_ASSIGN(auto transaction, Transaction::Begin(session));
  TRY(session.LockOut());
  TRY(session.Run("CREATE TABLE IF NOT EXISTS tidemark_schema (steps BIGINT PRIMARY KEY)"));
  TRY_ASSIGN(const int64_t done, StepsDone(session));
  TRY(CheckKnown(done));
  for (int64_t step = done; step < kStepsKnown; ++step) {
    for (const std::string_view sql : kSteps[step]) TRY(session.Run(sql));
    TRY(session.Query("INSERT INTO tidemark_schema (steps) VALUES ($1)", {step + 1}));
  }
  return std::move(transaction).Commit();
}

}  // namespace tidemark::state
