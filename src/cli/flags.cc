#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <thread>

#include "app/pipelines.h"
#include "cli/command.h"

namespace tidemark::cli {

namespace {

constexpr int kThreadsMax = 64;

}  // namespace

void AddStoreFlags(CLI::App& command, storage::StoreOptions& options) {
  command.add_option("--endpoint", options.endpoint,
                     "Where the store answers, such as http://127.0.0.1:9000 (S3, Google, Azure)");
  command.add_option("--region", options.region, "S3 region (default: the usual AWS chain)");
  command.add_flag("--anonymous", options.is_anonymous, "Send the store no credentials");
}

std::vector<CLI::Option*> AddKafkaFlags(CLI::App& command, app::SinglePipeline& single) {
  return {
      command
          .add_option("--kafka-client", single.kafka_client,
                      "Who asks Kafka: wire (our own), librdkafka, or auto (wire where it can)")
          ->check(CLI::IsMember({"auto", "wire", "librdkafka"}))
          ->capture_default_str(),
      command
          .add_option("--record-access", single.record_access,
                      "fetch reads a record a partition, describe estimates ages without the READ "
                      "right, auto does so where it is refused")
          ->check(CLI::IsMember({"auto", "fetch", "describe"}))
          ->capture_default_str(),
  };
}

void AddTableFlags(CLI::App& command, TableFlags& flags) {
  command.add_option("table", flags.table, "Path or URI of the table")->required();
  command.add_option("--format", flags.format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command.add_option("--timeout", flags.timeout, "Longest to wait for the store")
      ->capture_default_str();
  AddStoreFlags(command, flags.store);
}

RowsFlags::RowsFlags() : threads(std::clamp(std::thread::hardware_concurrency(), 1u, 8u)) {}

void AddRowsFlags(CLI::App& command, RowsFlags& flags, const std::string& threads_text) {
  command
      .add_option_function<std::string>(
          "--engine",
          [&flags](const std::string& name) {
            flags.engine = name == "spark" ? merge::Engine::kSpark : merge::Engine::kFlink;
          },
          "Whose reader of a release; they differ in changelog tables")
      ->check(CLI::IsMember({"flink", "spark"}))
      ->default_str("flink");
  command.add_option("--memory-limit", flags.memory, "What reading may hold at a time")
      ->capture_default_str();
  command.add_option("--threads", flags.threads, threads_text)
      ->check(CLI::Range(1, kThreadsMax))
      ->capture_default_str();
  command.add_option("--timeout", flags.timeout, "Give up after this time")->capture_default_str();
  command.add_flag_function(
      "--progress,!--no-progress", [&flags](int64_t count) { flags.progress = count > 0; },
      "Tell on stderr how much is done (default: on a terminal)");
  AddStoreFlags(command, flags.store);
}

void AddServingFlags(CLI::App& command, ServingFlags& flags) {
  command.add_option("-c,--config", flags.config_file, "Configuration file (YAML)")->required();
  command
      .add_option("--listen", flags.listen,
                  "ADDRESS:PORT instead of the configuration's; port 0: any free one")
      ->check(RefuseEmpty);
  command.add_flag("-q,--quiet", flags.is_quiet, "Log warnings and errors only");
}

std::string RefuseEmpty(const std::string& value) {
  return value.empty() ? "the value is empty" : "";
}

Result<Milliseconds> TimeoutOf(const std::string& text) {
  auto timeout = ParseDuration(text);
  if (!timeout) return std::unexpected(std::move(timeout).error().With("--timeout"));
  if (timeout->count() <= 0) {
    return Fail(ErrorKind::kInvalidArgument, "--timeout: must be longer than zero");
  }
  return timeout;
}

void WarnIfAllDisabled(const std::vector<app::PipelineConfig>& pipelines) {
  if (!app::AreAllDisabled(pipelines)) return;
  Warn(pipelines.size() == 1
           ? fmt::format("nothing was looked at: pipeline '{}' is switched off",
                         pipelines[0].spec.name)
           : fmt::format("nothing was looked at: all {} pipelines are switched off",
                         pipelines.size()));
}

Result<uint64_t> BytesOf(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  int shift = 0;
  if (unit == "KiB" || unit == "k" || unit == "K") {
    shift = 10;
  } else if (unit == "MiB" || unit == "m" || unit == "M") {
    shift = 20;
  } else if (unit == "GiB" || unit == "g" || unit == "G") {
    shift = 30;
  } else if (!unit.empty()) {
    shift = -1;
  }
  if (parsed.ec != std::errc() || shift < 0 || number == 0 || number > (UINT64_MAX >> shift)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("--memory-limit is a size like 512MiB or 2GiB, value={}", text));
  }
  return number << shift;
}

}  // namespace tidemark::cli
