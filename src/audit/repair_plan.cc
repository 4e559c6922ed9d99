#include "audit/repair_plan.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "columnar/row_builder.h"
#include "scan/scan_table.h"
#include "scan/table_columns.h"

namespace tidemark::audit {
namespace {

constexpr std::string_view kPartitionPathColumn = "_hoodie_partition_path";
constexpr std::string_view kWrite = "U";
constexpr std::string_view kRemove = "D";
/// Rows are handed on when they take so much memory, if there are not kBatchRows before.
constexpr size_t kFlushBytes = size_t{4} << 20;

/// One row of texts, in a batch of any row type whose other columns nobody looks at.
columnar::Batch TextRow(const columnar::RowType& type,
                        const std::map<size_t, std::string_view>& texts) {
  struct Owned {
    std::vector<std::string> bytes;
    std::vector<std::array<int32_t, 2>> offsets;
  };
  const auto owned = std::make_shared<Owned>();
  for (const auto& [column, text] : texts) {
    owned->bytes.emplace_back(text);
    owned->offsets.push_back({0, static_cast<int32_t>(text.size())});
  }
  auto storage =
      std::make_shared<columnar::Batch::Storage>(columnar::Batch::Storage{type, 1, {}, owned, 0});
  storage->columns.resize(type.size());
  size_t at = 0;
  for (const auto& [column, text] : texts) {
    auto& view = storage->columns[column];
    view.type = &type.columns()[column].type;
    view.rows = 1;
    view.values = reinterpret_cast<const uint8_t*>(owned->bytes[at].data());
    view.offsets = owned->offsets[at].data();
    ++at;
  }
  return columnar::Batch(std::move(storage));
}

/// The type with Hudi's three columns shown.
Result<columnar::RowType> WithShown(const columnar::RowType& type) {
  const auto names = RepairPlan::HiddenColumns();
  std::vector<columnar::WantedColumn> wanted;
  for (const auto& column : type.columns()) {
    const bool is_ours = std::ranges::find(names, column.name) != names.end();
    wanted.push_back({column.name, column.is_visible || is_ours});
  }
  return columnar::RowType::Make(type.schema(), wanted);
}

/// The same rows under a type that differs in what it shows.
columnar::Batch Retyped(const columnar::Batch& batch, const columnar::RowType& type) {
  columnar::Batch::Storage storage{type, batch.rows(), {}, nullptr, batch.bytes()};
  for (size_t i = 0; i < type.size(); ++i) storage.columns.push_back(batch.column(i));
  storage.owner = std::make_shared<columnar::Batch>(batch);
  return columnar::Batch(std::make_shared<columnar::Batch::Storage>(std::move(storage)));
}

}  // namespace

std::vector<std::string> RepairPlan::HiddenColumns() {
  return {std::string(scan::kRecordKeyColumn), std::string(kPartitionPathColumn),
          std::string(scan::kOperationColumn)};
}

struct RepairPlan::State {
  explicit State(columnar::RowType shown) : type(std::move(shown)) {}

  /// A unit that has rows and is not written to its end.
  struct Unit {
    explicit Unit(const columnar::RowType& type) : builder(type) {}

    columnar::RowBuilder builder;  // of the unit's own thread
    std::vector<columnar::Batch> batches;
    uint64_t bytes = 0;
  };

  columnar::RowType type;
  std::unique_ptr<columnar::BatchWriter> writer{};
  uint64_t held_bytes_max = 0;
  size_t key = 0;
  size_t partition = 0;
  size_t operation = 0;

  std::mutex mutex{};
  std::condition_variable turned{};
  std::map<size_t, Unit> units{};
  std::set<size_t> finished{};  // from `turn` on
  size_t turn = 0;              // the unit whose rows are written
  uint64_t held_bytes = 0;
  Status written{};  // the writer's first error

  Unit& UnitOf(size_t number) {
    const std::lock_guard lock(mutex);
    return units.try_emplace(number, type).first->second;
  }

  Status Append(Unit& unit, Repair repair, std::string_view record_key, std::string_view path,
                const columnar::Batch& row) {
    const std::map<size_t, std::string_view> texts = {
        {operation, repair == Repair::kWrite ? kWrite : kRemove},
        {key, record_key},
        {partition, path}};
    const columnar::Batch of_texts = TextRow(type, texts);
    const columnar::Batch shown = Retyped(row, type);
    std::vector<columnar::CellSource> cells(type.size(), {&shown, 0});
    for (const auto& [column, text] : texts) cells[column] = {&of_texts, 0};
    return unit.builder.AppendCells(cells);
  }

  /// With the lock.
  void Write(Unit& unit) {
    for (const auto& batch : unit.batches) {
      if (written) written = writer->Write(batch);
    }
    held_bytes -= unit.bytes;
    unit.bytes = 0;
    unit.batches.clear();
  }

  /// Takes what the unit's builder has; waits when that is too much and its turn has not come.
  Status Flush(size_t number, Unit& unit) {
    columnar::Batch batch = unit.builder.Finish();
    std::unique_lock lock(mutex);
    unit.bytes += batch.bytes();
    held_bytes += batch.bytes();
    unit.batches.push_back(std::move(batch));
    turned.wait(lock, [&] { return number == turn || held_bytes <= held_bytes_max; });
    if (number == turn) {
      Write(unit);
      turned.notify_all();
    }
    return written;
  }

  Status Finish(size_t number) {
    const std::lock_guard lock(mutex);
    if (const auto own = units.find(number); own != units.end()) {
      Unit& unit = own->second;
      if (unit.builder.rows() > 0) {
        unit.batches.push_back(unit.builder.Finish());
        unit.bytes += unit.batches.back().bytes();
        held_bytes += unit.batches.back().bytes();
      }
    }
    finished.insert(number);
    for (; finished.erase(turn) > 0; ++turn) {
      if (const auto done = units.find(turn); done != units.end()) {
        Write(done->second);
        units.erase(done);
      }
    }
    turned.notify_all();
    return written;
  }
};

RepairPlan::RepairPlan(Passkey, std::unique_ptr<State> state) : state_(std::move(state)) {}
RepairPlan::~RepairPlan() = default;

Result<std::unique_ptr<RepairPlan>> RepairPlan::Open(const columnar::RowType& read,
                                                     columnar::ByteSink out,
                                                     uint64_t held_bytes_max) {
  TRY_ASSIGN(const auto type, WithShown(read));
  const auto key = type.Find(scan::kRecordKeyColumn);
  const auto partition = type.Find(kPartitionPathColumn);
  const auto operation = type.Find(scan::kOperationColumn);
  if (!key || !partition || !operation) {
    return Fail(ErrorKind::kInternal, "rows of a repair plan lack Hudi's columns");
  }
  auto state = std::make_unique<State>(type);
  TRY_ASSIGN(state->writer,
             columnar::OpenBatchWriter(columnar::RowFormat::kParquet, type, std::move(out)));
  state->held_bytes_max = held_bytes_max;
  state->key = *key;
  state->partition = *partition;
  state->operation = *operation;
  return std::unique_ptr<RepairPlan>(std::make_unique<RepairPlan>(Passkey(), std::move(state)));
}

Status RepairPlan::Take(size_t unit, Repair repair, std::string_view key,
                        std::string_view partition, const columnar::Batch& row) {
  State::Unit& own = state_->UnitOf(unit);
  TRY(state_->Append(own, repair, key, partition, row));
  const bool is_full = own.builder.rows() >= scan::kBatchRows || own.builder.bytes() >= kFlushBytes;
  return is_full ? state_->Flush(unit, own) : Status();
}

Status RepairPlan::Finish(size_t unit) {
  return state_->Finish(unit);
}

Status RepairPlan::Close() {
  TRY(state_->written);
  return state_->writer->Close();
}

}  // namespace tidemark::audit
