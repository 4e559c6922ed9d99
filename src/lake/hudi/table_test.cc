#include "lake/hudi/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/hudi_table.h"
#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

using OpenTableTest = HudiTableTest;

TEST_F(OpenTableTest, AFolderWithoutPropertiesIsNoTable) {
  EXPECT_THAT(Open(), IsError(ErrorKind::kNotFound,
                              "no Hudi table is here table=memory://test "
                              "missing=.hoodie/hoodie.properties"));
}

TEST_F(OpenTableTest, TheBackupServesWhileTheMainFileIsAway) {
  Properties(1);
  ASSERT_OK_ASSIGN(const auto bytes, memory_.Read(".hoodie/hoodie.properties", Budget()));
  const std::string defects[] = {"", bytes.substr(0, bytes.size() / 2),
                                 "hoodie.table.name=t\nhoodie.table.checksum=1\n"};
  Write("hoodie.properties.backup", bytes);
  for (const std::string& defect : defects) {
    SCOPED_TRACE(defect);
    Write("hoodie.properties", defect);
    ASSERT_OK_ASSIGN(const Table table, Open());
    EXPECT_EQ(table.properties().version, 6);
  }
  Remove("hoodie.properties");
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(OpenTableTest, LinesThatATornFileLostAreTakenFromTheBackup) {
  Properties(2);
  ASSERT_OK_ASSIGN(const auto bytes, memory_.Read(".hoodie/hoodie.properties", Budget()));
  Write("hoodie.properties.backup", bytes);
  Write("hoodie.properties",
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\n"
        "hoodie.table.checksum=498511606\n");
  ASSERT_OK_ASSIGN(const Table table, Open());
  EXPECT_EQ(table.properties().version, 9);
}

/// Java ends every line of properties that it writes, and begins with the time.
TEST_F(OpenTableTest, PropertiesThatEndInsideALineAreSaidToBeTorn) {
  Properties(1);
  ASSERT_OK_ASSIGN(const auto bytes, memory_.Read(".hoodie/hoodie.properties", Budget()));
  const std::string torn = "#Properties saved on 2026\n" + bytes + "hoodie.table.pre";
  for (const auto& [text, is_torn] :
       {std::pair(bytes, false), std::pair(torn, true), std::pair("#\n" + bytes, false),
        std::pair(bytes + "edited.by=hand", false)}) {
    SCOPED_TRACE(text);
    Write("hoodie.properties", text);
    ASSERT_OK_ASSIGN(const Table table, Open());
    EXPECT_EQ(table.properties().is_torn, is_torn);
    ASSERT_OK_ASSIGN(const auto slices, table.ReadFileSlices({}, Hurry()));
    EXPECT_EQ(slices.findings.size(), is_torn ? 1 : 0);
  }
}

TEST_F(OpenTableTest, PropertiesOverTheBoundAreRefusedAndSaidSo) {
  Write("hoodie.properties", "hoodie.table.name=t\n" + std::string(kPropertiesSizeMax, '#'));
  EXPECT_THAT(Open(), IsError(ErrorKind::kExhausted,
                              AllOf(HasSubstr("object=memory://test/.hoodie/hoodie.properties"),
                                    HasSubstr("bytes_max=16777216"))));
}

TEST_F(OpenTableTest, AnOldTableNeedsNeitherChecksumNorVersion) {
  Write("hoodie.properties", "hoodie.table.name=t\n");
  ASSERT_OK_ASSIGN(const Table table, Open());
  EXPECT_EQ(table.properties().version, 0);
}

TEST_F(OpenTableTest, AnUpdateThatEndsWhileWeLookIsNoMissingTable) {
  store_.before_read = [&](std::string_view key) {
    if (key.ends_with(".backup")) Properties(1);  // the update is over: main is back, backup gone
  };
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(OpenTableTest, UnreadablePropertiesAreCorruptAfterAFewTries) {
  Write("hoodie.properties", "hoodie.table.name=t\nhoodie.table.checksum=1\n");
  EXPECT_THAT(Open(), IsError(ErrorKind::kCorrupt,
                              "memory://test/.hoodie/hoodie.properties: properties checksum does "
                              "not match stored=1 computed=498511606"));
  EXPECT_LE(store_.reads.size(), 8u);
}

TEST_F(OpenTableTest, ANewerTableIsUnsupported) {
  Write("hoodie.properties", "hoodie.table.name=t\nhoodie.table.version=10\n");
  EXPECT_THAT(Open(), IsError(ErrorKind::kUnsupported, HasSubstr("newest_readable=9")));
}

using OperationsTest = HudiTableTest;

TEST_F(OperationsTest, CompletedCommitsAreFilledAndTheRestLeftAlone) {
  Properties(1);
  Write("001.commit", JsonCommit("k", "v", "BULK_INSERT"));
  Write("002.clean", "x");
  Write("003.replacecommit", "{");
  Write("004.inflight", JsonCommit("k", "v"));
  Write("005.commit", "");
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(Timeline timeline, table.ReadTimeline({}, Hurry()));
  ASSERT_EQ(timeline.instants.size(), 5u);
  ASSERT_OK_ASSIGN(const auto findings, table.ReadOperations(timeline.instants, Hurry()));
  EXPECT_EQ(timeline.instants[0].operation, "BULK_INSERT");
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(timeline.instants[i].operation, std::nullopt) << i;
  EXPECT_THAT(findings, ElementsAre(AllOf(Field(&Finding::kind, "unreadable_commit"),
                                          Field(&Finding::place, ".hoodie/003.replacecommit"))));
}

TEST_F(OperationsTest, ACommitThatIsGoneStaysWithout) {
  Properties(1);
  Write("001.commit", CommitAt(1));
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(Timeline timeline, table.ReadTimeline({}, Hurry()));
  Remove("001.commit");
  EXPECT_THAT(table.ReadOperations(timeline.instants, Hurry()), IsOk());
  EXPECT_EQ(timeline.instants[0].operation, std::nullopt);
}

}  // namespace
}  // namespace tidemark::lake::hudi
