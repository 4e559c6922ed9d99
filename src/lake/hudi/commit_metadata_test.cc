#include "lake/hudi/commit_metadata.h"

#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// In the shape Hudi 0.14.0 writes: two blanks of indent, " : " between name and value.
const std::string kStats = R"("partitionToWriteStats" : {
    "p1" : [ {
      "fileId" : "de136747-97d4-42d8-b339-396836b7aeb7-0",
      "path" : "p1/a}b]\"{[.parquet",
      "cdcStats" : null,
      "numWrites" : 12,
      "runtimeStats" : { "totalScanTime" : 0 }
    } ]
  })";
const std::string kExtra = R"("extraMetadata" : {
    "schema" : "{\"type\":\"record\",\"name\":\"ev\"}",
    "deltastreamer.checkpoint.key" : "orders,0:4,1:4"
  })";

const std::string kBody = "{\n  " + kStats + ",\n  \"compacted\" : false,\n  " + kExtra +
                          ",\n  \"operationType\" : \"UPSERT\"\n}";

CommitMetadata BodyMetadata() {
  CommitMetadata metadata;
  metadata.extra = {{"schema", R"({"type":"record","name":"ev"})"},
                    {"deltastreamer.checkpoint.key", "orders,0:4,1:4"}};
  metadata.operation = "UPSERT";
  return metadata;
}

TEST(CommitMetadataTest, ExtraMetadataIsFoundBehindTheWriteStats) {
  EXPECT_THAT(ParseCommitMetadata(kBody), IsOkAnd(BodyMetadata()));
}

TEST(CommitMetadataTest, ExtraMetadataIsFoundBeforeTheWriteStats) {
  EXPECT_THAT(ParseCommitMetadata("{" + kExtra + ",\"operationType\":\"UPSERT\"," + kStats + "}"),
              IsOkAnd(BodyMetadata()));
}

TEST(CommitMetadataTest, AnEmptyBodyIsEmptyMetadata) {
  EXPECT_THAT(ParseCommitMetadata(""), IsOkAnd(CommitMetadata{}));
}

TEST(CommitMetadataTest, MissingAndNullMembersAreEmpty) {
  EXPECT_THAT(ParseCommitMetadata("{}"), IsOkAnd(CommitMetadata{}));
  EXPECT_THAT(ParseCommitMetadata(
                  R"( {"extraMetadata":null,"operationType":null,"compacted":null,"new":[1,{}]} )"),
              IsOkAnd(CommitMetadata{}));
}

TEST(CommitMetadataTest, ACompactionSaysSo) {
  EXPECT_THAT(ParseCommitMetadata(R"({"compacted":true,"operationType":"COMPACT"})"),
              IsOkAnd(Field(&CommitMetadata::is_compacted, true)));
}

TEST(CommitMetadataTest, ValuesOfOtherTypesAreTakenAsHudiTakesThem) {
  EXPECT_THAT(ParseCommitMetadata(
                  R"({"extraMetadata":{"n" : 12 ,"b":true,"z":null,"e":"","u":"\u20ac\n"}})"),
              IsOkAnd(Field(&CommitMetadata::extra,
                            ElementsAre(Pair("b", "true"), Pair("e", ""), Pair("n", "12"),
                                        Pair("u", "\xe2\x82\xac\n")))));
}

TEST(CommitMetadataTest, TheLastOfEqualKeysWins) {
  EXPECT_THAT(ParseCommitMetadata(R"({"extraMetadata":{"a":"1","a":"2","b":"1","b":null}})"),
              IsOkAnd(Field(&CommitMetadata::extra, ElementsAre(Pair("a", "2")))));
}

TEST(CommitMetadataTest, WhatIsNoCommitBodyIsCorrupt) {
  for (const std::string body :
       {"  \n", "null", "[]", "42", "\"{}\"", "Obj", "PAR1", "{]", "{\"a\":1}{}", "{\"a\":1} x",
        "{\"extraMetadata\":[]}", "{\"extraMetadata\":{\"a\":{}}}", "{\"operationType\":{}}",
        "{\"compacted\":\"yes\"}", "{\"extraMetadata\":{\"a\":nul}}", "{\"a\" 1}", "{\"a\":}",
        "{\"extraMetadata\":{\"a\":\"\\x\"}}", "{\"p\":\"\xff\"}"}) {
    SCOPED_TRACE(body);
    EXPECT_THAT(ParseCommitMetadata(body), IsError(ErrorKind::kCorrupt, HasSubstr("commit body")));
  }
}

TEST(CommitMetadataTest, TheFirstBytesOfAStrangeBodyAreNamed) {
  EXPECT_THAT(ParseCommitMetadata("PAR1\x15"),
              IsError(ErrorKind::kCorrupt,
                      "commit body is neither JSON nor Avro size=5 first_bytes=5041523115"));
}

TEST(CommitMetadataTest, NoTruncatedBodyGivesMetadata) {
  const std::string compact =
      R"({"extraMetadata":{"deltastreamer.checkpoint.key":"orders,0:4"},"compacted":false,)"
      R"("partitionToWriteStats":{"p":[{"path":"a","x":{"y":[]}},{}]},"operationType":"UPSERT"})";
  for (const std::string& body : {kBody, compact}) {
    for (size_t size = 1; size < body.size(); ++size) {
      EXPECT_THAT(ParseCommitMetadata(body.substr(0, size)),
                  IsError(ErrorKind::kCorrupt, testing::_))
          << "cut to " << size << " bytes of " << body;
    }
  }
}

TEST(CommitMetadataTest, NoSingleByteFlipOutsideTheCheckpointChangesTheCheckpoint) {
  const std::string key = "deltastreamer.checkpoint.key";
  const size_t key_begin = kBody.find(key);
  const size_t value_end = kBody.find("1:4\"") + 4;
  for (size_t i = 0; i < kBody.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = kBody;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto parsed = ParseCommitMetadata(flipped);
      if (!parsed) {
        EXPECT_EQ(parsed.error().kind, ErrorKind::kCorrupt) << flipped;
      } else if ((i < key_begin || i >= value_end) && parsed->extra.contains(key)) {
        EXPECT_EQ(parsed->extra.at(key), "orders,0:4,1:4") << flipped;
      }
    }
  }
}

TEST(CommitMetadataTest, DeepNestingInTheStatsIsPassedOver) {
  const size_t depth = 100'000;
  const std::string deep = "{\"partitionToWriteStats\":" + std::string(depth, '[') +
                           std::string(depth, ']') + "," + kExtra + "}";
  EXPECT_THAT(ParseCommitMetadata(deep),
              IsOkAnd(Field(&CommitMetadata::extra, testing::SizeIs(2))));
}

}  // namespace
}  // namespace tidemark::lake::hudi
