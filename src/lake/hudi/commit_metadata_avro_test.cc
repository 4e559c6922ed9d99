#include "lake/hudi/commit_metadata_avro.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lake/hudi/commit_metadata.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;

constexpr std::string_view kCheckpointKey = "streamer.checkpoint.key.v2";

/// A file of the timeline of a real table, written by Hudi 1.1.1.
std::string TimelineFile(const std::string& table, const std::string& name) {
  return support::ReadTestdata("hudi/tables/" + table + "/table/.hoodie/timeline/" + name);
}

std::string ResetCommit() {
  return TimelineFile("a07a_checkpoint_reset_v9", "20261130023257488_20261130023401510.commit");
}

TEST(AvroCommitMetadataTest, ARealCommitIsRead) {
  const std::string body = ResetCommit();
  ASSERT_EQ(body.size(), 4610u);
  ASSERT_OK_ASSIGN(const CommitMetadata metadata, ParseCommitMetadata(body));
  // As the index of the fixture has it (kafka.json).
  EXPECT_THAT(metadata.extra,
              Contains(Pair(kCheckpointKey, "a07a_checkpoint_reset_v9,0:5,1:5,2:5")));
  EXPECT_THAT(metadata.extra, Contains(Pair("streamer.checkpoint.reset.key.v2",
                                            "a07a_checkpoint_reset_v9,0:2,1:1,2:3")));
  EXPECT_EQ(metadata.operation, "UPSERT");
  EXPECT_FALSE(metadata.is_compacted);
}

TEST(AvroCommitMetadataTest, ACompactionSaysSoAndCarriesNoCheckpoint) {
  ASSERT_OK_ASSIGN(const CommitMetadata metadata,
                   ParseCommitMetadata(TimelineFile("a14_upgraded_6_8_9",
                                                    "20261130024735557_20261130024741900.commit")));
  EXPECT_EQ(metadata.operation, "COMPACT");
  EXPECT_TRUE(metadata.is_compacted);
  EXPECT_THAT(metadata.extra, testing::ElementsAre(Key("schema")));
}

TEST(AvroCommitMetadataTest, ARecordOfAnotherKindIsNoCommit) {
  const std::string clean =
      TimelineFile("a14_upgraded_6_8_9", "20261130024800607_20261130024809289.clean");
  EXPECT_THAT(
      ParseCommitMetadata(clean),
      IsError(ErrorKind::kUnsupported,
              HasSubstr("type=record name=org.apache.hudi.avro.model.HoodieCleanMetadata")));
}

TEST(AvroCommitMetadataTest, NoTruncatedBodyGivesMetadata) {
  const std::string body = ResetCommit();
  for (size_t size = 1; size < body.size(); ++size)
    EXPECT_THAT(ParseCommitMetadata(body.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
}

TEST(AvroCommitMetadataTest, BytesBehindTheLastBlockAreCorrupt) {
  EXPECT_THAT(ParseCommitMetadata(ResetCommit() + '\0'), IsError(ErrorKind::kCorrupt, _));
}

TEST(AvroCommitMetadataTest, NoByteFlipCrashesOrInventsACheckpoint) {
  const std::string body = ResetCommit();
  const std::string value = "a07a_checkpoint_reset_v9,0:5,1:5,2:5";
  const size_t value_begin = body.find(value);
  ASSERT_NE(value_begin, body.npos);
  for (size_t i = 0; i < body.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = body;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto metadata = ParseCommitMetadata(flipped);
      if (!metadata) continue;
      const auto found = metadata->extra.find(std::string(kCheckpointKey));
      const bool is_in_value = i + 2 >= value_begin && i < value_begin + value.size();
      if (found != metadata->extra.end() && !is_in_value) {
        EXPECT_EQ(found->second, value) << "byte " << i << " bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
