#include "sink/make_sink.h"

#include "sink/glue_catalog.h"

namespace tidemark::sink {

namespace {

template <class Target>
concept CatalogSinkTarget = requires(const Target& target) { target.catalog.naming; };

std::unique_ptr<Catalog> CatalogOf(const HiveSinkOptions& options) {
  return std::make_unique<HiveCatalog>(options.hive);
}
std::unique_ptr<Catalog> CatalogOf(const GlueSinkOptions& options) {
  return std::make_unique<GlueCatalog>(options.glue);
}

struct Maker {
  template <CatalogSinkTarget Target>
  std::unique_ptr<Sink> operator()(const Target& options) const {
    return std::make_unique<CatalogSink>(CatalogOf(options), options.catalog);
  }
  std::unique_ptr<Sink> operator()(const TrinoSinkOptions& options) const {
    return std::make_unique<RefreshSink>(std::make_unique<TrinoSession>(options.trino),
                                         options.refresh);
  }
  std::unique_ptr<Sink> operator()(const MysqlSinkOptions& options) const {
    return std::make_unique<RefreshSink>(std::make_unique<MysqlSession>(options.mysql),
                                         options.refresh);
  }
  std::unique_ptr<Sink> operator()(const EventSinkOptions& options) const {
    return std::make_unique<EventSink>(options);
  }
  std::unique_ptr<Sink> operator()(const LineageOptions& options) const {
    return std::make_unique<LineageSink>(options);
  }
};

}  // namespace

std::unique_ptr<Sink> MakeSink(const SinkTarget& target) {
  return std::visit(Maker{}, target);
}

std::optional<CatalogTarget> MakeCatalog(const SinkTarget& target) {
  return std::visit(
      []<class Target>(const Target& options) -> std::optional<CatalogTarget> {
        if constexpr (CatalogSinkTarget<Target>)
          return CatalogTarget{CatalogOf(options), options.catalog};
        else
          return std::nullopt;
      },
      target);
}

bool KeepsTables(const SinkTarget& target) {
  return std::visit([]<class Target>(const Target&) { return CatalogSinkTarget<Target>; }, target);
}

bool WantsEvents(const SinkTarget& target) {
  return std::holds_alternative<EventSinkOptions>(target);
}

}  // namespace tidemark::sink
