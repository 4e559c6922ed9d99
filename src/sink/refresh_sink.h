/// Tells an engine that caches what catalogs and folders say to forget it, table by table.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sink/catalog_table.h"
#include "sink/sink.h"
#include "sink/statement.h"

namespace tidemark::sink {

enum class RefreshDialect { kTrino, kPresto, kStarRocks, kDoris };

struct RefreshOptions {
  RefreshDialect dialect = RefreshDialect::kTrino;
  std::string catalog{};  ///< the engine's name of the catalog that shows the tables
  CatalogNaming naming{};

  friend bool operator==(const RefreshOptions&, const RefreshOptions&) = default;
};

/// "CALL "lake".system.flush_metadata_cache(schema_name => 'db', table_name => 'orders')", or what
/// else the engine calls it. The whole table, never a partition: Trino keeps "absent" of a
/// partition over such a flush (trino#24746).
std::string RefreshStatement(const RefreshOptions& options, const CatalogName& name);

/// Bears no stamp: what a cache forgets, it reads anew from the table itself. A table that the
/// engine does not know yet is waited for.
class RefreshSink final : public Sink {
 public:
  RefreshSink(std::unique_ptr<StatementRunner> runner, RefreshOptions options)
      : runner_(std::move(runner)), options_(std::move(options)) {}

  SinkOutcome Apply(const SinkUpdate& update, const Budget& budget) override;
  Status Check(const Budget& budget) override { return runner_->Run("SELECT 1", budget); }

 private:
  std::unique_ptr<StatementRunner> runner_;
  RefreshOptions options_;
};

}  // namespace tidemark::sink
