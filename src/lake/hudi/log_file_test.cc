#include "lake/hudi/log_file.h"

#include <gmock/gmock.h>

#include <vector>

#include "support/avro_text.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Integers as the format writes them.
template <class T>
std::string Big(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
  }
  return bytes;
}

// A sound block around any content.
std::string Block(int32_t version, int32_t ordinal, const std::string& schema,
                  const std::string& content) {
  std::string body = Big(version) + Big(ordinal);
  if (schema.empty()) {
    body += Big(int32_t{0});
  } else {
    body += Big(int32_t{1}) + Big(int32_t{2}) + Big(static_cast<int32_t>(schema.size())) + schema;
  }
  body += Big(static_cast<int64_t>(content.size())) + content + Big(int32_t{0});
  const auto size = static_cast<int64_t>(body.size() + 8);
  return "#HUDI#" + Big(size) + body + Big(size + 6);
}
std::string DataBlock(const std::string& content) {
  return Block(1, 3, "\"long\"", content);
}

struct Reading {
  std::vector<LogBlock> blocks;
  std::vector<Finding> findings;
  LogReader::Losses losses;

  // "AVRO_DATA@0 DELETE@1099"
  std::string Blocks() const {
    std::string text;
    for (const auto& block : blocks) {
      if (!text.empty()) text += " ";
      text += fmt::format("{}@{}", LogBlockKindName(block.kind), block.offset);
    }
    return text;
  }
  // "torn_tail corrupt_block"
  std::string Findings() const {
    std::string text;
    for (const auto& finding : findings) text += (text.empty() ? "" : " ") + finding.kind;
    return text;
  }
};

Reading Read(std::string_view bytes) {
  Reading reading;
  LogReader reader(bytes, "x.log",
                   [&](Finding finding) { reading.findings.push_back(std::move(finding)); });
  while (auto block = reader.Next()) reading.blocks.push_back(*std::move(block));
  reading.losses = reader.losses();
  return reading;
}

struct RealCase {
  std::string name;
  std::string blocks;
  std::string findings;
  LogReader::Losses losses;
};

TEST(LogReaderTest, RealFilesGiveTheirBlocksAndDamage) {
  const RealCase cases[] = {
      {"intact", "AVRO_DATA@0 DELETE@1099", "", {}},
      {"truncated_magic", "AVRO_DATA@0", "torn_tail", {0, 0, 1102 - 1099}},
      {"truncated_header", "AVRO_DATA@0", "torn_tail", {0, 0, 1119 - 1099}},
      {"truncated_content", "AVRO_DATA@0", "torn_tail", {0, 0, 1951 - 1099}},
      {"truncated_footer", "AVRO_DATA@0", "torn_tail", {0, 0, 1987 - 1099}},
      {"truncated_zero", "", "", {}},
      {"truncated_midfile", "AVRO_DATA@1069 DELETE@2168", "corrupt_block", {1, 1069, 0}},
      {"rollback_command", "COMMAND@0", "", {}},
      {"parquet_and_delete", "PARQUET_DATA@0 DELETE@4455", "", {}},
      {"log_compaction", "AVRO_DATA@0 DELETE@1529", "", {}},
      {"cdc", "CDC_DATA@0", "", {}},
      {"partial_update", "AVRO_DATA@0", "", {}},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    const std::string bytes = support::ReadTestdata("hudi/logs/" + row.name + ".log");
    const Reading reading = Read(bytes);
    EXPECT_EQ(reading.Blocks(), row.blocks);
    EXPECT_EQ(reading.Findings(), row.findings);
    EXPECT_EQ(reading.losses, row.losses);
  }
}

TEST(LogReaderTest, HeadersAreKeptByKey) {
  const std::string command = support::ReadTestdata("hudi/logs/rollback_command.log");
  const auto rollback = Read(command).blocks.at(0);
  EXPECT_EQ(rollback.Header(LogHeaderKey::kInstantTime), "20261130030909047");
  EXPECT_EQ(rollback.Header(LogHeaderKey::kTargetInstantTime), "20261130030845279");
  EXPECT_EQ(rollback.Header(LogHeaderKey::kCommandBlockType), "0");
  EXPECT_EQ(rollback.Header(LogHeaderKey::kSchema), "");
  EXPECT_EQ(rollback.content, "");
  EXPECT_EQ(rollback.size, command.size());
  const std::string partial = support::ReadTestdata("hudi/logs/partial_update.log");
  const auto data = Read(partial).blocks.at(0);
  EXPECT_EQ(data.Header(LogHeaderKey::kIsPartial), "true");
  EXPECT_EQ(data.Header(LogHeaderKey::kRecordPositions),
            "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA");
  EXPECT_EQ(data.Header(LogHeaderKey::kBaseFileInstantTimeOfRecordPositions), "20261130024918838");
  const std::string compaction = support::ReadTestdata("hudi/logs/log_compaction.log");
  EXPECT_EQ(Read(compaction).blocks.at(1).Header(LogHeaderKey::kCompactedBlockTimes),
            "20261130031130035,20261130031111572,20261130031051187,20261130031024894,"
            "20261130031009233");
  const std::string parquet = support::ReadTestdata("hudi/logs/parquet_and_delete.log");
  const auto content = Read(parquet).blocks.at(0).content;
  EXPECT_EQ(content.substr(0, 4), "PAR1");
  EXPECT_EQ(content.substr(content.size() - 4), "PAR1");
}

TEST(LogReaderTest, EveryTruncationIsATornTailUnlessItIsBetweenBlocks) {
  const std::string bytes = support::ReadTestdata("hudi/logs/intact.log");
  for (size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const Reading reading = Read(std::string_view(bytes).substr(0, size));
    EXPECT_THAT(reading.blocks, SizeIs(size < 1099 ? 0 : 1));
    EXPECT_EQ(reading.Findings(), size == 0 || size == 1099 ? "" : "torn_tail");
    EXPECT_EQ(reading.losses.torn_bytes, size < 1099 ? size : size - 1099);
  }
}

TEST(LogReaderTest, ByteFlipKeepsTheOtherBlock) {
  const std::string bytes = support::ReadTestdata("hudi/logs/intact.log");
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const Reading reading = Read(flipped);
      const bool has_other =
          std::any_of(reading.blocks.begin(), reading.blocks.end(), [&](const LogBlock& block) {
            return block.kind == (i < 1099 ? LogBlockKind::kDelete : LogBlockKind::kAvroData);
          });
      // A block whose follower has lost its magic is given up, as Hudi does.
      const bool is_magic = i >= 1099 && i < 1099 + 6;
      EXPECT_TRUE(has_other || is_magic) << i << " " << bit;
      EXPECT_TRUE(reading.blocks.size() == 2 || !reading.findings.empty()) << i << " " << bit;
      for (const auto& block : reading.blocks) {
        auto records = LogRecords::Open(block);
        while (records && records->records_left() > 0) {
          if (!records->Next()) break;
        }
      }
    }
  }
}

TEST(LogReaderTest, BytesBetweenBlocksGiveUpTheBlockBeforeThem) {
  const std::string block = DataBlock("a");
  const std::string bytes = block + "0123456789" + DataBlock("b");
  const Reading reading = Read(bytes);
  EXPECT_EQ(reading.Blocks(), fmt::format("AVRO_DATA@{}", block.size() + 10));
  EXPECT_EQ(reading.losses, (LogReader::Losses{1, block.size() + 10, 0}));
  EXPECT_THAT(reading.findings,
              ElementsAre(Finding{"corrupt_block", "x.log",
                                  fmt::format("log block is damaged, reason=no block follows it "
                                              "bytes={} offset=0",
                                              block.size() + 10)}));
}

TEST(LogReaderTest, FewBytesBehindTheLastBlockDoNotGiveItUp) {
  const std::string block = DataBlock("a");
  const std::string bytes = block + "junk";
  const Reading reading = Read(bytes);
  EXPECT_EQ(reading.Blocks(), "AVRO_DATA@0");
  EXPECT_EQ(reading.losses, (LogReader::Losses{1, 4, 0}));
}

TEST(LogReaderTest, FileThatIsNoLogIsOneDamagedStretch) {
  const Reading reading = Read("PAR1 and more than a magic");
  EXPECT_THAT(reading.blocks, IsEmpty());
  EXPECT_EQ(reading.losses, (LogReader::Losses{1, 26, 0}));
}

TEST(LogReaderTest, TornBlockWithAContradictionIsCorrupt) {
  // A content length larger than the block, in a file that ends before the block does.
  std::string bytes = DataBlock("0123456789");
  bytes[14 + 4 + 4 + 4 + 4 + 4 + 6 + 6] = 1;
  bytes.resize(bytes.size() - 20);
  EXPECT_EQ(Read(bytes).Findings(), "corrupt_block");
  const std::string endless = "#HUDI#" + Big(int64_t{1} << 60) + "abc";
  EXPECT_EQ(Read(endless).Findings(), "corrupt_block");
  const std::string negative = "#HUDI#" + Big(int64_t{-5}) + "abc";
  EXPECT_EQ(Read(negative).Findings(), "corrupt_block");
}

TEST(LogReaderTest, DamageInsideAWholeBlockCostsThatBlockOnly) {
  std::string bytes = DataBlock("0123456789");
  const size_t first = bytes.size();
  bytes += DataBlock("b");
  bytes[14 + 4 + 4 + 3] = 100;  // header entries
  const Reading reading = Read(bytes);
  EXPECT_EQ(reading.Blocks(), fmt::format("AVRO_DATA@{}", first));
  EXPECT_EQ(reading.losses, (LogReader::Losses{1, first, 0}));
}

TEST(LogReaderTest, UnknownKindAndVersionAreHandedOutAndReported) {
  const Reading kind = Read(Block(1, 7, "", "abc"));
  EXPECT_EQ(kind.Blocks(), "UNKNOWN@0");
  EXPECT_EQ(kind.blocks[0].ordinal, 7);
  EXPECT_EQ(kind.Findings(), "unknown_block");
  const Reading version = Read(Block(2, 3, "", "abc") + DataBlock(""));
  EXPECT_THAT(version.Blocks(), HasSubstr("UNKNOWN@0 AVRO_DATA@"));
  EXPECT_EQ(version.Findings(), "unknown_block");
}

TEST(LogReaderTest, FindingsAreBoundedAndLossesCountOn) {
  std::string bytes;
  for (int i = 0; i < 500; ++i) bytes += "#HUDI#" + Big(int64_t{-1});
  const Reading reading = Read(bytes);
  EXPECT_THAT(reading.findings, SizeIs(kLogFindingsMax));
  EXPECT_EQ(reading.losses, (LogReader::Losses{500, bytes.size(), 0}));
}

// Keys of all records, "a,b"; the error when there is one.
Result<std::string> Keys(const LogBlock& block, std::string_view field) {
  TRY_ASSIGN(auto records, LogRecords::Open(block));
  std::string keys;
  while (true) {
    TRY_ASSIGN(const auto record, records.Next());
    if (!record) return keys;
    TRY_ASSIGN(const auto size, record->datum.Size());
    if (size != record->length) return Fail(ErrorKind::kInternal, "sizes differ");
    TRY_ASSIGN(const auto key, record->datum.Field(field));
    if (!key) return Fail(ErrorKind::kInternal, "no such field");
    TRY_ASSIGN(const auto text, key->String());
    keys += std::string(keys.empty() ? "" : ",") + std::string(text);
  }
}

TEST(LogRecordsTest, RealBlocksGiveTheirRecords) {
  const std::string intact = support::ReadTestdata("hudi/logs/intact.log");
  EXPECT_THAT(Keys(Read(intact).blocks.at(0), "_hoodie_record_key"), support::IsOkAnd("c,a"));
  const std::string cdc = support::ReadTestdata("hudi/logs/cdc.log");
  EXPECT_THAT(Keys(Read(cdc).blocks.at(0), "op"), support::IsOkAnd("u,i"));
}

TEST(LogRecordsTest, OtherBlocksAreUnsupported) {
  const std::string bytes = support::ReadTestdata("hudi/logs/parquet_and_delete.log");
  EXPECT_THAT(LogRecords::Open(Read(bytes).blocks.at(0)),
              IsError(ErrorKind::kUnsupported, HasSubstr("kind=PARQUET_DATA")));
  EXPECT_THAT(LogRecords::Open(Read(bytes).blocks.at(1)),
              IsError(ErrorKind::kUnsupported, HasSubstr("kind=DELETE")));
}

Result<int64_t> Sum(const std::string& content) {
  const std::string bytes = DataBlock(content);
  const Reading reading = Read(bytes);
  TRY_ASSIGN(auto records, LogRecords::Open(reading.blocks.at(0)));
  int64_t sum = 0;
  while (true) {
    const auto record = records.Next();
    if (!record) {
      EXPECT_FALSE(records.Next().has_value());  // the error stays
      return std::unexpected(record.error());
    }
    if (!*record) return sum;
    TRY_ASSIGN(const auto value, (*record)->datum.Long());
    sum += value;
  }
}

TEST(LogRecordsTest, DamagedContentIsCorruptWithItsOffset) {
  const auto head = [](int32_t version, int32_t count) { return Big(version) + Big(count); };
  const auto one = Big(int32_t{1});
  EXPECT_THAT(Sum(head(3, 2) + one + "\x02" + one + "\x04"), support::IsOkAnd(3));
  EXPECT_THAT(Sum(head(1, 0)), support::IsOkAnd(0));
  EXPECT_THAT(Sum("1234567"), IsError(ErrorKind::kCorrupt, HasSubstr("ends in its head")));
  EXPECT_THAT(Sum(head(0, 0)), IsError(ErrorKind::kUnsupported, HasSubstr("version=0")));
  EXPECT_THAT(Sum(head(4, 0)), IsError(ErrorKind::kUnsupported, HasSubstr("version=4")));
  EXPECT_THAT(Sum(head(3, -1)), IsError(ErrorKind::kCorrupt, HasSubstr("records=-1")));
  EXPECT_THAT(Sum(head(3, 2) + one + "\x02"), IsError(ErrorKind::kCorrupt, HasSubstr("records=2")));
  EXPECT_THAT(Sum(head(3, 1) + Big(int32_t{2}) + "\x02"),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends behind the block offset=56")));
  EXPECT_THAT(Sum(head(3, 1) + Big(int32_t{-2}) + "\x02"),
              IsError(ErrorKind::kCorrupt, HasSubstr("no length offset=56")));
  EXPECT_THAT(Sum(head(3, 1) + one + "\x02" + "x"),
              IsError(ErrorKind::kCorrupt, HasSubstr("bytes follow its last record offset=61")));
  EXPECT_THAT(Sum(head(3, 1) + one + "\x80"),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends early offset=60")));
}

TEST(LogRecordsTest, SchemaMustBeThereAndSound) {
  const std::string none = Block(1, 3, "", Big(int32_t{3}) + Big(int32_t{0}));
  EXPECT_THAT(LogRecords::Open(Read(none).blocks.at(0)),
              IsError(ErrorKind::kCorrupt, HasSubstr("no schema offset=0")));
  const std::string bad = Block(1, 3, "{", Big(int32_t{3}) + Big(int32_t{0}));
  EXPECT_THAT(LogRecords::Open(Read(bad).blocks.at(0)),
              IsError(ErrorKind::kCorrupt, HasSubstr("log block at offset=0: avro schema")));
}

}  // namespace
}  // namespace tidemark::lake::hudi
