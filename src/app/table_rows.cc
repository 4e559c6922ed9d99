#include "app/table_rows.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "app/ordered_work.h"

namespace tidemark::app {

namespace {

/// Rows that wait for their turn take one part in so many of the memory.
constexpr uint64_t kWaitingPart = 8;

}  // namespace

bool IsDamage(std::string_view kind) {
  return lake::IsDamage(kind) || kind == "reader_fails";
}

Result<RowsWritten> WriteRows(const std::string& table, const storage::StoreOptions& store,
                              const RowsOptions& options, const columnar::ByteSink& sink,
                              const lake::FindingSink& findings, const Budget& budget,
                              const FreshnessEdges& edges) {
  TRY_ASSIGN(auto opened, edges.open_store(table, store));
  MeteredStore metered(std::move(opened), options.progress);
  RowsWritten written;
  const auto count = [&](lake::Finding finding) {
    if (IsDamage(finding.kind)) ++written.damages;
    if (findings) findings(std::move(finding));
  };
  const auto in_table = [&](Error error) { return std::move(error).With(table); };
  auto scan = scan::TableScan::Open(metered, edges.columns, options.scan, count, budget);
  if (!scan) return std::unexpected(in_table(std::move(scan).error()));
  TRY_ASSIGN(const auto writer, columnar::OpenBatchWriter(options.format, scan->type(), sink));
  metered.Expect(scan->groups(), options.scan.view);
  std::mutex mutex;
  OrderedWork work;
  work.units = scan->unit_count();
  work.threads = options.scan.threads;
  work.held_bytes_max = options.scan.memory_max / (kWaitingPart * std::max(work.threads, 1u));
  work.run = [&](size_t unit, const BatchSink& batches) -> Status {
    TRY_ASSIGN(const auto counts, scan->RunUnit(unit, batches));
    for (const auto group : scan->unit_groups(unit)) metered.Finish(group.back().group);
    const std::lock_guard lock(mutex);
    written.counts += counts;
    return {};
  };
  const Status done =
      RunInOrder(work, [&](const columnar::Batch& batch) { return writer->Write(batch); });
  if (!done) return std::unexpected(in_table(done.error()));
  TRY(writer->Close());
  return written;
}

}  // namespace tidemark::app
