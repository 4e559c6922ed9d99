#include "lake/hudi/delete_block.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Read(const std::string& name) {
  return support::ReadTestdata("hudi/delete_blocks/" + name + ".bin");
}

LogBlock Block(std::string_view content) {
  LogBlock block;
  block.kind = LogBlockKind::kDelete;
  block.content = content;
  block.content_offset = 1000;
  return block;
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string OrderingText(const DeleteOrdering& ordering) {
  std::string text(DeleteBranchName(ordering.branch));
  if (!ordering.java_class.empty()) text = ordering.java_class;
  if (!ordering.is_stored) text += " unstored";
  switch (ordering.branch) {
    case DeleteBranch::kNull: return text;
    case DeleteBranch::kFloat:
    case DeleteBranch::kDouble: return text + fmt::format(" {}", ordering.real);
    case DeleteBranch::kString: return text + " " + std::string(ordering.bytes);
    case DeleteBranch::kBytes: return text + " " + Hex(ordering.bytes);
    case DeleteBranch::kDecimal:
      return text + fmt::format(" {} e-{}", Hex(ordering.bytes), ordering.scale);
    case DeleteBranch::kArray:
      for (const auto& item : ordering.items) text += " [" + OrderingText(item) + "]";
      return text;
    default: return text + fmt::format(" {}", ordering.integer);
  }
}

std::vector<std::string> Orderings(std::string_view content) {
  auto deletes = DeleteRecords::Open(Block(content));
  if (!deletes) return {"error: " + deletes.error().message};
  std::vector<std::string> lines;
  while (true) {
    auto record = deletes->Next();
    if (!record) return {"error: " + record.error().message};
    if (!*record) return lines;
    lines.push_back(OrderingText((*record)->ordering));
  }
}

std::vector<std::string> Keys(std::string_view content) {
  auto deletes = DeleteRecords::Open(Block(content));
  if (!deletes) return {"error: " + deletes.error().message};
  std::vector<std::string> lines;
  while (true) {
    auto record = deletes->Next();
    if (!record) return {"error: " + record.error().message};
    if (!*record) return lines;
    lines.push_back(std::string((*record)->partition.value_or("null")) + "/" +
                    std::string((*record)->key.value_or("null")));
  }
}

// What gen/DeleteBlocks.java puts in.
const std::string kLongKey(70, 'k');

TEST(DeleteBlockTest, Version1HasKeysOnly) {
  EXPECT_THAT(Keys(Read("v1_keys")), ElementsAre("p1/a", "p1/key:with,marks", "/" + kLongKey,
                                                 "dt=2026-01-31/schlüssel-中-😀", "p1/"));
  EXPECT_THAT(Orderings(Read("v1_keys")),
              ElementsAre("IntWrapper unstored 0", "IntWrapper unstored 0", "IntWrapper unstored 0",
                          "IntWrapper unstored 0", "IntWrapper unstored 0"));
}

TEST(DeleteBlockTest, Version2HasKeysToo) {
  EXPECT_THAT(Keys(Read("v2_integer")), ElementsAre("p1/a", "p1/key:with,marks", "/" + kLongKey,
                                                    "dt=2026-01-31/schlüssel-中-😀", "p1/"));
  EXPECT_THAT(Keys(Read("v2_none")), IsEmpty());
}

TEST(DeleteBlockTest, Version2NamesTheClassOfItsValues) {
  EXPECT_THAT(Orderings(Read("v2_integer")),
              ElementsAre("java.lang.Integer 0", "java.lang.Integer 1", "java.lang.Integer -1",
                          "java.lang.Integer 2147483647", "java.lang.Integer -2147483648"));
  EXPECT_THAT(
      Orderings(Read("v2_long")),
      ElementsAre("java.lang.Long 0", "java.lang.Long 1234567890123", "java.lang.Long -1",
                  "java.lang.Long 9223372036854775807", "java.lang.Long -9223372036854775808"));
  EXPECT_THAT(Orderings(Read("v2_string")),
              ElementsAre("java.lang.String 2026-01-31", "java.lang.String b", "java.lang.String ",
                          "java.lang.String ä中", "java.lang.String " + kLongKey));
  EXPECT_THAT(Orderings(Read("v2_string_shared")),
              ElementsAre("java.lang.String same text", "java.lang.String same text",
                          "java.lang.String p1"));
  EXPECT_THAT(Orderings(Read("v2_double")),
              ElementsAre("java.lang.Double 0", "java.lang.Double -2.25", "java.lang.Double nan"));
  EXPECT_THAT(Orderings(Read("v2_float")), ElementsAre("java.lang.Float 0", "java.lang.Float 1.5"));
  EXPECT_THAT(Orderings(Read("v2_boolean")),
              ElementsAre("java.lang.Boolean 1", "java.lang.Boolean 0"));
  EXPECT_THAT(Orderings(Read("v2_null")), ElementsAre("null", "java.lang.Long 7", "null"));
}

TEST(DeleteBlockTest, Version2HasDecimalsWithTheirScale) {
  // 2250000, -99999999999999999999, 0 and 1.
  EXPECT_THAT(
      Orderings(Read("v2_decimal")),
      ElementsAre("java.math.BigDecimal 225510 e-6", "java.math.BigDecimal fa9438a1d29cf00001 e-6",
                  "java.math.BigDecimal 00 e-0", "java.math.BigDecimal 01 e-0"));
}

TEST(DeleteBlockTest, Version2HasDatesAndTimes) {
  // 2026-01-01 in UTC and a millisecond before 1970.
  EXPECT_THAT(Orderings(Read("v2_sql_date")),
              ElementsAre("java.sql.Date 20454", "java.sql.Date 0"));
  EXPECT_THAT(Orderings(Read("v2_sql_timestamp")),
              ElementsAre("java.sql.Timestamp 1767225600123000", "java.sql.Timestamp 0"));
  EXPECT_THAT(Orderings(Read("v2_local_date")),
              ElementsAre("java.time.LocalDate 20484", "java.time.LocalDate -1"));
}

TEST(DeleteBlockTest, Version2HasTheTextClassOfEachAvro) {
  for (const std::string name : {"v2_utf8_avro18", "v2_utf8_avro111", "v2_utf8_registered"}) {
    EXPECT_THAT(Orderings(Read(name)),
                ElementsAre("org.apache.avro.util.Utf8 2026-01-31", "org.apache.avro.util.Utf8 ä",
                            "org.apache.avro.util.Utf8 ", "org.apache.avro.util.Utf8 abc"))
        << name;
  }
}

TEST(DeleteBlockTest, Version2MayMixClassesAndShareObjects) {
  EXPECT_THAT(Orderings(Read("v2_mixed")),
              ElementsAre("java.lang.Integer 7", "java.lang.String seven", "java.lang.Long 7",
                          "java.math.BigDecimal 46 e-1"));
  EXPECT_THAT(Keys(Read("v2_same_objects")), ElementsAre("p/k", "p/k", "p/k"));
  EXPECT_THAT(Orderings(Read("v2_same_objects")),
              ElementsAre("java.lang.Long 1", "java.lang.Long 2", "java.lang.Long 1"));
}

TEST(DeleteBlockTest, AnUnknownClassIsNamed) {
  const std::string content = Read("v2_unknown_class");
  EXPECT_THAT(DeleteRecords::Open(Block(content)),
              IsError(ErrorKind::kUnsupported, HasSubstr("java.util.UUID")));
}

TEST(DeleteBlockTest, Version3HasEveryBranch) {
  const std::string content = Read("v3_every_branch");
  EXPECT_THAT(Orderings(content),
              ElementsAre("null", "BooleanWrapper 1", "IntWrapper -7", "LongWrapper 1234567890123",
                          "FloatWrapper 1.5", "DoubleWrapper -2.25", "BytesWrapper 8001",
                          "StringWrapper 2025-12-02 08:30:08.453900", "DateWrapper 20000",
                          "DecimalWrapper 07fe5cf2bea000 e-15", "TimeMicrosWrapper 3600000000",
                          "TimestampMicrosWrapper 1700000000000000",
                          "ArrayWrapper [null] [LongWrapper 42] [StringWrapper z] "
                          "[LocalDateWrapper 19999]"));
  const auto keys = Keys(content);
  ASSERT_EQ(keys.size(), 13u);
  EXPECT_EQ(keys[2], "p/k2");
  EXPECT_EQ(keys[3], "p/null");
  EXPECT_EQ(keys[4], "null/k4");
}

TEST(DeleteBlockTest, RecordsStayGoodWhenTheReaderMoves) {
  const std::string content = Read("v2_string");
  ASSERT_OK_ASSIGN(auto deletes, DeleteRecords::Open(Block(content)));
  ASSERT_OK_ASSIGN(const auto first, deletes.Next());
  const DeleteRecords moved = std::move(deletes);
  EXPECT_EQ(moved.version(), 2);
  EXPECT_EQ(first->ordering.bytes, "2026-01-31");
  EXPECT_EQ(first->key, "a");
}

TEST(DeleteBlockTest, OtherBlocksAndVersionsAreUnsupported) {
  LogBlock data = Block("");
  data.kind = LogBlockKind::kAvroData;
  EXPECT_THAT(DeleteRecords::Open(data), IsError(ErrorKind::kUnsupported, HasSubstr("AVRO_DATA")));
  const std::string version4("\0\0\0\4\0\0\0\0", 8);
  EXPECT_THAT(DeleteRecords::Open(Block(version4)),
              IsError(ErrorKind::kUnsupported, HasSubstr("version=4")));
  // A record whose value has branch 13.
  const std::string branch13("\0\0\0\3\0\0\0\5\2\0\0\x1a\0", 13);
  ASSERT_OK_ASSIGN(auto deletes, DeleteRecords::Open(Block(branch13)));
  EXPECT_THAT(deletes.Next(), IsError(ErrorKind::kUnsupported, HasSubstr("branch=13")));
  EXPECT_THAT(deletes.Next(), IsError(ErrorKind::kUnsupported, _));
}

TEST(DeleteBlockTest, AClaimOfMoreThanCanBeThereIsDamage) {
  const std::string records("\0\0\0\3\0\0\0\6\xfe\xff\xff\xff\x0f\0", 14);
  ASSERT_OK_ASSIGN(auto deletes, DeleteRecords::Open(Block(records)));
  EXPECT_THAT(deletes.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("more than can be there")));
  const std::string behind("\0\0\0\3\0\0\0\2\0\0", 10);
  ASSERT_OK_ASSIGN(auto more, DeleteRecords::Open(Block(behind)));
  EXPECT_THAT(more.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("bytes follow")));
}

/// Reads to the end or the first error; the kind of the error.
std::optional<ErrorKind> KindOf(std::string_view content) {
  auto deletes = DeleteRecords::Open(Block(content));
  if (!deletes) return deletes.error().kind;
  while (true) {
    auto record = deletes->Next();
    if (!record) return record.error().kind;
    if (!*record) return std::nullopt;
    OrderingText((*record)->ordering);
  }
}

const std::string kSamples[] = {"v1_keys",         "v2_mixed",           "v2_decimal",
                                "v2_utf8_avro111", "v2_utf8_registered", "v2_local_date",
                                "v2_same_objects", "v3_every_branch"};

TEST(DeleteBlockTest, EveryTruncationIsDamage) {
  for (const auto& name : kSamples) {
    const std::string content = Read(name);
    ASSERT_GT(content.size(), 8u) << name;
    for (size_t size = 0; size < content.size(); ++size) {
      EXPECT_EQ(KindOf(content.substr(0, size)), ErrorKind::kCorrupt) << name << " " << size;
      if (size < 8) continue;
      // The same with a length that fits.
      std::string fitting = content.substr(0, size);
      for (int i = 0; i < 4; ++i)
        fitting[static_cast<size_t>(4 + i)] = static_cast<char>((size - 8) >> (24 - 8 * i));
      EXPECT_EQ(KindOf(fitting), ErrorKind::kCorrupt) << name << " " << size;
    }
  }
}

TEST(DeleteBlockTest, NoFlippedByteEndsTheProgram) {
  for (const auto& name : kSamples) {
    const std::string content = Read(name);
    for (size_t i = 0; i < content.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string flipped = content;
        flipped[i] = static_cast<char>(flipped[i] ^ flip);
        const auto kind = KindOf(flipped);
        EXPECT_TRUE(!kind || *kind == ErrorKind::kCorrupt || *kind == ErrorKind::kUnsupported ||
                    *kind == ErrorKind::kExhausted)
            << name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
