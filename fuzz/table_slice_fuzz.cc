// A whole file slice: any bytes as a base file and as the two log files on top of it, in a table of
// which everything else is sound. The input is a byte that chooses whose rules merge, then the base
// file and the first log file, each behind its size (4 bytes, little endian), then the second log
// file. The seeds hold the files of testdata/hudi/rows/intact_log.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "scan/table_scan.h"
#include "storage/memory_store.h"

namespace {

using namespace tidemark;

constexpr std::string_view kProperties =
    "hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\n"
    "hoodie.table.checksum=498511606\nhoodie.table.precombine.field=ord\n"
    "hoodie.table.recordkey.fields=id\nhoodie.table.partition.fields=part\n"
    "hoodie.compaction.payload.class=org.apache.hudi.common.model.EventTimeAvroPayload\n";
constexpr std::string_view kCommit =
    R"({"partitionToWriteStats":{},"operationType":"UPSERT","extraMetadata":{"schema":")"
    R"({\"type\":\"record\",\"name\":\"row\",\"fields\":[)"
    R"({\"name\":\"id\",\"type\":[\"null\",\"string\"],\"default\":null},)"
    R"({\"name\":\"ord\",\"type\":[\"null\",\"long\"],\"default\":null},)"
    R"({\"name\":\"val\",\"type\":[\"null\",\"string\"],\"default\":null},)"
    R"({\"name\":\"part\",\"type\":[\"null\",\"string\"],\"default\":null},)"
    R"({\"name\":\"_hoodie_is_deleted\",\"type\":[\"null\",\"boolean\"],\"default\":null}]}"}})";
constexpr std::string_view kInstants[] = {"20261130031314566", "20261130031348006",
                                          "20261130031424798"};
constexpr std::string_view kBase = "p1/g-0_0-277-217_20261130031314566.parquet";
constexpr std::string_view kLogs[] = {"p1/.g-0_20261130031314566.log.1_0-291-227",
                                      "p1/.g-0_20261130031314566.log.2_0-305-237"};
constexpr std::string_view kProfiles[] = {"event-time", "hudi-0.14", "hudi-1.0.2", "hudi-1.1",
                                          "hudi-1.0.0", "table",     "hudi-0.10",  "commit-time"};
/// Of the byte that chooses: the lowest bits are the profile.
constexpr uint8_t kWithHistory = 8;
constexpr uint8_t kInPasses = 16;
constexpr uint8_t kWithMeta = 32;
/// A slice of damaged files may claim any number of rows.
constexpr size_t kRowsMax = 10000;

/// Takes a size and as many bytes, or what there is of them.
std::string_view TakePart(std::string_view& input) {
  if (input.size() < 4) return {};
  size_t size = 0;
  for (size_t i = 4; i > 0; --i) size = size << 8 | static_cast<uint8_t>(input[i - 1]);
  const std::string_view part = input.substr(4, size);
  input.remove_prefix(4 + part.size());
  return part;
}

void Put(storage::MemoryStore& store, std::string_view key, std::string_view bytes) {
  if (!store.Put(key, bytes, Budget())) std::abort();
}

storage::MemoryStore MakeTable(std::string_view input) {
  storage::MemoryStore store;
  Put(store, ".hoodie/hoodie.properties", kProperties);
  for (const auto instant : kInstants)
    Put(store, ".hoodie/" + std::string(instant) + ".deltacommit", kCommit);
  Put(store, "p1/.hoodie_partition_metadata", "");
  const auto base = TakePart(input);
  if (!base.empty()) Put(store, kBase, base);
  Put(store, kLogs[0], TakePart(input));
  Put(store, kLogs[1], input);
  return store;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const auto store = MakeTable({reinterpret_cast<const char*>(data) + 1, size - 1});
  scan::ScanOptions options;
  options.profile = kProfiles[choice % 8];
  options.with_history = options.profile == "event-time" && (choice & kWithHistory) != 0;
  options.with_meta = (choice & kWithMeta) != 0;
  options.memory_max = (choice & kInPasses) != 0 ? 2000 : uint64_t{64} << 20;
  const auto scan = scan::TableScan::Open(
      store, columnar::LoadColumnReader, options, [](const lake::Finding&) {}, Budget());
  // All but the slice is sound.
  if (!scan) std::abort();
  size_t rows = 0;
  std::string text;
  const auto counts = scan->Run([&](const columnar::Batch& batch) -> Status {
    for (size_t row = 0; row < batch.rows() && rows < kRowsMax; ++row, ++rows) {
      text.clear();
      columnar::AppendRowJson(batch, row, text);
    }
    if (rows < kRowsMax) return {};
    return Fail(ErrorKind::kExhausted, "rows enough");
  });
  if (!counts && counts.error().kind == ErrorKind::kInternal) std::abort();
  return 0;
}
