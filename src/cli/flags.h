/// Flags that several commands have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/time_text.h"
#include "merge/profile.h"
#include "storage/object_store.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace tidemark::app {
struct Config;
struct PipelineConfig;
struct SinglePipeline;
}  // namespace tidemark::app

namespace tidemark::cli {

/// --endpoint, --region, --anonymous: how to reach the table's store.
void AddStoreFlags(CLI::App& command, storage::StoreOptions& options);

/// --kafka-client and --record-access: how the cluster that the command line names is asked.
std::vector<CLI::Option*> AddKafkaFlags(CLI::App& command, app::SinglePipeline& single);

/// What every command on one table takes: TABLE, --format table|json, --timeout and the store
/// flags.
struct TableFlags {
  std::string table;
  storage::StoreOptions store;
  std::string format = "table";
  std::string timeout = "30s";
};
void AddTableFlags(CLI::App& command, TableFlags& flags);

/// What commands that read all rows of a table take: --memory-limit, --threads, --timeout,
/// --progress and the store flags.
struct RowsFlags {
  RowsFlags();  // as many threads as there are cores, up to 8

  merge::Engine engine = merge::Engine::kFlink;
  std::string memory = "1GiB";
  unsigned threads;
  std::string timeout = "24h";
  std::optional<bool> progress;
  storage::StoreOptions store;
};
/// `threads_text` says what --threads counts.
void AddRowsFlags(CLI::App& command, RowsFlags& flags, const std::string& threads_text);

/// What commands that answer over HTTP until they are stopped take: --config, --listen, --quiet.
struct ServingFlags {
  std::string config_file;
  std::string listen;
  bool is_quiet = false;
};
void AddServingFlags(CLI::App& command, ServingFlags& flags);

/// A check for flags whose value may not be empty: from a script an empty one is a variable that
/// was not set, and must not read as if the flag were missing.
std::string RefuseEmpty(const std::string& value);

/// The parsed --timeout; kInvalidArgument names the flag.
Result<Milliseconds> TimeoutOf(const std::string& text);

/// A --memory-limit: "512MiB", "1g", "800000"; kInvalidArgument names the flag.
Result<uint64_t> BytesOf(const std::string& text);

/// Says so on stderr when a run over these pipelines looks at nothing: exit code 0 alone would pass
/// for health.
void WarnIfAllDisabled(const std::vector<app::PipelineConfig>& pipelines);

}  // namespace tidemark::cli
