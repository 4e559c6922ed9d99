// How long a huge commit takes: bodies of 10,000 and more write stats, as a backfill leaves them,
// read for their extra metadata alone (the checkpoint), and for every write stat (the change feed).
// Run:
// build/release/bench/commit_metadata_bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/check.h"
#include "lake/avro/container.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/commit_stats.h"
#include "storage/object_store.h"

namespace {

using tidemark::lake::avro::Container;
using tidemark::lake::avro::Datum;
namespace hudi = tidemark::lake::hudi;

const std::string kCheckpoint = "orders,0:4,1:4";

/// One stat as Hudi 0.14 prints it, about 1 KB.
std::string JsonStat(int number) {
  return fmt::format(R"({{
      "fileId" : "de136747-97d4-42d8-b339-{0:012}-0",
      "path" : "dt=2024-01-31/de136747-97d4-42d8-b339-{0:012}-0_{0}-733-658_20240131024707530.parquet",
      "cdcStats" : null,
      "prevCommit" : "20240131024653666",
      "numWrites" : {1},
      "numDeletes" : 0,
      "numUpdateWrites" : {0},
      "numInserts" : 0,
      "totalWriteBytes" : 4396{0},
      "totalWriteErrors" : 0,
      "tempPath" : null,
      "partitionPath" : "dt=2024-01-31",
      "totalLogRecords" : 0,
      "totalLogFilesCompacted" : 0,
      "totalLogSizeCompacted" : 0,
      "totalUpdatedRecordsCompacted" : 0,
      "totalLogBlocks" : 0,
      "totalCorruptLogBlock" : 0,
      "totalRollbackBlocks" : 0,
      "fileSizeInBytes" : 4396{0},
      "minEventTime" : 1795982520000,
      "maxEventTime" : 1795984320000,
      "runtimeStats" : {{
        "totalScanTime" : 0,
        "totalUpsertTime" : 899,
        "totalCreateTime" : 0
      }}
    }})",
                     number, number * 7);
}

std::string JsonBody(int stats_count) {
  std::string body = "{\n  \"partitionToWriteStats\" : {\n    \"dt=2024-01-31\" : [ ";
  for (int i = 0; i < stats_count; ++i) {
    if (i > 0) body += ", ";
    body += JsonStat(i);
  }
  body += " ]\n  },\n  \"compacted\" : false,\n  \"extraMetadata\" : {\n    \"schema\" : \"{}\",\n";
  body += "    \"deltastreamer.checkpoint.key\" : \"" + kCheckpoint + "\"\n  },\n";
  body += "  \"operationType\" : \"UPSERT\"\n}";
  return body;
}

std::string AvroLong(int64_t value) {
  auto rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  std::string bytes;
  for (; rest >= 0x80; rest >>= 7) bytes.push_back(static_cast<char>(rest | 0x80));
  bytes.push_back(static_cast<char>(rest));
  return bytes;
}
std::string AvroText(const std::string& text) {
  return AvroLong(static_cast<int64_t>(text.size())) + text;
}

/// The head of a real commit, and one of its write stats as it is encoded there.
struct RealCommit {
  std::string head;  ///< up to the sync marker, which is its last 16 bytes
  std::string stat;
};

RealCommit ReadRealCommit() {
  const std::string path = TIDEMARK_TESTDATA
      "/hudi/tables/a07a_checkpoint_reset_v9/table/.hoodie/timeline/"
      "20261130023257488_20261130023401510.commit";
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto container = Container::Open(bytes);
  CHECK(container.has_value(), path);
  const auto record = container->Next();
  CHECK(record.has_value() && record->has_value(), path);
  const auto stats = (**record).Field("partitionToWriteStats");
  auto partitions = (**stats).OpenItems();
  const auto partition = partitions->Next();
  auto items = (**partition).value.OpenItems();
  const auto stat = items->Next();
  const auto offset = (**stat).value.offset();
  const auto size = (**stat).value.Size();
  // A file of one block ends in the sync marker that its head ends in.
  const auto sync = bytes.substr(bytes.size() - 16);
  return {bytes.substr(0, bytes.find(sync) + 16), bytes.substr(offset, *size)};
}

/// The same fields as in JSON, in the order of the schema of Hudi 1.1.1: partitionToWriteStats,
/// compacted, extraMetadata, version, operationType.
std::string AvroBody(int stats_count) {
  const RealCommit real = ReadRealCommit();
  std::string record =
      AvroLong(1) + AvroLong(1) + AvroText("dt=2024-01-31") + AvroLong(stats_count);
  for (int i = 0; i < stats_count; ++i) record += real.stat;
  record += AvroLong(0) + AvroLong(0);
  record += AvroLong(1) + std::string(1, '\0');
  record += AvroLong(1) + AvroLong(1) + AvroText("deltastreamer.checkpoint.key") +
            AvroText(kCheckpoint) + AvroLong(0);
  record += AvroLong(0) + AvroLong(1);
  record += AvroLong(1) + AvroText("UPSERT");
  return real.head + AvroLong(1) + AvroLong(static_cast<int64_t>(record.size())) + record +
         real.head.substr(real.head.size() - 16);
}

void ScanBody(benchmark::State& state, const std::string& body) {
  for (auto _ : state) {
    state.PauseTiming();
    std::string copy;  // as a store reads it
    copy.reserve(body.size() + tidemark::storage::kReadRoomBytes);
    copy = body;
    state.ResumeTiming();
    const auto metadata = hudi::ParseCommitMetadata(std::move(copy));
    CHECK(metadata && metadata->extra.at("deltastreamer.checkpoint.key") == kCheckpoint,
          metadata ? "another checkpoint" : metadata.error().message);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
  state.counters["body_bytes"] = static_cast<double>(body.size());
}

void ReadStats(benchmark::State& state, const std::string& body) {
  for (auto _ : state) {
    state.PauseTiming();
    std::string copy;
    copy.reserve(body.size() + tidemark::storage::kReadRoomBytes);
    copy = body;
    state.ResumeTiming();
    const auto stats = hudi::ParseCommitStats(std::move(copy));
    CHECK(stats && stats->partitions.begin()->second.size() == static_cast<size_t>(state.range(0)),
          stats ? "another number of stats" : stats.error().message);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
  state.counters["body_bytes"] = static_cast<double>(body.size());
}

void JsonCommit(benchmark::State& state) {
  ScanBody(state, JsonBody(static_cast<int>(state.range(0))));
}
void AvroCommit(benchmark::State& state) {
  ScanBody(state, AvroBody(static_cast<int>(state.range(0))));
}

void JsonStats(benchmark::State& state) {
  ReadStats(state, JsonBody(static_cast<int>(state.range(0))));
}
void AvroStats(benchmark::State& state) {
  ReadStats(state, AvroBody(static_cast<int>(state.range(0))));
}

// 10,000 stats are 10 MB of JSON; as many bytes of Avro hold 30,000.
BENCHMARK(JsonCommit)->Arg(10)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(AvroCommit)->Arg(10)->Arg(10'000)->Arg(30'000)->Unit(benchmark::kMillisecond);
BENCHMARK(JsonStats)->Arg(10)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(AvroStats)->Arg(10)->Arg(10'000)->Arg(30'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
