// What archived instants say of the table: the bodies of real instants, as either layout keeps
// them.
#include "lake/hudi/archive_entry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lake/avro/container.h"
#include "lake/hudi/archive_content.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsOkAnd;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr ArchiveOptions kWithFacts = {.with_facts = true};
const std::string kStory = "hudi/tables/timeline_story_cow/table/.hoodie/";
const std::string kRollback = kStory + "20261130022840699.rollback";
const std::string kSavepoint = kStory + "20261130022630305.savepoint";
const std::string kClean = kStory + "20261130022736826.clean";
const std::string kRestore =
    "hudi/tables/a09_savepoint_restore_v9/table/.hoodie/timeline/"
    "20261130022951763_20261130023044075.restore";
const std::string kReplace =
    "hudi/tables/c_story_mor_v9/table/.hoodie/timeline/"
    "20261130020902851_20261130020915587.replacecommit";

std::string Number(size_t value) {
  std::string bytes;
  for (value *= 2; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Nullable(const std::string& text) {
  return Number(1) + Number(text.size()) + text;
}

/// An entry of layout 1 around the record of a real file, in the field that Hudi's schema has for
/// it.
Result<ArchivedInstant> ReadEntryAround(const std::string& file, const std::string& field,
                                        const std::string& action, const ArchiveOptions& options) {
  const std::string body = support::ReadTestdata(file);
  TRY_ASSIGN(auto container, avro::Container::Open(body));
  const std::string record_schema = container.metadata().at("avro.schema");
  TRY_ASSIGN(const auto record, container.Next());
  TRY_ASSIGN(const size_t size, record->Size());
  const std::string bytes = Number(1) + body.substr(record->offset(), size) +
                            Nullable("20261130022840699") + Nullable(action) +
                            Nullable("COMPLETED");
  TRY_ASSIGN(const auto schema, avro::Schema::Parse(fmt::format(
                                    R"({{"type":"record","name":"HoodieArchivedMetaEntry","fields":[
      {{"name":"{}","type":["null",{}]}},{{"name":"commitTime","type":["null","string"]}},
      {{"name":"actionType","type":["null","string"]}},
      {{"name":"actionState","type":["null","string"]}}]}})",
                                    field, record_schema)));
  TRY_ASSIGN(const auto entry, avro::Datum::Open(schema.root(), bytes));
  return ReadArchivedEntry(entry, bytes.size(), options);
}

Result<ArchivedInstant> ReadRowAround(const std::string& body, const std::string& action,
                                      const ArchiveOptions& options) {
  const std::vector<std::optional<std::string_view>> row = {"20261130022840699",
                                                            "20261130022840999", action, body};
  return ReadHistoryRow(row, options);
}

TEST(ArchivedFactsTest, AServiceOfLayoutOneSaysWhatItsFileSaid) {
  struct Case {
    std::string file;
    std::string field;
    Action action;
  };
  for (const Case& each : {Case{kRollback, "hoodieRollbackMetadata", Action::kRollback},
                           Case{kSavepoint, "hoodieSavePointMetadata", Action::kSavepoint},
                           Case{kClean, "hoodieCleanMetadata", Action::kClean}}) {
    const std::string word(ActionName(each.action));
    ASSERT_OK_ASSIGN(const auto archived, ReadEntryAround(each.file, each.field, word, kWithFacts));
    EXPECT_THAT(ParseInstantFacts(each.action, support::ReadTestdata(each.file)),
                IsOkAnd(archived.facts))
        << word;
    EXPECT_THAT(archived.defect, IsEmpty());
    ASSERT_OK_ASSIGN(const auto lean, ReadEntryAround(each.file, each.field, word, {}));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(lean.facts)) << word;
  }
}

TEST(ArchivedFactsTest, ARowOfLayoutTwoSaysWhatItsFileSaid) {
  struct Case {
    std::string file;
    Action action;
  };
  for (const Case& each : {Case{kRollback, Action::kRollback}, Case{kRestore, Action::kRestore},
                           Case{kSavepoint, Action::kSavepoint}, Case{kClean, Action::kClean}}) {
    const std::string word(ActionName(each.action));
    const std::string body = support::ReadTestdata(each.file);
    ASSERT_OK_ASSIGN(const auto archived, ReadRowAround(body, word, kWithFacts));
    EXPECT_THAT(ParseInstantFacts(each.action, body), IsOkAnd(archived.facts)) << word;
    EXPECT_FALSE(archived.clean);  // not asked for
    ASSERT_OK_ASSIGN(const auto lean, ReadRowAround(body, word, {}));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(lean.facts)) << word;
  }
}

TEST(ArchivedFactsTest, FactsOfACommitHaveItsSchemasAndItsMetadataHasNot) {
  ASSERT_OK_ASSIGN(const auto archived,
                   ReadRowAround(support::ReadTestdata(kReplace), "replacecommit", kWithFacts));
  ASSERT_OK_ASSIGN(auto stats, ParseCommitStats(support::ReadTestdata(kReplace)));
  EXPECT_EQ(std::get<CommitStats>(archived.facts), stats);
  EXPECT_TRUE(stats.metadata.extra.erase("schema") == 1);
  EXPECT_TRUE(stats.metadata.extra.erase("latest_schema") == 1);
  EXPECT_EQ(archived.metadata, stats.metadata);
  EXPECT_EQ(archived.instant.operation, "INSERT_OVERWRITE");
}

// Read off the file with another reader.
TEST(ArchivedFactsTest, ARealCommitOfLayoutOneHasItsWriteStats) {
  const auto content =
      ReadArchiveLog(support::ReadTestdata("hudi/logs/archive.log"), "x", kWithFacts);
  ASSERT_EQ(content.instants.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(content.instants[1].facts));
  const auto& stats = std::get<CommitStats>(content.instants[2].facts);
  EXPECT_THAT(
      stats.partitions,
      ElementsAre(Pair("p0", ElementsAre(WriteStat{
                                 .file_id = "b882c178-a24a-4dde-9ebb-a090fc499a84-0",
                                 .path = "p0/b882c178-a24a-4dde-9ebb-a090fc499a84-0_0-1103-1503_"
                                         "20261130024329162.parquet",
                                 .previous = "",
                                 .records_written = 5,
                                 .inserted = 5,
                                 .bytes = 4147})),
                  Pair("p1", ElementsAre(WriteStat{
                                 .file_id = "83f71c52-f837-4fd6-b813-f9ccf56628ec-0",
                                 .path = "p1/83f71c52-f837-4fd6-b813-f9ccf56628ec-0_1-1103-1504_"
                                         "20261130024329162.parquet",
                                 .previous = "",
                                 .records_written = 4,
                                 .inserted = 4,
                                 .bytes = 4129}))));
  auto metadata = stats.metadata;
  EXPECT_EQ(metadata.extra.erase("schema"), 1u);
  EXPECT_EQ(metadata, content.instants[2].metadata);
}

TEST(ArchivedFactsTest, AnUnreadableBodyIsADefect) {
  for (const std::string word : {"commit", "clean", "rollback", "restore", "savepoint"}) {
    ASSERT_OK_ASSIGN(const auto archived, ReadRowAround("Obj\x01 torn", word, kWithFacts));
    EXPECT_FALSE(archived.defect.empty()) << word;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(archived.facts)) << word;
  }
}

TEST(ArchivedFactsTest, OfTwoRecordsTheFactsStay) {
  ASSERT_OK_ASSIGN(auto with, ReadRowAround(support::ReadTestdata(kClean), "clean", kWithFacts));
  ASSERT_OK_ASSIGN(auto without, ReadRowAround("", "clean", kWithFacts));
  const InstantFacts facts = with.facts;
  MergeArchived(without, with);
  EXPECT_EQ(without.facts, facts);
}

}  // namespace
}  // namespace tidemark::lake::hudi
