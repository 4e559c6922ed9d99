#include "sink/refresh_sink.h"

#include <fmt/format.h>

#include "sink/sql_text.h"

namespace tidemark::sink {

std::string RefreshStatement(const RefreshOptions& options, const CatalogName& name) {
  const auto mysql_table = [&] {
    return fmt::format("{}.{}.{}", MysqlName(options.catalog), MysqlName(name.database),
                       MysqlName(name.table));
  };
  switch (options.dialect) {
    case RefreshDialect::kTrino:
      return fmt::format("CALL {}.system.flush_metadata_cache(schema_name => {}, table_name => {})",
                         SqlName(options.catalog), SqlText(name.database), SqlText(name.table));
    case RefreshDialect::kPresto:
      return fmt::format("CALL {}.system.invalidate_metastore_cache({}, {})",
                         SqlName(options.catalog), SqlText(name.database), SqlText(name.table));
    case RefreshDialect::kStarRocks: return fmt::format("REFRESH EXTERNAL TABLE {}", mysql_table());
    case RefreshDialect::kDoris: return fmt::format("REFRESH TABLE {}", mysql_table());
  }
  return {};
}

SinkOutcome RefreshSink::Apply(const SinkUpdate& update, const Budget& budget) {
  if (update.applied && *update.applied >= update.stamp) return {};
  // A clean, a savepoint: nothing that a cache holds is another.
  if (update.delta != nullptr && update.delta->is_empty()) return {};
  const auto names = CatalogNames(update.now, options_.naming);
  if (!names) return OutcomeOf(names.error());
  SinkOutcome outcome{.was_full = update.delta == nullptr};
  for (const auto& name : *names) {
    auto status = runner_->Run(RefreshStatement(options_, name), budget);
    if (status) continue;
    Error error = std::move(status).error().With(
        fmt::format("table={}.{}.{}", options_.catalog, name.database, name.table));
    // One that is gone has nothing to forget.
    if (error.kind == ErrorKind::kNotFound && update.now.is_dropped) continue;
    if (error.kind == ErrorKind::kNotFound) error.kind = ErrorKind::kUnavailable;
    outcome = OutcomeOf(error);
    if (outcome.kind == OutcomeKind::kPermanent)
      outcome.cure =
          "check the catalog's name and that the engine has this statement, then resume "
          "the sink";
    return outcome;
  }
  return outcome;
}

}  // namespace tidemark::sink
