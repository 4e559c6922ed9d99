#include "audit/repair_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
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
  columnar::RowType type;
  std::unique_ptr<columnar::BatchWriter> writer;
  columnar::RowBuilder builder;
  size_t key = 0;
  size_t partition = 0;
  size_t operation = 0;

  Status Take(Repair repair, std::string_view record_key, std::string_view path,
              const columnar::Batch& row) {
    const std::map<size_t, std::string_view> texts = {
        {operation, repair == Repair::kWrite ? kWrite : kRemove},
        {key, record_key},
        {partition, path}};
    const columnar::Batch of_texts = TextRow(type, texts);
    const columnar::Batch shown = Retyped(row, type);
    std::vector<columnar::CellSource> cells(type.size(), {&shown, 0});
    for (const auto& [column, text] : texts) cells[column] = {&of_texts, 0};
    TRY(builder.AppendCells(cells));
    return builder.rows() < scan::kBatchRows ? Status() : Flush();
  }

  Status Flush() { return builder.rows() == 0 ? Status() : writer->Write(builder.Finish()); }
};

RepairPlan::RepairPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
RepairPlan::RepairPlan(RepairPlan&&) noexcept = default;
RepairPlan& RepairPlan::operator=(RepairPlan&&) noexcept = default;
RepairPlan::~RepairPlan() = default;

Result<RepairPlan> RepairPlan::Open(const columnar::RowType& read, columnar::ByteSink out) {
  TRY_ASSIGN(const auto type, WithShown(read));
  const auto key = type.Find(scan::kRecordKeyColumn);
  const auto partition = type.Find(kPartitionPathColumn);
  const auto operation = type.Find(scan::kOperationColumn);
  if (!key || !partition || !operation) {
    return Fail(ErrorKind::kInternal, "rows of a repair plan lack Hudi's columns");
  }
  TRY_ASSIGN(auto writer,
             columnar::OpenBatchWriter(columnar::RowFormat::kParquet, type, std::move(out)));
  return RepairPlan(std::make_unique<State>(
      State{type, std::move(writer), columnar::RowBuilder(type), *key, *partition, *operation}));
}

RepairSink RepairPlan::sink() {
  return [state = state_.get()](Repair repair, std::string_view key, std::string_view partition,
                                const columnar::Batch& row) {
    return state->Take(repair, key, partition, row);
  };
}

Status RepairPlan::Close() {
  TRY(state_->Flush());
  return state_->writer->Close();
}

}  // namespace tidemark::audit
