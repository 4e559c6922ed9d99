/// What sinks keep of a table, compared with the table.
#pragma once

#include <string>
#include <vector>

#include "api/reconcile_json.h"
#include "app/config.h"
#include "base/budget.h"
#include "base/error.h"
#include "sink/catalog_comparison.h"
#include "sink/make_sink.h"

namespace tidemark::app {

/// The sinks of `mirror.sinks` by their names, each once, in the order of `names`.
/// kInvalidArgument: there is none of a name (then with the nearest one), or it keeps nothing to
/// compare with.
Result<std::vector<SinkConfig>> SinksToCompare(const Config& config,
                                               const std::vector<std::string>& names);

/// Single-threaded. Asks each catalog for as long as its sink may take for one table, and for half
/// of the time that is left, at most: one that does not answer must not take the others' turn.
class SinkComparison {
 public:
  /// `sinks`: of SinksToCompare with this configuration.
  SinkComparison(const Config& config, const std::vector<SinkConfig>& sinks);

  bool is_empty() const { return sinks_.empty(); }

  /// One result for each sink. What could not be asked is unknown, and why.
  std::vector<api::ReconciledSink> Compare(const sink::TableTruth& truth, const Budget& budget);

  /// The results for a table of which nothing is known.
  std::vector<api::ReconciledSink> Unknown(const Error& why) const;

 private:
  struct Asked {
    SinkConfig config;
    sink::CatalogTarget target;
  };
  Result<std::vector<api::ReconciledCatalogTable>> Ask(Asked& sink, const sink::TableTruth& truth,
                                                       const Budget& budget);

  std::vector<std::string> mirror_tables_;
  HiddenValues hidden_;
  std::vector<Asked> sinks_;
};

}  // namespace tidemark::app
