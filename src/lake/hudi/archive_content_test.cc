// Real archive files (testdata/hudi/logs/README.md), whole and damaged.
#include "lake/hudi/archive_content.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Show(const ArchivedInstant& archived) {
  const auto& instant = archived.instant;
  return fmt::format("{} {} {} {}", instant.requested, instant.action_name,
                     StateName(instant.state), instant.operation.value_or("-"));
}

std::vector<std::string> Show(const ArchiveContent& content) {
  std::vector<std::string> lines;
  for (const auto& instant : content.instants) lines.push_back(Show(instant));
  return lines;
}

TEST(ArchiveLogTest, EveryStateOfARealInstantIsRead) {
  const auto content = ReadArchiveLog(support::ReadTestdata("hudi/logs/archive.log"), "x", {});
  EXPECT_THAT(Show(content), ElementsAre("20261130024329162 deltacommit REQUESTED -",
                                         "20261130024329162 deltacommit INFLIGHT -",
                                         "20261130024329162 deltacommit COMPLETED UPSERT"));
  EXPECT_THAT(content.findings, IsEmpty());
  EXPECT_TRUE(content.is_whole);
  EXPECT_THAT(
      content.instants[2].metadata.extra,
      ElementsAre(std::pair("streamer.checkpoint.key.v2", "a14_upgraded_6_8_9,0:3,1:3,2:3")));
  EXPECT_EQ(content.instants[2].transition_time, "20261130024353717");
}

TEST(ArchiveLogTest, RealCompactionChangesItsActionWhenItCompletes) {
  const auto content =
      ReadArchiveLog(support::ReadTestdata("hudi/logs/archive_compaction.log"), "x", {});
  EXPECT_THAT(Show(content), ElementsAre("20261130033513761 deltacommit REQUESTED -",
                                         "20261130033513761 deltacommit INFLIGHT -",
                                         "20261130033513761 deltacommit COMPLETED UPSERT",
                                         "20261130033519466 compaction REQUESTED -",
                                         "20261130033519466 compaction INFLIGHT -",
                                         "20261130033519466 commit COMPLETED COMPACT"));
  EXPECT_TRUE(content.is_whole);
}

TEST(ArchiveLogTest, EveryTruncationIsATornTail) {
  const std::string bytes = support::ReadTestdata("hudi/logs/archive.log");
  for (size_t size = 1; size < bytes.size(); size += size < 100 ? 1 : 13) {
    const auto content = ReadArchiveLog(std::string_view(bytes).substr(0, size), "x", {});
    EXPECT_THAT(content.instants, IsEmpty());
    ASSERT_EQ(content.findings.size(), 1U) << size;
    EXPECT_EQ(content.findings[0].kind, "torn_tail");
    EXPECT_TRUE(content.is_whole);
  }
}

TEST(ArchiveLogTest, ByteFlipIsAFindingOrAnotherText) {
  const std::string bytes = support::ReadTestdata("hudi/logs/archive.log");
  // The records stand at the end, behind a schema of 16 KB.
  const size_t schema_end = bytes.size() - 1200;
  for (size_t i = 0; i < bytes.size(); i += i < 100 || i >= schema_end ? 1 : 97) {
    for (const int mask : {0x01, 0x80}) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ mask);
      const auto content = ReadArchiveLog(flipped, "x", {});
      EXPECT_TRUE(content.instants.size() == 3 || !content.findings.empty()) << i << " " << mask;
      for (const auto& finding : content.findings) {
        EXPECT_THAT(finding.kind, AnyOf("corrupt_block", "torn_tail", "unknown_block",
                                        "unreadable_archive_entry"));
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
