/// Brings a table into a catalog: the one order of steps for the Hive Metastore and AWS Glue.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sink/catalog.h"
#include "sink/catalog_table.h"
#include "sink/sink.h"

namespace tidemark::sink {

/// When a table in the catalog gets its stamp.
enum class Stamping {
  kEachUpdate,
  /// Only with a change of the table itself, or a new epoch: where each alteration costs one of a
  /// hundred thousand versions (Glue, hudi#8744). How far a target is then is what our own store
  /// remembers.
  kWithChanges,
};

/// What a table that is gone means to the catalog.
enum class WhenDropped { kKeep, kDrop };

/// What is done when the catalog refuses to alter a table that bears our stamp: the metastore does
/// for a column dropped in the middle, for it compares types by position.
enum class WhenRefused {
  kQuarantine,
  /// Dropped and made anew, all partitions with it; its data is external and stays. Nobody can read
  /// it by this name meanwhile.
  kRecreate,
};

struct CatalogSinkOptions {
  CatalogNaming naming{};
  Stamping stamping = Stamping::kEachUpdate;
  WhenDropped when_dropped = WhenDropped::kKeep;
  WhenRefused when_refused = WhenRefused::kQuarantine;

  friend bool operator==(const CatalogSinkOptions&, const CatalogSinkOptions&) = default;
};

enum class SyncStep { kStale, kNothing, kDelta, kFull };

/// What there is to do for one table of a catalog. `there`: the stamp it bears; `applied`: how far
/// our store says it is; `from`: where the delta begins.
SyncStep StepFor(const std::optional<SinkStamp>& there, const std::optional<SinkStamp>& applied,
                 const SinkStamp& now, const std::optional<SinkStamp>& from, Stamping stamping);

/// Single-threaded.
class CatalogSink final : public Sink {
 public:
  CatalogSink(std::unique_ptr<Catalog> catalog, CatalogSinkOptions options)
      : catalog_(std::move(catalog)), options_(std::move(options)) {}

  SinkOutcome Apply(const SinkUpdate& update, const Budget& budget) override;
  Status Check(const Budget& budget) override { return catalog_->Check(budget); }

 private:
  Result<SinkOutcome> ApplyOne(const CatalogTable& wanted, const SinkUpdate& update,
                               const Budget& budget);
  Result<SinkOutcome> Change(const CatalogTable& there, const CatalogTable& wanted, SyncStep step,
                             bool is_new, const SinkUpdate& update, const Budget& budget);
  Result<CatalogTable> Create(CatalogTable wanted, const Budget& budget);
  Status Fill(const CatalogTable& table, SyncStep step, const SinkUpdate& update,
              SinkOutcome& outcome, const Budget& budget);
  Status FillFully(const CatalogTable& table, const SinkUpdate& update, SinkOutcome& outcome,
                   const Budget& budget);
  SinkOutcome DropTables(const SinkUpdate& update, const Budget& budget);

  std::unique_ptr<Catalog> catalog_;
  CatalogSinkOptions options_;
};

}  // namespace tidemark::sink
