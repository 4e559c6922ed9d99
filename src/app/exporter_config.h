/// The section `exporters:` of the configuration: who is told what, without asking.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/hidden_values.h"
#include "base/clock.h"
#include "push/emf.h"
#include "push/otlp.h"
#include "push/pushgateway.h"
#include "push/statsd.h"
#include "push/webhook.h"

namespace tidemark::app {

/// Which series there are beside those of pipelines.
struct SeriesChoice {
  bool with_partitions = false;
  bool with_compatibility = false;  ///< the names of kafka-lag-exporter

  friend bool operator==(const SeriesChoice&, const SeriesChoice&) = default;
};

struct TextfileOptions {
  std::string path;
  friend bool operator==(const TextfileOptions&, const TextfileOptions&) = default;
};

struct SourcesOptions {
  std::string path;
  friend bool operator==(const SourcesOptions&, const SourcesOptions&) = default;
};

using ReceiverOptions =
    std::variant<TextfileOptions, SourcesOptions, push::PushgatewayOptions, push::OtlpOptions,
                 push::StatsdOptions, push::EmfOptions, push::WebhookOptions>;

/// One that sends. `receiver` may hold secrets: never printed.
struct ExporterConfig {
  std::string name;  ///< unique; the kind when none is given
  ReceiverOptions receiver;
  Milliseconds interval = std::chrono::seconds(60);
  Milliseconds timeout = std::chrono::seconds(10);  ///< of one delivery
  SeriesChoice series;

  friend bool operator==(const ExporterConfig&, const ExporterConfig&) = default;
};

struct ExportersConfig {
  SeriesChoice endpoint;  ///< `prometheus:` what GET /metrics shows
  std::vector<ExporterConfig> senders;
  HiddenValues hidden;  ///< those of `senders` that came from `${env:}` and `${file:}`
};

}  // namespace tidemark::app
