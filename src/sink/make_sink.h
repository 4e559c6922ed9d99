/// The sinks by what the configuration says of them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "sink/catalog_sink.h"
#include "sink/event_sink.h"
#include "sink/glue_client.h"
#include "sink/hive_catalog.h"
#include "sink/lineage_sink.h"
#include "sink/mysql_session.h"
#include "sink/refresh_sink.h"
#include "sink/sink.h"
#include "sink/trino_session.h"

namespace tidemark::sink {

struct HiveSinkOptions {
  HiveOptions hive{};
  CatalogSinkOptions catalog{};

  friend bool operator==(const HiveSinkOptions&, const HiveSinkOptions&) = default;
};
struct GlueSinkOptions {
  GlueOptions glue{};
  CatalogSinkOptions catalog{.stamping = Stamping::kWithChanges};

  friend bool operator==(const GlueSinkOptions&, const GlueSinkOptions&) = default;
};
struct TrinoSinkOptions {
  TrinoOptions trino{};
  RefreshOptions refresh{};

  friend bool operator==(const TrinoSinkOptions&, const TrinoSinkOptions&) = default;
};
struct MysqlSinkOptions {
  MysqlOptions mysql{};
  RefreshOptions refresh{};

  friend bool operator==(const MysqlSinkOptions&, const MysqlSinkOptions&) = default;
};

using SinkTarget = std::variant<HiveSinkOptions, GlueSinkOptions, TrinoSinkOptions,
                                MysqlSinkOptions, EventSinkOptions, LineageOptions>;

/// Asks nothing of the target.
std::unique_ptr<Sink> MakeSink(const SinkTarget& target);

/// A sink that keeps tables, and how it shows ours.
struct CatalogTarget {
  std::unique_ptr<Catalog> catalog;
  CatalogSinkOptions options{};
};

/// nullopt where the target keeps nothing that could be read back. Asks nothing of it.
std::optional<CatalogTarget> MakeCatalog(const SinkTarget& target);
/// Whether MakeCatalog makes one.
bool KeepsTables(const SinkTarget& target);

/// Whether the sink tells events, and so wants those of each group.
bool WantsEvents(const SinkTarget& target);

}  // namespace tidemark::sink
