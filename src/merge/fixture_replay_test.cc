// Real releases as witnesses: what they were given (events) and what their readers showed, for
// tables written by Spark and Flink with Hudi 0.14.0, 0.15.0, 1.0.2 and 1.1.1
// (testdata/hudi/merge/README.md). The events are folded as the table's layout has them and must
// end in the reader's own rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"
#include "support/testdata.h"

namespace tidemark::merge {
namespace {

using nlohmann::json;
using Rows = std::map<std::string, std::string>;

/// Where the events of a fixture lie.
enum class Layout {
  kLogs,          ///< every commit one append flush
  kBaseThenLogs,  ///< the first commit wrote base files (deletes of unknown keys are never written)
  kCompactEach,   ///< compaction after every commit
  kCompactEnd,    ///< base, logs, and one compaction at the end
  kLogsCompactEnd,
  kRewriteEach,     ///< copy-on-write, or inserts packed into small base files: merged on write
  kCompactBefore3,  ///< base, logs, compaction before the commit with number 3
  kSecondRewrites,  ///< base, a commit that rewrites it, then logs
};

struct Shape {
  Layout layout = Layout::kLogs;
  bool is_deduplicated = false;
  bool loses_delete_ordering = false;  ///< combine.before.upsert=false in 0.14
  size_t commits = SIZE_MAX;           ///< later ones never completed
};

/// Fixtures whose story is not all in their events.
const std::map<std::string, std::string> kLeftOut = {
    {"b_logonly_string_event_v9",
     "the in-memory index forgets deleted keys: one key, two file groups"},
    {"b_corrupt_tail_v9", "a log file is cut short; what its reader drops is a matter of blocks"},
    {"b_evolve_v9", "columns change, the ordering does not"},
    {"f014_x_overwrite", "a replacecommit removes file groups"},
    {"f014_x_compact2_clean",
     "asynchronous compactions: which commits each took is not written down"},
};

bool StartsWith(const std::string& name, std::string_view head) {
  return name.starts_with(head);
}
bool Contains(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

Shape ShapeOfFlink(const std::string& name) {
  Shape shape;
  if (Contains(name, "_compact_") && !Contains(name, "pending") && !Contains(name, "standalone")) {
    shape.layout = Layout::kCompactEach;
  }
  if (Contains(name, "standalone")) shape.layout = Layout::kLogsCompactEnd;
  if (Contains(name, "precombine")) shape.is_deduplicated = true;
  if (Contains(name, "killed")) shape.commits = 1;
  return shape;
}

Shape ShapeOfSpark(const std::string& name) {
  Shape shape;
  shape.is_deduplicated = !Contains(name, "combine_false") && !Contains(name, "combine_off");
  shape.loses_delete_ordering = name == "same_commit_combine_false";
  shape.layout = Layout::kBaseThenLogs;
  if (Contains(name, "lognobase")) shape.layout = Layout::kLogs;
  if (Contains(name, "compacted_each") || StartsWith(name, "b_compact_")) {
    shape.layout = Layout::kCompactEach;
  }
  if (Contains(name, "compacted_end")) shape.layout = Layout::kCompactEnd;
  if (Contains(name, "smallfile") || Contains(name, "cdc_cow")) shape.layout = Layout::kRewriteEach;
  if (name == "b2_compacted_then_logs_v9") shape.layout = Layout::kCompactBefore3;
  if (name == "simple_index_deletes_first") shape.layout = Layout::kSecondRewrites;
  return shape;
}

/// Ordering values from the texts and numbers of the fixtures.
class OrderingReader {
 public:
  explicit OrderingReader(const json& fixture) {
    const std::string type = fixture["orderingType"];
    const std::string hudi = fixture["hudi"];
    date_branch_ = StartsWith(hudi, "1.") ? DeleteBranch::kInt : DeleteBranch::kDate;
    size_t at = 0;
    while (at <= type.size()) {  // "long,string"; a comma inside "DECIMAL(20,6)" is no separator
      size_t end = at;
      for (int depth = 0; end < type.size() && (depth > 0 || type[end] != ','); ++end) {
        depth += type[end] == '(' ? 1 : type[end] == ')' ? -1 : 0;
      }
      columns_.push_back(ColumnOf(type.substr(at, end - at)));
      at = end + 1;
    }
  }

  OrderingValue Sentinel() const {
    return OrderingValue::DeletedInteger(DeleteBranch::kInt, 0, columns_[0]);
  }
  OrderingValue Read(const json& value, bool is_deleted) {
    if (value.is_null()) return is_deleted ? Sentinel() : OrderingValue::Null(columns_[0]);
    if (!value.is_array()) return One(value, columns_[0], is_deleted);
    auto& items = items_.emplace_back();
    for (size_t i = 0; i < value.size(); ++i)
      items.push_back(One(value[i], columns_[i], is_deleted));
    return OrderingValue::Array(items);
  }

 private:
  static OrderingColumn ColumnOf(std::string type) {
    for (char& c : type) c = static_cast<char>(std::tolower(c));
    if (type == "long" || type == "bigint") return {ColumnType::kLong, 0};
    if (type == "int") return {ColumnType::kInt, 0};
    if (type == "date") return {ColumnType::kDate, 0};
    if (type == "timestamp" || type == "timestamp(6)") return {ColumnType::kTimestampMicros, 0};
    if (type == "timestamp(3)") return {ColumnType::kTimestampMillis, 0};
    if (StartsWith(type, "decimal")) return {ColumnType::kDecimalFixed, 6};
    return {ColumnType::kString, 0};
  }

  std::string_view Keep(std::string bytes) { return bytes_.emplace_back(std::move(bytes)); }

  /// A decimal text as two's complement of 16 bytes.
  std::string_view DecimalBytes(const std::string& text, int scale) {
    const bool is_negative = text.starts_with('-');
    __extension__ typedef __int128 Int128;
    Int128 value = 0;
    int decimals = -1;
    for (const char c : text.substr(is_negative ? 1 : 0)) {
      if (c == '.') {
        decimals = 0;
        continue;
      }
      value = value * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    }
    for (int i = std::max(decimals, 0); i < scale; ++i) value *= 10;
    if (is_negative) value = -value;
    std::string bytes;
    for (int shift = 120; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(value >> shift));
    return Keep(std::move(bytes));
  }

  static int64_t Number(std::string_view text) {
    int64_t number = 0;
    for (const char c : text) number = number * 10 + (c - '0');
    return number;
  }
  static int64_t Days(std::string_view text) {
    const std::chrono::year_month_day date{
        std::chrono::year{static_cast<int>(Number(text.substr(0, 4)))},
        std::chrono::month{static_cast<unsigned>(Number(text.substr(5, 2)))},
        std::chrono::day{static_cast<unsigned>(Number(text.substr(8, 2)))}};
    return std::chrono::sys_days(date).time_since_epoch().count();
  }
  static int64_t Micros(std::string_view text) {
    std::string fraction(text.size() > 20 ? text.substr(20) : "");
    fraction.resize(6, '0');
    return ((Days(text) * 24 + Number(text.substr(11, 2))) * 60 + Number(text.substr(14, 2))) *
               60'000'000 +
           Number(text.substr(17, 2)) * 1'000'000 + Number(fraction);
  }

  OrderingValue One(const json& value, OrderingColumn column, bool is_deleted) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto integer = [&](DeleteBranch branch, int64_t number) {
      return is_deleted ? OrderingValue::DeletedInteger(branch, number, column)
                        : OrderingValue::OfInteger(column, number);
    };
    const auto whole = [&] { return text[0] == '-' ? -Number(text.substr(1)) : Number(text); };
    switch (column.type) {
      case ColumnType::kLong: return integer(DeleteBranch::kLong, whole());
      case ColumnType::kInt: return integer(DeleteBranch::kInt, whole());
      case ColumnType::kDate: return integer(date_branch_, Days(text));
      case ColumnType::kTimestampMicros: return integer(DeleteBranch::kLong, Micros(text));
      case ColumnType::kTimestampMillis: return integer(DeleteBranch::kLong, Micros(text) / 1000);
      case ColumnType::kDecimalFixed:
        return is_deleted ? *OrderingValue::DeletedBytes(DeleteBranch::kDecimal,
                                                         DecimalBytes(text, 15), column)
                          : *OrderingValue::OfBytes(column, DecimalBytes(text, 6));
      default:
        return is_deleted ? *OrderingValue::DeletedBytes(DeleteBranch::kString, Keep(text), column)
                          : *OrderingValue::OfBytes(column, Keep(text));
    }
  }

  std::vector<OrderingColumn> columns_;
  DeleteBranch date_branch_;
  std::deque<std::string> bytes_;
  std::deque<std::vector<OrderingValue>> items_;
};

Op OpOf(const std::string& kind, bool is_changelog) {
  if (is_changelog && kind == "-U") return Op::kOperationBefore;
  if (is_changelog && kind == "-D") return Op::kOperationDelete;
  return kind[0] == 'D' || kind == "-D" ? Op::kDelete : Op::kUpsert;
}

TableSettings SettingsOf(const json& fixture) {
  TableSettings settings;
  settings.version = fixture["tableVersion"];
  settings.ordering_fields = {"ordering"};
  const std::string mode = fixture.value("mergeMode", "EVENT_TIME_ORDERING");
  std::string payload = fixture.value("payload", "DefaultHoodieRecordPayload");
  if (settings.version < 8) {
    std::map<std::string, std::string> properties = {
        {"hoodie.table.version", "6"},
        {"hoodie.compaction.payload.class", "org.apache.hudi.common.model." + payload}};
    const auto read = ReadTableSettings(properties);
    settings.payload = read->payload;
    settings.payload_class = read->payload_class;
    return settings;
  }
  // What the hoodie.properties of these tables say (release 1.1.1 turns payloads into modes).
  const bool is_commit_time = mode == "COMMIT_TIME_ORDERING" || Contains(mode, "Overwrite");
  settings.mode = is_commit_time ? MergeMode::kCommitTime : MergeMode::kEventTime;
  if (Contains(mode, "PartialUpdate") || Contains(mode, "NonDefaults")) {
    settings.partial_update_mode = "IGNORE_DEFAULTS";
  }
  return settings;
}

std::string ProfileOf(const json& fixture) {
  const std::string hudi = fixture["hudi"];
  if (StartsWith(hudi, "0.14")) return "hudi-0.14";
  if (StartsWith(hudi, "0.15")) return "hudi-0.15";
  return StartsWith(hudi, "1.0") ? "hudi-1.0.2" : "hudi-1.1";
}

/// One fixture, its events as versions by key and commit. A row handle numbers the values.
class Replay {
 public:
  Replay(const json& fixture, Shape shape) : fixture_(fixture), shape_(shape), ordering_(fixture) {
    const bool is_changelog = Contains(fixture["name"], "changelog");
    uint32_t commit = 0;
    for (const auto& batch : fixture["events"]) {
      ++commit;
      uint32_t position = 0;
      for (const auto& event : batch) {
        Version version;
        version.op = OpOf(event[1], is_changelog);
        version.place = {commit, commit, version.op == Op::kDelete, position++};
        version.ordering = ordering_.Read(event[2], version.op == Op::kDelete);
        in_batch_.push_back(ordering_.Read(event[2], false));
        version.row = values_.size();
        values_.push_back(event[3].is_null() ? std::nullopt
                                             : std::optional(event[3].get<std::string>()));
        keys_[event[0]].push_back(version);
      }
    }
  }

  /// The rows that `reader` shows of what `writer` wrote and compacted; nullopt: it throws.
  std::optional<Rows> Read(const Profile& writer, const Profile& reader) {
    Rows rows;
    for (const auto& [key, versions] : keys_) {
      const Merged merged = ReadKey(writer, reader, versions);
      if (merged.outcome == Merged::Outcome::kReaderFails) return std::nullopt;
      if (merged.is_live()) rows[key] = ValueOf(merged);
    }
    return rows;
  }

  /// Event time over the events as the source sent them.
  Rows Right(const Profile& event_time) {
    Rows rows;
    for (const auto& [key, versions] : keys_) {
      std::vector<Version> arrived;
      for (Version version : versions) {
        if (version.place.commit > shape_.commits) continue;
        version.place = {version.place.commit, version.place.position + 1, 0, 0};
        arrived.push_back(version);
      }
      const Merged merged = MergeSlice(event_time.read, nullptr, arrived);
      if (merged.is_live()) rows[key] = ValueOf(merged);
    }
    return rows;
  }

 private:
  Merged ReadKey(const Profile& writer, const Profile& reader,
                 const std::vector<Version>& versions) {
    std::optional<Version> base;
    std::vector<Version> log;
    const size_t commits = std::min(fixture_["events"].size(), shape_.commits);
    for (uint32_t commit = 1; commit <= commits; ++commit) {
      if (shape_.layout == Layout::kCompactBefore3 && commit == 4) Compact(writer, base, log);
      WriteCommit(writer, commit, versions, base, log);
      if (shape_.layout == Layout::kCompactEach) Compact(writer, base, log);
    }
    if (shape_.layout == Layout::kCompactEnd || shape_.layout == Layout::kLogsCompactEnd) {
      Compact(writer, base, log);
    }
    return MergeSlice(reader.read, base ? &*base : nullptr, log);
  }

  void WriteCommit(const Profile& writer, uint32_t commit, const std::vector<Version>& versions,
                   std::optional<Version>& base, std::vector<Version>& log) {
    std::vector<Version> batch;
    for (const Version& version : versions) {
      if (version.place.commit == commit) batch.push_back(version);
    }
    if (shape_.is_deduplicated && !batch.empty()) batch = Deduplicate(writer, batch);
    for (Version& version : batch) {
      if (shape_.loses_delete_ordering && version.op == Op::kDelete) {
        version.ordering = ordering_.Sentinel();
      }
    }
    const bool is_base =
        commit == 1 && shape_.layout != Layout::kLogs && shape_.layout != Layout::kLogsCompactEnd;
    const bool is_rewrite = shape_.layout == Layout::kRewriteEach ||
                            (shape_.layout == Layout::kSecondRewrites && commit == 2);
    // A flush writes its data first and its deletes last.
    std::stable_partition(batch.begin(), batch.end(),
                          [](const Version& version) { return version.op != Op::kDelete; });
    if (is_base || is_rewrite) {
      if (!batch.empty()) base = CompactSlice(writer.read, base ? &*base : nullptr, batch);
    } else {
      log.insert(log.end(), batch.begin(), batch.end());
    }
  }

  /// In a batch a delete is still a row with its value, Flink's -D included; what is left of the
  /// batch becomes the record it was given as.
  std::vector<Version> Deduplicate(const Profile& writer, std::vector<Version> batch) const {
    std::vector<Version> rows = batch;
    for (Version& row : rows) {
      if (row.op != Op::kDelete || row.ordering.is_sentinel()) continue;
      row.op = Op::kDeletedRow;
      row.ordering = in_batch_[row.row];
    }
    const auto left = DedupBatch(writer.dedup, rows);
    std::erase_if(batch, [&](const Version& version) { return !left || version.row != left->row; });
    if (left && left->ordering.is_sentinel()) batch[0].ordering = left->ordering;
    return batch;
  }

  static void Compact(const Profile& writer, std::optional<Version>& base,
                      std::vector<Version>& log) {
    if (!log.empty()) base = CompactSlice(writer.read, base ? &*base : nullptr, log);
    log.clear();
  }

  /// The one column that is not key or ordering; null values are filled from the layers below.
  std::string ValueOf(const Merged& merged) const {
    std::optional<std::string> value = values_[merged.winner.row];
    for (const Version& layer : merged.layers) {
      if (!value) value = values_[layer.row];
    }
    return value.value_or("null");
  }

  const json& fixture_;
  Shape shape_;
  OrderingReader ordering_;
  std::map<std::string, std::vector<Version>> keys_;
  std::vector<std::optional<std::string>> values_;
  std::vector<OrderingValue> in_batch_;  // by row handle
};

Rows RowsOf(const json& rows) {
  Rows result;
  for (const auto& row : rows) {
    result[row[0]] = row[1].is_null() ? "null" : row[1].get<std::string>();
  }
  return result;
}

json Load(const std::string& file) {
  return json::parse(support::ReadTestdata("hudi/merge/" + file));
}

void ExpectReader(const json& fixture, const Shape& shape, Engine engine, const char* snapshot) {
  if (!fixture.contains(snapshot)) return;
  const auto profile = MakeProfile(ProfileOf(fixture), SettingsOf(fixture), engine);
  ASSERT_TRUE(profile.has_value()) << profile.error().message;
  // The engine of the snapshot reads; the table's own writer wrote and compacted.
  const auto writer =
      MakeProfile(ProfileOf(fixture), SettingsOf(fixture),
                  fixture.contains("flinkSnapshot") ? Engine::kFlink : Engine::kSpark);
  Replay replay(fixture, shape);
  const auto shown = replay.Read(*writer, *profile);
  if (fixture[snapshot].is_null()) {
    EXPECT_FALSE(shown.has_value()) << "the real reader throws";
    return;
  }
  ASSERT_TRUE(shown.has_value()) << "the real reader does not throw";
  EXPECT_THAT(*shown, testing::ContainerEq(RowsOf(fixture[snapshot]))) << snapshot;
  if (!fixture.contains("realByOrder")) return;
  for (const auto& [order, event] : fixture["realByOrder"].items()) {
    std::string key = order;
    std::erase(key, ',');
    const auto row = shown->find(key);
    EXPECT_EQ(row == shown->end() ? "" : row->second.substr(0, 2),
              event.is_null() ? "" : event.get<std::string>())
        << order;
  }
}

class FixtureReplayTest : public testing::TestWithParam<std::string> {};

TEST_P(FixtureReplayTest, EveryReaderShowsWhatItReallyShowed) {
  size_t checked = 0;
  for (const auto& fixture : Load(GetParam())) {
    const std::string name = fixture["name"];
    SCOPED_TRACE(name + ": " + fixture["story"].get<std::string>());
    if (kLeftOut.contains(name)) continue;
    const bool is_flink = fixture.contains("flinkSnapshot");
    const Shape shape = is_flink ? ShapeOfFlink(name) : ShapeOfSpark(name);
    ExpectReader(fixture, shape, Engine::kSpark, "sparkSnapshot");
    ExpectReader(fixture, shape, Engine::kFlink, "flinkSnapshot");
    ++checked;
  }
  EXPECT_GT(checked, 40u);
}

/// expectedEventTime of these says something else on purpose; their notes tell.
const std::map<std::string, std::string> kOtherExpectation = {
    {"b2_payload_partialupdate_v9", "the plain rules; the table asks for nulls to be filled"},
    {"df_delete_op", "none given"},
    {"null_ordering", "none given: the write failed"},
    {"f014_x_killed", "lists commits that never completed"},
    {"b_nullord_loglog_v9", "names the keys under test only"},
};

TEST_P(FixtureReplayTest, EventTimeGivesTheExpectedRows) {
  for (const auto& fixture : Load(GetParam())) {
    const std::string name = fixture["name"];
    SCOPED_TRACE(name + ": " + fixture["story"].get<std::string>());
    if (kLeftOut.contains(name) || kOtherExpectation.contains(name)) continue;
    if (!fixture.contains("expectedEventTime") || fixture["expectedEventTime"].is_null()) continue;
    Shape shape;
    Replay replay(fixture, shape);
    const auto event_time = MakeProfile("event-time", SettingsOf(fixture));
    EXPECT_THAT(replay.Right(*event_time),
                testing::ContainerEq(RowsOf(fixture["expectedEventTime"])));
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, FixtureReplayTest,
                         testing::Values("spark_0x.json", "spark_1x.json", "flink.json"),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

TEST(FixtureReplayTest11, ReadsTablesOf014AsRelease111Does) {
  const json by_name = Load("spark_1.1.1_reads_0x.json");
  size_t checked = 0;
  for (const auto& fixture : Load("spark_0x.json")) {
    const std::string name = fixture["name"];
    if (!by_name.contains(name)) continue;
    SCOPED_TRACE(name);
    const auto writer = MakeProfile("hudi-0.14", SettingsOf(fixture));
    const auto reader = MakeProfile("hudi-1.1", SettingsOf(fixture), Engine::kSpark);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    Replay replay(fixture, ShapeOfSpark(name));
    const auto shown = replay.Read(*writer, *reader);
    const json& real = by_name[name];
    if (real.is_object()) {
      EXPECT_FALSE(shown.has_value()) << real["error"];
    } else {
      ASSERT_TRUE(shown.has_value());
      EXPECT_THAT(*shown, testing::ContainerEq(RowsOf(real)));
    }
    ++checked;
  }
  EXPECT_GT(checked, 20u);
}

}  // namespace
}  // namespace tidemark::merge
