/// `statsd:` Gauges over UDP, to StatsD or a DogStatsD agent.
#pragma once

#include <cstdint>
#include <string>

#include "push/exporter.h"
#include "push/statsd_lines.h"
#include "push/udp_sender.h"

namespace tidemark::push {

struct StatsdOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8125;
  StatsdFormat format;

  friend bool operator==(const StatsdOptions&, const StatsdOptions&) = default;
};

class StatsdExporter final : public Exporter {
 public:
  explicit StatsdExporter(const StatsdOptions& options)
      : format_(options.format), sender_(options.host, options.port) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;

 private:
  StatsdFormat format_;
  UdpSender sender_;
};

}  // namespace tidemark::push
