/// A dashboard for Grafana.
#pragma once

#include <string>

namespace tidemark::rules {

/// A dashboard (Grafana's JSON model, schema version 38, Grafana 10 and later) over all pipelines
/// in a Prometheus data source, chosen by cluster and name. `job` is the scrape job of
/// `tidemark serve`; empty when there is none, and then its own panels are left out.
std::string GrafanaDashboard(const std::string& job);

}  // namespace tidemark::rules
