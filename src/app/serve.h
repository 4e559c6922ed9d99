/// The daemon's life.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "app/config.h"
#include "app/freshness_run.h"
#include "app/watch.h"
#include "base/error.h"

namespace tidemark::app {

struct ServeOptions {
  std::string config_file;
  /// Where to answer, whatever the file says (--listen), as ParseListen takes it; empty: as it
  /// says.
  std::string listen;
  /// Whether somebody has asked for the configuration to be read again (SIGHUP) since the last
  /// call. May be null.
  std::function<bool()> wants_reload;
  /// Where it answers, once it does: "http://127.0.0.1:8080".
  std::function<void(const std::string& url)> on_ready;
  WatchOptions watch;
  std::stop_token stop;
};

/// Runs until `stop`. `config` is what the file said at first; it is read again when it, or a file
/// it includes, changes or somebody asks. A configuration with a mistake is refused with every
/// mistake in the log, and the old one stays; what it says on `http` and `state` needs a restart,
/// which is logged. Errors are those of the beginning: the address, the state, the tokens.
Status Serve(Config config, const ConfigSources& sources, const ServeOptions& options,
             const FreshnessEdges& edges);

}  // namespace tidemark::app
