// How fast the records of log files are folded when they lose: key and ordering value are found in
// the encoded record, the key is looked up, its winner stays. One thread, CPU time.
//   log_scan_bench --table FOLDER [--rounds N] FILE...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "columnar/batch_reader.h"
#include "lake/hudi/log_file.h"
#include "lake/hudi/table.h"
#include "merge/fold.h"
#include "merge/profile.h"
#include "scan/key_table.h"
#include "scan/log_versions.h"
#include "storage/local_store.h"

namespace {

using tidemark::Budget;
using tidemark::ErrorKind;
using tidemark::Fail;
using tidemark::Result;
using tidemark::Status;
using tidemark::lake::avro::Schema;
namespace columnar = tidemark::columnar;
namespace hudi = tidemark::lake::hudi;
namespace merge = tidemark::merge;
namespace scan = tidemark::scan;

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Logs {
  std::vector<std::string> paths;
  std::vector<std::string> bytes;
  std::vector<scan::PlacedBlock> blocks;  // of Avro records; borrow the two above
  size_t content = 0;                     // bytes of the blocks
};

Logs ReadLogs(std::vector<std::string> paths) {
  Logs logs;
  logs.paths = std::move(paths);
  for (const auto& path : logs.paths) logs.bytes.push_back(ReadFile(path));
  for (size_t i = 0; i < logs.paths.size(); ++i) {
    hudi::LogReader reader(logs.bytes[i], logs.paths[i], [](const auto&) {});
    while (auto block = reader.Next()) {
      if (block->kind != hudi::LogBlockKind::kAvroData) continue;
      logs.content += block->content.size();
      scan::PlacedBlock placed;
      placed.block = *std::move(block);
      placed.file_name = logs.paths[i];
      logs.blocks.push_back(std::move(placed));
    }
  }
  return logs;
}

// The schema of the first block, which is the table's here.
Result<Schema> SchemaOf(const Logs& logs) {
  if (logs.blocks.empty()) return Fail(ErrorKind::kInvalidArgument, "no Avro block in the logs");
  return Schema::Parse(logs.blocks.front().block.Header(hudi::LogHeaderKey::kSchema));
}

Status Measure(const Logs& logs, const hudi::TableProperties& properties, int rounds) {
  TRY_ASSIGN(const auto schema, SchemaOf(logs));
  TRY_ASSIGN(const auto settings, merge::ReadTableSettings(properties.all));
  TRY_ASSIGN(const auto profile, merge::MakeProfile("event-time", settings));
  TRY_ASSIGN(const auto columns, scan::TableColumns::Make(schema, properties, settings));
  TRY_ASSIGN(
      const auto type,
      columnar::RowType::Make(schema, columnar::WantAll(schema, columnar::MetaColumns::kLeaveOut)));
  scan::RowStore rows(type);
  scan::LogVersions versions(columns, rows, {});
  scan::KeyTable keys;
  std::vector<merge::KeyState> states;
  size_t won = 0;
  const auto fold = [&](const scan::MetVersion& met) -> Status {
    const uint32_t key = keys.FindOrAdd(met.key, scan::KeyTable::Hash(met.key));
    if (key == states.size()) states.emplace_back();
    won += merge::FoldLog(profile.read, states[key], met.version).takes_later ? 1 : 0;
    return {};
  };
  // Something later than all of them is there first.
  for (const auto& block : logs.blocks) {
    TRY(versions.Read(block, [&](scan::MetVersion met) {
      met.version.ordering = merge::OrderingValue::OfInteger(columns.ordering().single(),
                                                             std::numeric_limits<int64_t>::max());
      return fold(met);
    }));
  }
  won = 0;
  const uint64_t before = versions.versions_read();
  const double start = CpuSeconds();
  for (int round = 0; round < rounds; ++round) {
    for (const auto& block : logs.blocks) TRY(versions.Read(block, fold));
  }
  const double seconds = CpuSeconds() - start;
  if (won != 0) return Fail(ErrorKind::kConflict, "records won that cannot");
  const auto records = static_cast<double>(versions.versions_read() - before);
  fmt::print("losing records: records={} bytes={} cpu_s={:.3f} MB/s={:.0f} ns/record={:.0f}\n",
             versions.versions_read() - before, logs.content * static_cast<size_t>(rounds), seconds,
             static_cast<double>(logs.content) * rounds / 1e6 / seconds, seconds * 1e9 / records);
  return {};
}

Status Run(const std::string& table, std::vector<std::string> paths, int rounds) {
  const tidemark::storage::LocalStore store(table);
  TRY_ASSIGN(const auto opened, hudi::Table::Open(store, {}, Budget()));
  return Measure(ReadLogs(std::move(paths)), opened.properties(), rounds);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How fast log records are folded when they lose");
  std::string table;
  std::vector<std::string> paths;
  int rounds = 5;
  app.add_option("--table", table, "the table's folder")->required();
  app.add_option("--rounds", rounds, "how often each file is read");
  app.add_option("files", paths, "log files of the table")->required();
  CLI11_PARSE(app, argc, argv);
  const auto done = Run(table, std::move(paths), rounds);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
