#include "sink/make_sink.h"

#include "sink/glue_catalog.h"

namespace tidemark::sink {

namespace {

struct Maker {
  std::unique_ptr<Sink> operator()(const HiveSinkOptions& options) const {
    return std::make_unique<CatalogSink>(std::make_unique<HiveCatalog>(options.hive),
                                         options.catalog);
  }
  std::unique_ptr<Sink> operator()(const GlueSinkOptions& options) const {
    return std::make_unique<CatalogSink>(std::make_unique<GlueCatalog>(options.glue),
                                         options.catalog);
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

bool WantsEvents(const SinkTarget& target) {
  return std::holds_alternative<EventSinkOptions>(target);
}

}  // namespace tidemark::sink
