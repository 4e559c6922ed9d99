#include "lake/hudi/archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "lake/avro/container.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- Avro and log blocks as a test writes them
// -----------------------------------------------------

std::string Number(size_t value) {
  std::string bytes;
  for (value *= 2; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Text(const std::string& text) {
  return Number(text.size()) + text;
}
// A value of ["null", "string"]; "-" is null.
std::string Nullable(const std::string& text) {
  return text == "-" ? Number(0) : Number(1) + Text(text);
}

template <class T>
std::string Big(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
  }
  return bytes;
}

constexpr std::string_view kEntrySchema =
    R"({"type":"record","name":"HoodieArchivedMetaEntry","fields":[
  {"name":"hoodieCommitMetadata","type":["null",{"type":"record","name":"HoodieCommitMetadata","fields":[
    {"name":"extraMetadata","type":["null",{"type":"map","values":"string"}]},
    {"name":"operationType","type":["null","string"]}]}]},
  {"name":"commitTime","type":["null","string"]},
  {"name":"actionType","type":["null","string"]},
  {"name":"actionState","type":["null","string"]},
  {"name":"hoodieReplaceCommitMetadata","type":["null",{"type":"record","name":"HoodieReplaceCommitMetadata",
    "fields":[{"name":"extraMetadata","type":["null",{"type":"map","values":"string"}]}]}]},
  {"name":"stateTransitionTime","type":["null","string"]}]})";

struct EntryText {
  std::string time;
  std::string action;
  std::string state = "COMPLETED";
  std::string checkpoint = "-";  // of hoodieCommitMetadata
  std::string replace_checkpoint = "-";
  std::string transition = "-";
};

std::string Extra(const std::string& checkpoint) {
  return Number(1) + Number(2) + Text("deltastreamer.checkpoint.key") + Text(checkpoint) +
         Text("schema") + Text("{}") + Number(0);
}
std::string Entry(const EntryText& entry) {
  std::string bytes = entry.checkpoint == "-"
                          ? Number(0)
                          : Number(1) + Extra(entry.checkpoint) + Nullable("UPSERT");
  bytes += Nullable(entry.time) + Nullable(entry.action) + Nullable(entry.state);
  bytes +=
      entry.replace_checkpoint == "-" ? Number(0) : Number(1) + Extra(entry.replace_checkpoint);
  return bytes + Nullable(entry.transition);
}

std::string Block(const std::vector<std::string>& records) {
  std::string content = Big(int32_t{3}) + Big(static_cast<int32_t>(records.size()));
  for (const auto& record : records) content += Big(static_cast<int32_t>(record.size())) + record;
  std::string body = Big(int32_t{1}) + Big(int32_t{3}) + Big(int32_t{1}) + Big(int32_t{2}) +
                     Big(static_cast<int32_t>(kEntrySchema.size())) + std::string(kEntrySchema) +
                     Big(static_cast<int64_t>(content.size())) + content + Big(int32_t{0});
  const auto size = static_cast<int64_t>(body.size() + 8);
  return "#HUDI#" + Big(size) + body + Big(size + 6);
}
std::string Log(const std::vector<EntryText>& entries) {
  std::vector<std::string> records;
  for (const auto& entry : entries) records.push_back(Entry(entry));
  return Block(records);
}

std::string Container(const std::string& schema, const std::string& record) {
  const std::string sync = "0123456789abcdef";
  return std::string(avro::kContainerMagic) + Number(1) + Text("avro.schema") + Text(schema) +
         Number(0) + sync + Number(1) + Text(record) + sync;
}
std::string MergePlan(const std::string& merged, const std::vector<std::string>& candidates) {
  std::string record = Number(candidates.empty() ? 0 : candidates.size());
  for (const auto& candidate : candidates) record += Text(candidate);
  if (!candidates.empty()) record += Number(0);
  return Container(R"({"type":"record","name":"HoodieMergeArchiveFilePlan","fields":[
      {"name":"candidate","type":{"type":"array","items":"string"}},
      {"name":"mergedArchiveFileName","type":["null","string"]}]})",
                   record + Nullable(merged));
}

// --- A store whose objects have the time the test says
// --------------------------------------------

class TimedStore final : public storage::ObjectStore {
 public:
  std::function<void(std::string_view key)> before_read;

  // `time`: 14 digits.
  void Set(const std::string& key, const std::string& bytes,
           const std::string& time = "20240101000000") {
    ASSERT_THAT(store_.Put(key, bytes, {}), IsOk());
    times_[key] = *InstantToWallTime(time + "000");
  }

  const std::string& uri() const override { return store_.uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override {
    TRY_ASSIGN(auto listing, store_.List(folder, options, budget));
    for (auto& object : listing.objects) object.modified = times_.at(object.key);
    return listing;
  }
  Result<std::string> Read(std::string_view key, const Budget& budget) const override {
    if (before_read) before_read(key);
    return store_.Read(key, budget);
  }
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override {
    return store_.ReadRange(key, offset, length, budget);
  }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override {
    return store_.Stat(key, budget);
  }
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.Put(key, bytes, budget);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.PutIfAbsent(key, bytes, budget);
  }
  Status Remove(std::string_view key, const Budget& budget) override {
    return store_.Remove(key, budget);
  }

 private:
  storage::MemoryStore store_;
  std::map<std::string, WallTime> times_;
};

// "Parquet" as lines of "instant|completion|action|metadata"; "-" is null, "!" is no Parquet.
class LineReader final : public ColumnReader {
 public:
  Status ReadRows(std::string_view bytes, std::span<const std::string> columns,
                  const RowSink& sink) const override {
    EXPECT_THAT(columns, ElementsAre("instantTime", "completionTime", "action", "metadata"));
    if (bytes == "!") return Fail(ErrorKind::kCorrupt, "parquet file is damaged");
    while (!bytes.empty()) {
      auto line = bytes.substr(0, bytes.find('\n'));
      bytes.remove_prefix(line.size() + 1);
      std::optional<std::string_view> row[4];
      for (auto& cell : row) {
        const auto text = line.substr(0, line.find('|'));
        line.remove_prefix(std::min(line.size(), text.size() + 1));
        if (text != "-") cell = text;
      }
      TRY(sink(row));
    }
    return {};
  }
};

std::string Commit(const std::string& checkpoint) {
  return R"({"extraMetadata":{"schema":"{}","streamer.checkpoint.key.v2":")" + checkpoint +
         R"("},"operationType":"UPSERT"})";
}

// --- Reading and showing
// --------------------------------------------------------------------------

TableProperties Properties(int layout) {
  TableProperties properties;
  properties.layout = layout;
  properties.archive_folder = layout == 1 ? ".hoodie/archived" : ".hoodie/timeline/history";
  properties.all["hoodie.archivelog.folder"] = "history";
  return properties;
}

// "20240101000000001 commit C checkpoint"; state R, I or C, or "!" for an unreadable commit.
std::string Show(const ArchivedInstant& archived) {
  const auto& instant = archived.instant;
  EXPECT_TRUE(instant.is_archived);
  std::string text = fmt::format(
      "{} {} {}", instant.requested, instant.action_name,
      archived.defect.empty() ? StateName(instant.state).substr(0, 1) : std::string_view("!"));
  if (instant.planned_as) text += fmt::format(" as {}", ActionName(*instant.planned_as));
  if (instant.completed) text += " done " + *instant.completed;
  for (const auto& [key, value] : archived.metadata.extra) text += " " + value;
  return text;
}

class ArchiveTest : public ::testing::Test {
 protected:
  static std::string LogKey(const std::string& name) { return ".hoodie/archived/" + name; }
  static std::string HistoryKey(const std::string& name) {
    return ".hoodie/timeline/history/" + name;
  }
  void SetLog(const std::string& number, const std::vector<EntryText>& entries,
              const std::string& time = "20240101000000") {
    store_.Set(LogKey(".commits_.archive." + number), Log(entries), time);
  }
  void SetHistory(const std::vector<std::string>& files, int version = 1) {
    std::string names;
    for (const auto& file : files) {
      names +=
          (names.empty() ? "" : ",") + fmt::format("{{\"fileName\":\"{}\",\"fileLen\":1}}", file);
    }
    store_.Set(HistoryKey(fmt::format("manifest_{}", version)), "{\"files\":[" + names + "]}");
    store_.Set(HistoryKey("_version_"), std::to_string(version));
  }

  Result<Archive> Read(int layout, const ArchiveOptions& options = {}) {
    return ReadArchive(store_, Properties(layout), columns_, options, {});
  }
  // The instants, one per line, and behind them "lost" when the archive is not whole, and the kinds
  // of its findings.
  std::string ReadText(int layout) {
    const auto archive = Read(layout);
    if (!archive) return archive.error().message;
    std::string text;
    for (const auto& instant : archive->instants) text += Show(instant) + "\n";
    if (!archive->is_whole) text += "lost\n";
    for (const auto& finding : archive->findings) text += finding.kind + "\n";
    return text;
  }

  TimedStore store_;
  LineReader reader_;
  ColumnReaderSource columns_ = [this]() -> Result<const ColumnReader*> { return &reader_; };
};

TEST_F(ArchiveTest, TableWithoutArchiveHasNoInstants) {
  EXPECT_EQ(ReadText(1), "");
  EXPECT_EQ(ReadText(2), "");
}

TEST_F(ArchiveTest, HighestStateOfAnInstantCounts) {
  SetLog("1_1-0-1", {{"001", "commit", "REQUESTED"}, {"001", "commit", "INFLIGHT"}});
  SetLog("2_1-0-1", {{"001", "commit", "COMPLETED", "a"}, {"002", "clean", "INFLIGHT"}});
  EXPECT_EQ(ReadText(1), "001 commit C a\n002 clean I\n");
}

TEST_F(ArchiveTest, MissingStateMeansCompleted) {
  SetLog("1", {{"001", "commit", "-", "a"}});
  EXPECT_EQ(ReadText(1), "001 commit C a\n");
}

TEST_F(ArchiveTest, CompactionIsTheCommitItCompletesAs) {
  SetLog("1", {{"001", "compaction", "REQUESTED"},
               {"001", "compaction", "INFLIGHT"},
               {"001", "commit", "COMPLETED", "a"},
               {"001", "clean", "COMPLETED"}});
  EXPECT_EQ(ReadText(1), "001 clean C\n001 commit C as compaction a\n");
}

TEST_F(ArchiveTest, ReplaceCommitHasMetadataOfItsOwn) {
  SetLog("1", {{"001", "replacecommit", "COMPLETED", "-", "r"},
               {"002", "replacecommit", "COMPLETED", "wrong", "r"},
               {"003", "replacecommit", "COMPLETED", "c", "-"},
               {"004", "commit", "COMPLETED", "-", "-"}});
  EXPECT_EQ(ReadText(1),
            "001 replacecommit C r\n002 replacecommit C r\n003 replacecommit C c\n004 commit C\n");
}

TEST_F(ArchiveTest, DetailsOfALogEntryAreKept) {
  SetLog("1", {{"001", "commit", "COMPLETED", "a", "-", "20240101000000001"}});
  ASSERT_OK_ASSIGN(const auto archive, Read(1));
  const auto& archived = archive.instants.at(0);
  EXPECT_EQ(archived.instant.file, ".hoodie/archived/.commits_.archive.1");
  EXPECT_EQ(archived.instant.operation, "UPSERT");
  EXPECT_EQ(archived.transition_time, "20240101000000001");
  EXPECT_TRUE(archived.has_metadata);
  EXPECT_THAT(archived.metadata.extra, ElementsAre(std::pair("deltastreamer.checkpoint.key", "a")));
  EXPECT_EQ(archive.files_read, 1U);
  ASSERT_OK_ASSIGN(const auto plain, Read(1, {.with_extra = false}));
  EXPECT_THAT(plain.instants.at(0).metadata.extra, IsEmpty());
  EXPECT_EQ(plain.instants.at(0).instant.operation, "UPSERT");
}

TEST_F(ArchiveTest, UnreadableEntryCostsItselfOnly) {
  const std::string good = Entry({"002", "commit", "COMPLETED", "b"});
  for (const std::string& bad :
       {Entry({"-", "commit"}), Entry({"00x", "commit"}), Entry({"", "commit"}),
        Entry({"001", "-"}), Entry({"001", "commit", "NIL"}), good + "x", std::string("\x08")}) {
    store_.Set(LogKey(".commits_.archive.1"), Block({bad, good}));
    EXPECT_EQ(ReadText(1), "002 commit C b\nlost\nunreadable_archive_entry\n");
  }
}

TEST_F(ArchiveTest, TornTailIsNoLossAndDamageIsOne) {
  const std::string first = Log({{"001", "commit", "COMPLETED", "a"}});
  const std::string second = Log({{"002", "commit", "COMPLETED", "b"}});
  store_.Set(LogKey(".commits_.archive.1"), first + second.substr(0, second.size() - 1));
  EXPECT_EQ(ReadText(1), "001 commit C a\ntorn_tail\n");
  store_.Set(LogKey(".commits_.archive.1"), first.substr(0, first.size() - 9) + second);
  EXPECT_EQ(ReadText(1), "002 commit C b\nlost\ncorrupt_block\n");
  store_.Set(LogKey(".commits_.archive.1"), "no log file at all");
  EXPECT_EQ(ReadText(1), "lost\ncorrupt_block\n");
  store_.Set(LogKey(".commits_.archive.1"), "");
  EXPECT_EQ(ReadText(1), "");
}

TEST_F(ArchiveTest, UnfinishedMergeIsNoLossWhileItsSourcesAreThere) {
  SetLog("1", {{"001", "commit", "COMPLETED", "a"}});
  SetLog("2", {{"002", "commit", "COMPLETED", "b"}});
  const std::string merged = Log({{"001", "commit", "COMPLETED", "a"}});
  store_.Set(LogKey(".commits_.archive.3"), merged + "damaged bytes");
  store_.Set(LogKey("mergeArchivePlan"),
             MergePlan(".commits_.archive.3", {".commits_.archive.1", ".commits_.archive.2"}));
  EXPECT_EQ(ReadText(1), "001 commit C a\n002 commit C b\n");
  store_.Set(LogKey("mergeArchivePlan"),
             MergePlan(".commits_.archive.3", {".commits_.archive.0", ".commits_.archive.1"}));
  EXPECT_THAT(ReadText(1), HasSubstr("lost\ncorrupt_block\n"));
  store_.Set(LogKey("mergeArchivePlan"), MergePlan(".commits_.archive.2", {}));
  EXPECT_THAT(ReadText(1), HasSubstr("lost\ncorrupt_block\n"));
  store_.Set(LogKey("mergeArchivePlan"), "");
  EXPECT_THAT(ReadText(1), HasSubstr("lost\ncorrupt_block\n"));
}

TEST_F(ArchiveTest, UnknownActionIsKeptAndReportedOnce) {
  SetLog("1", {{"001", "defragment"}, {"002", "defragment"}});
  EXPECT_EQ(ReadText(1), "001 defragment C\n002 defragment C\nunknown_action\n");
}

TEST_F(ArchiveTest, HistoryIsWhatTheManifestNames) {
  store_.Set(HistoryKey("1_2_0.parquet"), "001|002|commit|" + Commit("a") + "\n003|004|clean|-\n");
  store_.Set(HistoryKey("9_1_1.parquet"), "005|006|deltacommit|-\n");
  store_.Set(HistoryKey("0_9_0.parquet"), "007|008|commit|-\n");
  SetHistory({"1_2_0.parquet", "9_1_1.parquet"});
  EXPECT_EQ(ReadText(2),
            "001 commit C done 002 a\n003 clean C done 004\n005 deltacommit C done 006\n");
}

TEST_F(ArchiveTest, VersionFileSaysWhichManifest) {
  store_.Set(HistoryKey("1_1_0.parquet"), "001|002|clean|-\n");
  store_.Set(HistoryKey("2_2_0.parquet"), "003|004|clean|-\n");
  SetHistory({"2_2_0.parquet"}, 10);
  SetHistory({"1_1_0.parquet"}, 9);
  EXPECT_EQ(ReadText(2), "001 clean C done 002\n");
  for (const std::string version : {"", "x", "-1", "99999999999999999999"}) {
    store_.Set(HistoryKey("_version_"), version);
    EXPECT_EQ(ReadText(2), "003 clean C done 004\n") << "the greatest number, not the last name";
  }
  store_.Set(HistoryKey("_version_"), "9\n");
  EXPECT_EQ(ReadText(2), "001 clean C done 002\n");
  ASSERT_THAT(store_.Remove(HistoryKey("_version_"), {}), IsOk());
  EXPECT_EQ(ReadText(2), "003 clean C done 004\n");
}

TEST_F(ArchiveTest, MissingPartsOfAHistoryAreLosses) {
  store_.Set(HistoryKey("1_1_0.parquet"), "001|002|clean|-\n");
  EXPECT_EQ(ReadText(2), "lost\nunreadable_archive_manifest\n") << "data and no manifest";
  SetHistory({"1_1_0.parquet", "2_2_0.parquet"});
  EXPECT_EQ(ReadText(2), "001 clean C done 002\nlost\nmissing_archive_file\n");
  store_.Set(HistoryKey("_version_"), "2");
  EXPECT_EQ(ReadText(2), "lost\nunreadable_archive_manifest\n") << "a manifest that is not there";
  store_.Set(HistoryKey("manifest_2"), "{\"files\":[{\"fileName\":\"../x.parquet\"}]}");
  EXPECT_EQ(ReadText(2), "lost\nunreadable_archive_manifest\n");
}

TEST_F(ArchiveTest, FileThatAppearsWithTheNextManifestIsFound) {
  store_.Set(HistoryKey("1_1_0.parquet"), "001|002|clean|-\n");
  SetHistory({"1_1_0.parquet"}, 1);
  bool is_done = false;
  store_.before_read = [&](std::string_view key) {
    if (!key.ends_with("manifest_1") || is_done) return;
    // The writer compacts between our listing and our reading.
    is_done = true;
    ASSERT_THAT(store_.Remove(HistoryKey("manifest_1"), {}), IsOk());
    ASSERT_THAT(store_.Remove(HistoryKey("1_1_0.parquet"), {}), IsOk());
    store_.Set(HistoryKey("1_1_1.parquet"), "001|002|clean|-\n");
    SetHistory({"1_1_1.parquet"}, 2);
  };
  EXPECT_EQ(ReadText(2), "001 clean C done 002\n");
}

TEST_F(ArchiveTest, DamagedRowsAndFilesOfAHistoryAreLosses) {
  store_.Set(HistoryKey("1_1_0.parquet"),
             "-|002|clean|-\n003|004|-|-\n005|-|commit|{\n006|007|clean|x\n");
  store_.Set(HistoryKey("2_2_0.parquet"), "!");
  SetHistory({"1_1_0.parquet", "2_2_0.parquet"});
  EXPECT_EQ(ReadText(2),
            "005 commit !\n006 clean C done 007\nlost\nunreadable_archive_entry\n"
            "unreadable_archive_entry\nunreadable_archive_file\nunreadable_commit\n");
}

TEST_F(ArchiveTest, LegacyArchiveOfAnUpgradedTableIsReadToo) {
  store_.Set(HistoryKey("2_2_0.parquet"), "002|003|deltacommit|" + Commit("b") + "\n");
  SetHistory({"2_2_0.parquet"});
  store_.Set(".hoodie/history/.commits_.archive.1_1-0-1",
             Log({{"001", "deltacommit", "COMPLETED", "a"},
                  {"002", "deltacommit", "REQUESTED"},
                  {"002", "deltacommit", "COMPLETED", "b"}}));
  store_.Set(".hoodie/archived/.commits_.archive.1_1-0-1",
             Log({{"000", "deltacommit", "COMPLETED", "old"}}));
  store_.Set(HistoryKey(".commits_.archive.7"), Log({{"0001", "clean"}}));
  EXPECT_EQ(ReadText(2),
            "000 deltacommit C old\n0001 clean C\n001 deltacommit C a\n"
            "002 deltacommit C done 003 b\n");
}

TEST_F(ArchiveTest, MetadataThatOnlyTheLegacyArchiveHasIsKept) {
  store_.Set(HistoryKey("2_2_0.parquet"), "002|003|commit|-\n004|005|commit|{\n");
  SetHistory({"2_2_0.parquet"});
  store_.Set(".hoodie/archived/.commits_.archive.1",
             Log({{"002", "commit", "COMPLETED", "b"}, {"004", "commit", "COMPLETED", "d"}}));
  EXPECT_EQ(ReadText(2), "002 commit C done 003 b\n004 commit C done 005 d\n");
}

TEST_F(ArchiveTest, MissingParquetModuleIsUnavailableOnlyWhenItIsNeeded) {
  columns_ = []() -> Result<const ColumnReader*> {
    return Fail(ErrorKind::kUnavailable, "no module");
  };
  store_.Set(".hoodie/archived/.commits_.archive.1", Log({{"001", "clean"}}));
  EXPECT_EQ(ReadText(2), "001 clean C\n");
  store_.Set(HistoryKey("1_1_0.parquet"), "001|002|clean|-\n");
  SetHistory({"1_1_0.parquet"});
  EXPECT_THAT(Read(2), IsError(ErrorKind::kUnavailable, HasSubstr("no module")));
  columns_ = nullptr;
  EXPECT_THAT(Read(2), IsError(ErrorKind::kUnavailable, HasSubstr("no reader for Parquet")));
}

// --- The walk
// -------------------------------------------------------------------------------------

class ArchiveWalkTest : public ArchiveTest {
 protected:
  void SetUp() override {
    SetLog("1",
           {{"20240101000000001", "commit", "COMPLETED", "a"},
            {"20240102000000001", "commit", "COMPLETED", "b"}},
           "20240103000000");
    SetLog("2",
           {{"20240110000000001", "commit", "COMPLETED", "c"},
            {"20240109000000001", "commit", "COMPLETED", "d"}},
           "20240111000000");
    // A merge: young file, old instants.
    SetLog("3", {{"20231231000000001", "commit", "COMPLETED", "e"}}, "20240112000000");
  }
  Result<ArchiveWalk> Open() { return ArchiveWalk::Open(store_, Properties(1), columns_, {}, {}); }
};

TEST_F(ArchiveWalkTest, FilesAreReadOnlyAsFarAsNeeded) {
  ASSERT_OK_ASSIGN(auto walk, Open());
  EXPECT_EQ(walk.file_count(), 3U);
  const std::vector<std::pair<std::string, size_t>> expected = {
      {"c", 2}, {"d", 2}, {"b", 3}, {"a", 3}, {"e", 3}};
  for (const auto& [checkpoint, files_read] : expected) {
    ASSERT_OK_ASSIGN(const auto next, walk.Next({}));
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->metadata.extra.at("deltastreamer.checkpoint.key"), checkpoint);
    EXPECT_EQ(walk.files_read(), files_read);
  }
  ASSERT_OK_ASSIGN(const auto end, walk.Next({}));
  EXPECT_FALSE(end.has_value());
}

TEST_F(ArchiveWalkTest, FileChangedUpToSixteenHoursBeforeMayHoldNewerInstants) {
  // Instants are in the writer's zone, up to 14 hours ahead of the file's clock.
  SetLog("1", {{"20240109120000000", "commit", "COMPLETED", "x"}}, "20240109080000");
  ASSERT_OK_ASSIGN(auto walk, Open());
  ASSERT_OK_ASSIGN(const auto first, walk.Next({}));
  EXPECT_EQ(first->instant.requested, "20240110000000001");
  EXPECT_EQ(walk.files_read(), 2U) << "00:00:00.000 is the newest that file 1 can hold";
  ASSERT_OK_ASSIGN(const auto second, walk.Next({}));
  EXPECT_EQ(second->instant.requested, "20240109120000000");
  SetLog("1", {{"20240109120000000", "commit", "COMPLETED", "x"}}, "20240109080001");
  ASSERT_OK_ASSIGN(auto other, Open());
  ASSERT_TRUE(other.Next({}).has_value());
  EXPECT_EQ(other.files_read(), 3U);
}

TEST_F(ArchiveWalkTest, FileThatIsGoneIsAConflictAndAReaderOfAllStartsOver) {
  ASSERT_OK_ASSIGN(auto walk, Open());
  ASSERT_THAT(store_.Remove(LogKey(".commits_.archive.2"), {}), IsOk());
  EXPECT_THAT(walk.Next({}), IsError(ErrorKind::kConflict, HasSubstr(".commits_.archive.2")));
  SetUp();
  bool is_done = false;
  store_.before_read = [&](std::string_view key) {
    if (is_done || !key.ends_with("archive.1")) return;
    is_done = true;
    ASSERT_THAT(store_.Remove(LogKey(".commits_.archive.1"), {}), IsOk());
  };
  EXPECT_EQ(ReadText(1),
            "20231231000000001 commit C e\n20240109000000001 commit C d\n"
            "20240110000000001 commit C c\n");
}

TEST_F(ArchiveWalkTest, BudgetAndStoreErrorsAreNotFindings) {
  ASSERT_OK_ASSIGN(auto walk, Open());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(walk.Next(Budget::For(std::chrono::seconds(9), stop.get_token())),
              IsError(ErrorKind::kCancelled, HasSubstr("")));
  ASSERT_TRUE(walk.Next({}).has_value()) << "a walk goes on where it was stopped";
}

// --- Names and small files
// ------------------------------------------------------------------------

TEST(ArchiveFilesTest, LogNamesAreTold) {
  for (const char* name : {".commits_.archive.1", ".commits_.archive.23_1-0-1"}) {
    EXPECT_TRUE(IsArchiveLogName(name)) << name;
  }
  for (const char* name : {"", ".commits_.archive.", ".commits_.archive.x", "commits_.archive.1",
                           "..commits_.archive.1_1-0-1.crc", ".commits_.archive.1_1-0-1.crc",
                           "mergeArchivePlan", "1_1_0.parquet"}) {
    EXPECT_FALSE(IsArchiveLogName(name)) << name;
  }
}

TEST(ArchiveFilesTest, ManifestIsReadOrRefused) {
  EXPECT_THAT(ParseArchiveManifest(R"({ "files" : [ { "fileName" : "a", "fileLen" : 1 },
                                       { "fileName" : "b" } ] })"),
              IsOkAnd(std::vector<std::string>{"a", "b"}));
  EXPECT_THAT(ParseArchiveManifest(R"({"files":[]})"), IsOkAnd(std::vector<std::string>{}));
  EXPECT_THAT(ParseArchiveManifest({}), IsError(ErrorKind::kCorrupt, HasSubstr("empty")));
  for (const char* text :
       {"", "[]", "{}", "1", R"({"files":{}})", R"({"files":[1]})", R"({"files":[{}]})",
        R"({"files":[{"fileName":""}]})", R"({"files":[{"fileName":".."}]})",
        R"({"files":[{"fileName":"a/b"}]})", R"({"files":[{"fileName":1}]})", R"({"files":[)"}) {
    EXPECT_THAT(ParseArchiveManifest(text), IsError(ErrorKind::kCorrupt, HasSubstr("manifest")))
        << text;
  }
}

TEST(ArchiveFilesTest, MergePlanIsReadOrRefused) {
  ASSERT_OK_ASSIGN(const auto plan, ParseArchiveMergePlan(MergePlan("m", {"a", "/x/archived/b"})));
  EXPECT_EQ(plan.merged, "m");
  EXPECT_THAT(plan.candidates, ElementsAre("a", "b"));
  EXPECT_THAT(ParseArchiveMergePlan(MergePlan("-", {"a"})),
              IsError(ErrorKind::kCorrupt, HasSubstr("names no file")));
  EXPECT_THAT(ParseArchiveMergePlan(""), IsError(ErrorKind::kCorrupt, HasSubstr("container")));
}

}  // namespace
}  // namespace tidemark::lake::hudi
