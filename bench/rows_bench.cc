// How fast rows become columns: Avro records of log files into a RowBuilder, and Parquet files into
// batches. Rates are of CPU time, so that a busy machine does not change them much.
//   rows_bench [--log FILE]... [--parquet FILE]... [--rounds N] [--threads N]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "columnar/rows.h"
#include "lake/hudi/log_file.h"

namespace {

using tidemark::Result;
using tidemark::Status;
using tidemark::lake::avro::Schema;
namespace columnar = tidemark::columnar;
namespace hudi = tidemark::lake::hudi;

// Rows of a batch before the next one begins.
constexpr size_t kBatchRows = 1 << 16;

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Records {
  Schema schema;
  std::vector<std::string_view> records;
  size_t bytes = 0;
};

// The records of all data blocks, by the schema they were written with.
Status CollectRecords(std::string_view file, std::map<std::string, Records>& collected) {
  hudi::LogReader reader(file, "bench", [](const auto&) {});
  while (const auto block = reader.Next()) {
    if (block->kind != hudi::LogBlockKind::kAvroData) continue;
    const std::string json(block->Header(hudi::LogHeaderKey::kSchema));
    auto known = collected.find(json);
    if (known == collected.end()) {
      TRY_ASSIGN(auto schema, Schema::Parse(json));
      known = collected.emplace(json, Records{std::move(schema), {}, 0}).first;
    }
    TRY_ASSIGN(auto records, hudi::LogRecords::Open(*block, known->second.schema));
    while (true) {
      TRY_ASSIGN(const auto record, records.Next());
      if (!record) break;
      known->second.records.push_back(file.substr(record->datum.offset(), record->length));
      known->second.bytes += record->length;
    }
  }
  return {};
}

Status MeasureDecoding(const Records& records, const std::vector<columnar::WantedColumn>& wanted,
                       std::string_view what, int rounds) {
  TRY_ASSIGN(const auto type, columnar::RowType::Make(records.schema, wanted));
  TRY_ASSIGN(const auto decoder, columnar::RecordDecoder::Make(records.schema, type));
  columnar::RowBuilder builder(type);
  const double start = CpuSeconds();
  for (int round = 0; round < rounds; ++round) {
    for (const auto record : records.records) {
      TRY(builder.Append(decoder, record));
      if (builder.rows() == kBatchRows) builder.Finish();
    }
    builder.Finish();
  }
  const double seconds = CpuSeconds() - start;
  const double megabytes = static_cast<double>(records.bytes) * rounds / 1e6;
  fmt::print("avro {}: columns={} records={} bytes={} cpu_s={:.3f} MB/s={:.0f} ns/record={:.0f}\n",
             what, type.size(), records.records.size(), records.bytes, seconds, megabytes / seconds,
             seconds * 1e9 / static_cast<double>(records.records.size()) / rounds);
  return {};
}

Status MeasureLogs(const std::vector<std::string>& paths, int rounds) {
  std::vector<std::string> files;
  for (const auto& path : paths) files.push_back(ReadFile(path));
  std::map<std::string, Records> collected;
  for (const auto& file : files) TRY(CollectRecords(file, collected));
  for (const auto& [json, records] : collected) {
    const auto all = columnar::WantAll(records.schema, columnar::MetaColumns::kPutFirst);
    TRY(MeasureDecoding(records, all, "all columns", rounds));
    TRY(MeasureDecoding(records, {{"_hoodie_record_key"}, {all.back().name}}, "key and last",
                        rounds));
  }
  return {};
}

Status MeasureParquet(const std::string& path, int rounds, int threads) {
  // Any column that a schema lacks will do to look at the footer.
  TRY_ASSIGN(const auto none, Schema::Parse(R"({"type":"record","name":"t","fields":[]})"));
  TRY_ASSIGN(
      const auto key,
      columnar::RowType::Make(none, std::vector<columnar::WantedColumn>{{"_hoodie_record_key"}}));
  TRY_ASSIGN(const auto footer, columnar::OpenParquetFile(path, key));
  TRY_ASSIGN(const auto schema, Schema::Parse(columnar::FileSchemaJson(*footer).value_or("")));
  const auto all = columnar::WantAll(schema, columnar::MetaColumns::kPutFirst);
  TRY_ASSIGN(const auto type, columnar::RowType::Make(schema, all));
  columnar::ReadOptions options;
  options.threads = threads;
  for (int round = 0; round < rounds; ++round) {
    timespec begin = {};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const double start = CpuSeconds();
    TRY_ASSIGN(const auto reader, columnar::OpenParquetFile(path, type, options));
    size_t rows = 0;
    while (true) {
      TRY_ASSIGN(const auto batch, reader->Next());
      if (!batch) break;
      rows += batch->rows();
    }
    timespec end = {};
    clock_gettime(CLOCK_MONOTONIC, &end);
    fmt::print("parquet {}: columns={} rows={} cpu_s={:.3f} wall_s={:.3f}\n", path, type.size(),
               rows, CpuSeconds() - start,
               static_cast<double>(end.tv_sec - begin.tv_sec) +
                   static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e9);
  }
  return {};
}

Status Run(const std::vector<std::string>& logs, const std::vector<std::string>& parquets,
           int rounds, int threads) {
  if (!logs.empty()) TRY(MeasureLogs(logs, rounds));
  for (const auto& path : parquets) TRY(MeasureParquet(path, rounds, threads));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How fast rows become columns");
  std::vector<std::string> logs;
  std::vector<std::string> parquets;
  int rounds = 3;
  int threads = 1;
  app.add_option("--log", logs, "Hudi log files");
  app.add_option("--parquet", parquets, "Parquet files that Hudi wrote");
  app.add_option("--rounds", rounds, "how often each is read");
  app.add_option("--threads", threads, "for Parquet");
  CLI11_PARSE(app, argc, argv);
  const auto done = Run(logs, parquets, rounds, threads);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
