/// Files that other programs collect: node_exporter's textfile, dbt's sources.json.
#pragma once

#include <string>

#include "push/exporter.h"

namespace tidemark::push {

/// `textfile:` Prometheus' text for node_exporter's textfile collector. Replaced as a whole; gone
/// when the daemon ends, so that no number outlives it.
class TextfileExporter final : public Exporter {
 public:
  explicit TextfileExporter(std::string path) : path_(std::move(path)) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;
  Status Retire(const Budget& budget) override;

 private:
  std::string path_;
};

/// `sources:` The reports as dbt's artifact (api/sources_json.h). Stays when the daemon ends: it
/// says when it was made.
class SourcesExporter final : public Exporter {
 public:
  explicit SourcesExporter(std::string path) : path_(std::move(path)) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;

 private:
  std::string path_;
};

}  // namespace tidemark::push
