/// The section `mirror:` of the configuration: which tables are followed, and where they are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/hidden_values.h"
#include "app/sink_config.h"
#include "feed/kafka_log.h"
#include "state/state_store.h"

namespace tidemark::app {

struct MirrorConfig {
  std::string cluster;  ///< of `clusters`; that of `feed` unless given
  feed::FeedTopics topics;
  /// Table ids, base paths or uids; '*' stands for any run of characters. Empty: all.
  std::vector<std::string> tables;
  /// Where the mirror is kept; nullopt: nowhere, and it is listed anew after each restart.
  std::optional<state::StateOptions> state;
  HiddenValues state_hidden{};  ///< those of `state` that came from `${env:}` and `${file:}`
  SinksConfig sinks{};
  /// Above this many tables there are no series of single ones.
  int64_t table_series_max = 1000;

  friend bool operator==(const MirrorConfig& a, const MirrorConfig& b) {
    return a.cluster == b.cluster && a.topics == b.topics && a.tables == b.tables &&
           a.state == b.state && a.sinks == b.sinks && a.table_series_max == b.table_series_max;
  }
};

}  // namespace tidemark::app
