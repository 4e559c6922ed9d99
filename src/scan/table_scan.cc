#include "scan/table_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "columnar/batch_reader.h"
#include "lake/hudi/log_file.h"
#include "lake/hudi/stored_log.h"
#include "lake/hudi/table.h"
#include "scan/base_file.h"
#include "scan/dropped_columns.h"
#include "scan/history_scan.h"
#include "scan/partition_glob.h"
#include "scan/schema_versions.h"
#include "scan/table_schema.h"
#include "scan/text_check.h"

namespace tidemark::scan {
namespace {

using columnar::RowType;
using columnar::WantedColumn;
using lake::hudi::FileSlice;

constexpr std::string_view kNoFields = R"({"type":"record","name":"row","fields":[]})";

/// The schema in a data file, for tables whose commits have none.
Result<std::string> SchemaInFile(const storage::ObjectStore& store, const FileSlice& slice,
                                 const Budget& budget) {
  if (slice.base && slice.base->name.format == lake::hudi::BaseFileFormat::kParquet) {
    TRY_ASSIGN(const auto none, lake::avro::Schema::Parse(kNoFields));
    const std::vector<WantedColumn> wanted = {{std::string(kCommitTimeColumn), true}};
    TRY_ASSIGN(const RowType type, RowType::Make(none, wanted));
    columnar::ReadOptions options;
    options.name = slice.base->key;
    TRY_ASSIGN(const auto reader,
               columnar::OpenParquetSource(
                   ObjectSource(store, slice.base->key, slice.base->size, budget), type, options));
    return FileSchemaJson(*reader).value_or("");
  }
  for (const auto& log : slice.logs) {
    storage::ObjectState state(storage::ObjectChange::kGrow, log.size);
    lake::hudi::StoredLog bytes(store, log.key, {.size = log.size, .block_bytes_max = 0}, state,
                                budget);
    lake::hudi::LogReader reader(bytes, log.key, {});
    while (const auto block = reader.Next()) {
      const auto json = block->Header(lake::hudi::LogHeaderKey::kSchema);
      const bool is_partial = block->Header(lake::hudi::LogHeaderKey::kIsPartial) == "true";
      if (!json.empty() && !is_partial) return std::string(json);
    }
    TRY(reader.status());
  }
  return std::string();
}

/// The schema of a table, wherever it is said, and `dropped` columns.
Result<lake::avro::Schema> FindSchema(const storage::ObjectStore& store,
                                      const std::optional<TableSchema>& said,
                                      const std::vector<FileSlice>& slices,
                                      const std::vector<std::string>& dropped,
                                      const Budget& budget) {
  if (said && dropped.empty()) return said->schema;
  if (said) {
    TRY_ASSIGN(const std::string whole, WithDroppedColumns(said->json, dropped));
    return lake::avro::Schema::Parse(whole);
  }
  for (const FileSlice& slice : slices) {
    TRY_ASSIGN(const std::string json, SchemaInFile(store, slice, budget));
    if (json.empty()) continue;
    TRY_ASSIGN(const std::string whole, WithDroppedColumns(json, dropped));
    return lake::avro::Schema::Parse(whole);
  }
  if (slices.empty()) return lake::avro::Schema::Parse(kNoFields);
  return Fail(ErrorKind::kUnsupported, "neither commits nor files of the table have its schema");
}

/// The columns shown, and behind them those that merging needs.
std::vector<WantedColumn> ColumnsWanted(const ScanOptions& options,
                                        const lake::avro::Schema& schema,
                                        const TableColumns& columns, bool merges) {
  std::vector<WantedColumn> wanted;
  if (options.columns.empty()) {
    wanted = WantAll(schema, options.with_meta ? columnar::MetaColumns::kPutFirst
                                               : columnar::MetaColumns::kLeaveOut);
  }
  for (const auto& name : options.hidden) wanted.push_back({name, false});
  for (const auto& name : options.columns) wanted.push_back({name, true});
  const auto hidden = columns.HiddenColumns(
      schema, merges ? TableColumns::Need::kMerging : TableColumns::Need::kMarks);
  wanted.insert(wanted.end(), hidden.begin(), hidden.end());
  if (options.with_history) wanted.push_back({std::string(kCommitTimeColumn), false});
  return wanted;
}

Status CheckOptions(const ScanOptions& options, const merge::Profile& profile) {
  if (options.with_history && profile.name != "event-time") {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("older slices are folded by event time only: no release reads them, "
                            "profile={}",
                            options.profile));
  }
  if (options.with_history && options.view == SliceView::kReadOptimized) {
    return Fail(ErrorKind::kInvalidArgument, "the read-optimized view has no history");
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (options.as_of && (options.as_of->empty() || !std::ranges::all_of(*options.as_of, is_digit))) {
    return Fail(
        ErrorKind::kInvalidArgument,
        fmt::format("an instant is digits like 20240101120000123, instant={}", *options.as_of));
  }
  return {};
}

/// Of each partition when rows of it were last replaced on purpose (insert_overwrite,
/// delete_partition), as a completion time.
std::map<std::string, std::string> LastReplacements(const std::vector<FileSlice>& slices,
                                                    const lake::hudi::CommittedInstants& instants,
                                                    const std::set<std::string>& clusterings) {
  std::map<std::string, std::string> last;
  for (const FileSlice& slice : slices) {
    if (!slice.replaced_by || clusterings.contains(*slice.replaced_by)) continue;
    std::string& of_partition = last[slice.group.partition];
    of_partition = std::max(of_partition, instants.CompletionOf(*slice.replaced_by));
  }
  return last;
}

/// The slices that are part of the table, and with history those before them in their groups and
/// the groups that were clustered into others, unless what they hold was replaced on purpose since.
std::vector<FileSlice> SlicesToRead(std::vector<FileSlice> all, bool with_history,
                                    const lake::hudi::CommittedInstants& instants,
                                    const std::set<std::string>& clusterings) {
  const auto replacements = LastReplacements(all, instants, clusterings);
  const auto was_clustered = [&](const FileSlice& slice) {
    if (!slice.replaced_by || !clusterings.contains(*slice.replaced_by)) return false;
    const auto since = replacements.find(slice.group.partition);
    return since == replacements.end() || since->second < instants.CompletionOf(*slice.replaced_by);
  };
  std::vector<FileSlice> chosen;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    std::optional<size_t> latest;
    for (; end < all.size() && all[end].group == all[begin].group; ++end) {
      if (all[end].is_latest) latest = end;
    }
    if (latest || (with_history && was_clustered(all[end - 1]))) {
      const size_t last = latest.value_or(end - 1);
      for (size_t i = with_history ? begin : last; i <= last; ++i) {
        chosen.push_back(std::move(all[i]));
      }
    }
    begin = end;
  }
  return chosen;
}

/// Requested times of completed clusterings.
Result<std::set<std::string>> FindClusterings(const lake::hudi::Table& hudi,
                                              const lake::hudi::Timeline& timeline,
                                              const lake::FindingSink& findings,
                                              const Budget& budget) {
  std::vector<lake::hudi::Instant> replacing;
  for (const auto& instant : timeline.instants) {
    if (instant.state == lake::hudi::State::kCompleted &&
        instant.action == lake::hudi::Action::kReplaceCommit) {
      replacing.push_back(instant);
    }
  }
  TRY_ASSIGN(auto unread, hudi.ReadOperations(replacing, budget));
  for (auto& finding : unread) findings(std::move(finding));
  std::set<std::string> clusterings;
  for (const auto& instant : replacing) {
    if (instant.operation == "CLUSTER") clusterings.insert(instant.requested);
  }
  return clusterings;
}

std::vector<GroupSlices> GroupsOf(const std::vector<FileSlice>& slices) {
  std::vector<GroupSlices> groups;
  for (size_t begin = 0; begin < slices.size();) {
    size_t end = begin + 1;
    while (end < slices.size() && slices[end].group == slices[begin].group) ++end;
    groups.push_back(GroupSlices(slices).subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

/// What a reading rests on.
struct Sources {
  lake::hudi::Timeline timeline;
  lake::hudi::CommittedInstants instants;
  std::vector<FileSlice> slices;
};

/// Half of the table would look like all of it.
Error GoneSince(const std::string& as_of, const lake::hudi::CleanedSlice& cleaned) {
  return {ErrorKind::kNotFound,
          fmt::format("the cleaner has removed files that the table consisted of at this instant, "
                      "as_of={} readable_from={} clean={} file={}",
                      as_of, cleaned.readable_from, cleaned.clean, cleaned.file)};
}

Result<Sources> FindSources(const lake::hudi::Table& hudi, const ScanOptions& options,
                            const lake::FindingSink& findings, const Budget& budget) {
  lake::hudi::SliceOptions wanted;
  wanted.as_of = options.as_of;
  wanted.with_orphan_check = options.with_evidence;
  wanted.with_clean_check = true;
  wanted.loss_check = options.view == SliceView::kReadOptimized ? lake::hudi::LossCheck::kBaseFiles
                                                                : lake::hudi::LossCheck::kAllFiles;
  bool has_partition = options.partition_glob.empty();
  if (!has_partition) {
    wanted.wants_partition = [&](std::string_view path) {
      const bool matches = MatchesGlob(options.partition_glob, path);
      has_partition = has_partition || matches;
      return matches;
    };
  }
  TRY_ASSIGN(auto all, hudi.ReadFileSlices(wanted, budget));
  if (!has_partition) {
    findings({"no_partition", options.partition_glob, "no partition of the table matches"});
  }
  if (all.cleaned) return std::unexpected(GoneSince(*options.as_of, *all.cleaned));
  if (options.as_of && all.instants.newest().empty() && all.slices.empty()) {
    return Fail(
        ErrorKind::kInvalidArgument,
        fmt::format("the table has no commit up to this instant, as_of={}", *options.as_of));
  }
  std::set<std::string> told_of;  // so that no commit is told of twice
  for (auto& finding : all.findings) {
    told_of.insert(finding.place);
    findings(std::move(finding));
  }
  const auto with_logs = std::ranges::find_if(
      all.slices, [](const FileSlice& slice) { return slice.is_latest && !slice.logs.empty(); });
  if (hudi.properties().type == lake::hudi::TableType::kCopyOnWrite &&
      with_logs != all.slices.end()) {
    findings({"table_type_mismatch", with_logs->logs.front().key,
              "hoodie.table.type is COPY_ON_WRITE or missing and the table has log files: they are "
              "read here, while readers of Hudi pass over them"});
  }
  // Behind the slices: what was committed since then does not count.
  TRY_ASSIGN(auto timeline, hudi.ReadTimeline({.with_archived = options.with_history}, budget));
  // What was committed later is not looked at.
  for (const auto& instant : timeline.instants) {
    if (options.as_of && instant.requested > *options.as_of) told_of.insert(instant.file);
  }
  std::set<std::string> clusterings;
  if (options.with_history) {
    const auto tell_once = [&](lake::Finding finding) {
      if (told_of.insert(finding.place).second) findings(std::move(finding));
    };
    TRY_ASSIGN(clusterings, FindClusterings(hudi, timeline, tell_once, budget));
  }
  if (options.with_evidence) {
    TRY_ASSIGN(auto unread, hudi.ReadOperations(timeline.instants, budget));
    for (auto& finding : unread) {
      if (told_of.insert(finding.place).second) findings(std::move(finding));
    }
  }
  auto slices =
      SlicesToRead(std::move(all.slices), options.with_history, all.instants, clusterings);
  return Sources{std::move(timeline), std::move(all.instants), std::move(slices)};
}

/// Empty when no column was ever renamed.
Result<ColumnNamesAt> FindColumnNames(const storage::ObjectStore& store,
                                      const std::optional<TableSchema>& said,
                                      const lake::hudi::CommittedInstants& instants,
                                      const Budget& budget) {
  if (!said || said->internal_json.empty()) return ColumnNamesAt();
  TRY_ASSIGN(const std::string history, ReadSchemaHistory(store, instants, budget));
  TRY_ASSIGN(SchemaVersions versions, SchemaVersions::Parse(said->internal_json, history));
  if (!versions.has_renames()) return ColumnNamesAt();
  auto shared = std::make_shared<const SchemaVersions>(std::move(versions));
  return ColumnNamesAt([shared](std::string_view instant) { return shared->NamesAt(instant); });
}

/// Partitions with history, else single groups.
std::vector<std::span<const GroupSlices>> UnitsOf(std::span<const GroupSlices> groups,
                                                  bool by_partition) {
  std::vector<std::span<const GroupSlices>> units;
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    const auto& partition = groups[begin].back().group.partition;
    while (by_partition && end < groups.size() && groups[end].back().group.partition == partition) {
      ++end;
    }
    units.push_back(groups.subspan(begin, end - begin));
    begin = end;
  }
  return units;
}

/// What the folders of `slices` say about dropped columns; empty when none was.
Result<ConstantsIn> FindConstants(const std::vector<FileSlice>& slices,
                                  const lake::hudi::TableProperties& properties,
                                  const std::vector<std::string>& dropped,
                                  const lake::avro::Schema& schema) {
  if (dropped.empty()) return ConstantsIn();
  std::map<std::string, std::vector<columnar::ConstantColumn>, std::less<>> by_folder;
  for (const FileSlice& slice : slices) {
    const std::string& folder = slice.group.partition;
    if (by_folder.contains(folder)) continue;
    TRY_ASSIGN(by_folder[folder], ConstantsOf(folder, properties, dropped, schema));
  }
  const auto shared = std::make_shared<const decltype(by_folder)>(std::move(by_folder));
  return ConstantsIn([shared](std::string_view folder) -> const auto& {
    static const std::vector<columnar::ConstantColumn> kNone;
    const auto found = shared->find(folder);
    return found == shared->end() ? kNone : found->second;
  });
}

/// How a profile's reader makes rows of files whose columns differ from the table's. Readers up to
/// 0.15 show dropped columns of rows from logs as null, those of 1.0 renamed fields inside others
/// (0.14.0 and 1.0.2, run).
FileColumns FileColumnsOf(const merge::Profile& profile) {
  FileColumns columns;
  if (profile.name == "event-time" || profile.name == "commit-time") return columns;
  const auto release = profile.read.release;
  columns.fills_logs = release >= merge::Release::k1_0_0;
  columns.finds_nested_in_logs = !columns.fills_logs || release >= merge::Release::k1_1;
  return columns;
}

}  // namespace

struct TableScan::State {
  ScanTable table;
  ScanOptions options;
  BaseWriters writers;
  std::vector<FileSlice> slices;
  std::vector<GroupSlices> groups;  // of `slices`; one slice each without history
  std::vector<std::span<const GroupSlices>> units;
};

TableScan::TableScan(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableScan::TableScan(TableScan&&) noexcept = default;
TableScan& TableScan::operator=(TableScan&&) noexcept = default;
TableScan::~TableScan() = default;

const RowType& TableScan::type() const {
  return state_->table.type;
}

const std::vector<FileSlice>& TableScan::slices() const {
  return state_->slices;
}

const ScanTable& TableScan::table() const {
  return state_->table;
}

const BaseWriters& TableScan::writers() const {
  return state_->writers;
}

std::span<const GroupSlices> TableScan::groups() const {
  return state_->groups;
}

Result<TableScan> TableScan::Open(const storage::ObjectStore& store,
                                  const lake::ColumnReaderSource& columns, ScanOptions options,
                                  lake::FindingSink findings, const Budget& budget) {
  TRY_ASSIGN(const auto hudi, lake::hudi::Table::Open(store, columns, budget));
  const auto& properties = hudi.properties();
  TRY_ASSIGN(const auto settings, merge::ReadTableSettings(properties.all));
  TRY_ASSIGN(auto profile, merge::MakeProfile(options.profile, settings, options.engine));
  TRY(CheckOptions(options, profile));
  const auto one_at_a_time = [mutex = std::make_shared<std::mutex>(),
                              sink = std::move(findings)](lake::Finding finding) {
    const std::lock_guard lock(*mutex);
    if (sink) sink(std::move(finding));
  };
  TRY_ASSIGN(Sources sources, FindSources(hudi, options, one_at_a_time, budget));
  const std::optional<std::string> newest = sources.instants.newest();
  TRY_ASSIGN(const auto said, ReadTableSchema(store, properties, sources.timeline, newest, budget));
  TRY_ASSIGN(auto names_at, FindColumnNames(store, said, sources.instants, budget));
  if (!said && sources.slices.empty() && !options.with_evidence) {
    return Fail(
        ErrorKind::kNotFound,
        fmt::format("nothing says the columns of the table: no commit has its schema, and no "
                    "file of it is read, newest_commit={}",
                    newest->empty() ? "none" : *newest));
  }
  const auto dropped = DroppedColumns(properties);
  TRY_ASSIGN(const auto schema, FindSchema(store, said, sources.slices, dropped, budget));
  TRY_ASSIGN(auto constants_in, FindConstants(sources.slices, properties, dropped, schema));
  TRY_ASSIGN(auto table_columns, TableColumns::Make(schema, properties, settings));
  const bool has_logs = std::ranges::any_of(
      sources.slices, [](const FileSlice& slice) { return !slice.logs.empty(); });
  const bool merges = options.with_history || (options.view == SliceView::kSnapshot && has_logs);
  TRY_ASSIGN(auto type,
             RowType::Make(schema, ColumnsWanted(options, schema, table_columns, merges)));
  auto places = table_columns.PlacesIn(type);
  FileColumns of_files = FileColumnsOf(profile);
  of_files.names_at = std::move(names_at);
  of_files.constants_in = std::move(constants_in);
  auto state = std::make_unique<State>(State{
      ScanTable{&store, properties, std::move(sources.instants), std::move(profile),
                std::move(table_columns), std::move(type), std::move(places), std::move(of_files),
                std::max<uint64_t>(options.memory_max / std::max(options.threads, 1u), 1),
                one_at_a_time, budget},
      std::move(options),
      {},
      std::move(sources.slices),
      {},
      {}});
  // Not a scan's share: how many run at once is no reason to refuse a block.
  state->table.block_bytes_max = state->options.memory_max;
  if (state->options.with_history) {
    state->writers = BaseWriters(sources.timeline, properties.type);
  }
  state->groups = GroupsOf(state->slices);
  state->units = UnitsOf(state->groups, state->options.with_history);
  return TableScan(std::move(state));
}

size_t TableScan::unit_count() const {
  return state_->units.size();
}

std::span<const GroupSlices> TableScan::unit_groups(size_t unit) const {
  return state_->units[unit];
}

Result<ScanCounts> TableScan::RunUnit(size_t unit, const BatchSink& sink) const {
  const auto groups = state_->units[unit];
  const FileSlice& named = groups.front().back();
  TextCheck text;
  const BatchSink checked = [&](columnar::Batch batch) {
    text.Look(batch);
    return sink(std::move(batch));
  };
  auto read = state_->options.with_history
                  ? ScanHistory(state_->table, state_->writers, groups, checked)
                  : ScanSlice(state_->table, named, state_->options.view, checked);
  if (auto finding = text.Found(PlaceOf(named))) state_->table.findings(*std::move(finding));
  if (!read) return std::unexpected(std::move(read).error().With(PlaceOf(named)));
  ScanCounts counts;
  counts.in_slices = *read;
  for (const GroupSlices group : groups) counts.slices += group.size();
  return counts;
}

Result<ScanCounts> TableScan::Run(const BatchSink& sink) const {
  ScanCounts counts;
  for (size_t unit = 0; unit < unit_count(); ++unit) {
    TRY_ASSIGN(const ScanCounts of_unit, RunUnit(unit, sink));
    counts += of_unit;
  }
  return counts;
}

}  // namespace tidemark::scan
