/// `openlineage:` Tables as datasets of OpenLineage: their columns, their version, what became of
/// them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "push/http_receiver.h"
#include "sink/sink.h"

namespace tidemark::sink {

struct LineageOptions {
  std::string url{};            ///< events go to URL/api/v1/lineage
  push::HttpHeaders headers{};  ///< may be secret
  std::string producer{};       ///< a URI that names this program and its version

  friend bool operator==(const LineageOptions&, const LineageOptions&) = default;
};

struct DatasetName {
  std::string space{};  ///< "s3://lake", "file"
  std::string name{};   ///< "warehouse/orders", "/data/orders"

  friend bool operator==(const DatasetName&, const DatasetName&) = default;
};
/// As OpenLineage names datasets in object stores and file systems.
DatasetName DatasetNameOf(std::string_view base_path);

/// A DatasetEvent (OpenLineage 2-0-2) with the facets schema, version (epoch/seq) and, where it is
/// known, lifecycleStateChange.
std::string LineageEvent(const SinkUpdate& update, std::string_view producer, WallTime now);

class LineageSink final : public Sink {
 public:
  explicit LineageSink(LineageOptions options)
      : options_(std::move(options)), receiver_(options_.headers) {}

  SinkOutcome Apply(const SinkUpdate& update, const Budget& budget) override;
  /// The URL alone: there is no event that says nothing.
  Status Check(const Budget& budget) override;

 private:
  LineageOptions options_;
  push::HttpReceiver receiver_;
};

}  // namespace tidemark::sink
