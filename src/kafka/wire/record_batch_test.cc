#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "kafka/wire/record_batch_internal.h"
#include "support/hex.h"
#include "support/testdata.h"

namespace tidemark::kafka::wire {
namespace {

using Outcome = RecordAnswer::Outcome;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'700'000'000'000;
constexpr int64_t kAppendMs = kMs + 500'000;

const std::map<std::string, std::string>& Batches() {
  static const auto batches = [] {
    std::map<std::string, std::string> all;
    std::istringstream lines(support::ReadTestdata("kafka/batches.txt"));
    for (std::string name, hex; lines >> name >> hex;) all[name] = support::FromHex(hex);
    return all;
  }();
  return batches;
}

std::string Batch(const std::string& name) {
  return Batches().at(name);
}

RecordAnswer Find(std::string_view records, Offset from, Offset end = 1000,
                  std::span<const AbortedTransaction> aborted = {}) {
  // An exact copy, so that a sanitizer sees a step too far.
  const std::string copy(records);
  const auto isolation =
      aborted.empty() ? IsolationLevel::kReadUncommitted : IsolationLevel::kReadCommitted;
  return FindFirstRecord(copy, aborted, {.isolation = isolation, .from = from, .end = end});
}

MATCHER_P2(IsRecord, offset, timestamp_ms, "") {
  *result_listener << static_cast<int>(arg.outcome) << " " << arg.message << " at "
                   << arg.first.offset << ", " << arg.first.timestamp_ms;
  return arg.outcome == Outcome::kRecord && arg.first.offset == offset &&
         arg.first.timestamp_ms == timestamp_ms;
}

MATCHER_P(GoesOnAt, next, "") {
  *result_listener << static_cast<int>(arg.outcome) << " " << arg.message << " next " << arg.next;
  return arg.outcome == Outcome::kMore && arg.next == next;
}

TEST(RecordBatchTest, EveryOffsetOfEveryFormatAndCodecIsFound) {
  for (const auto& [name, bytes] : Batches()) {
    const bool is_whole = name.starts_with("magic") && !name.contains("cleaned") &&
                          !name.contains("append") && !name.contains("abort") &&
                          !name.contains("commit");
    if (!is_whole) continue;
    SCOPED_TRACE(name);
    for (Offset offset = 100; offset < 110; ++offset) {
      const RecordAnswer answer = Find(bytes, offset);
      if (name.starts_with("magic0")) {
        EXPECT_THAT(answer, IsRecord(offset, -1));
        EXPECT_EQ(answer.first.timestamp_type, TimestampType::kNone);
      } else {
        EXPECT_THAT(answer, IsRecord(offset, kMs + 1000 * (offset - 100)));
        EXPECT_EQ(answer.first.timestamp_type, TimestampType::kCreate);
      }
    }
    EXPECT_THAT(Find(bytes, 50), IsRecord(100, name.starts_with("magic0") ? -1 : kMs));
    EXPECT_THAT(Find(bytes, 110), GoesOnAt(110));
  }
}

TEST(RecordBatchTest, AppendTimeIsTheBrokersForEveryRecord) {
  for (const char* name : {"magic1-append-time", "magic2-append-time"}) {
    for (const Offset offset : {100, 104, 109}) {
      const RecordAnswer answer = Find(Batch(name), offset);
      EXPECT_THAT(answer, IsRecord(offset, kAppendMs)) << name;
      EXPECT_EQ(answer.first.timestamp_type, TimestampType::kAppend);
    }
  }
}

TEST(RecordBatchTest, HeaderIsEnoughAtTheBeginningOfABatchWithoutHoles) {
  const std::string header = Batch("magic2-zstd").substr(0, 61);
  EXPECT_THAT(Find(header, 100), IsRecord(100, kMs));
  EXPECT_THAT(Find(header, 90), IsRecord(100, kMs));
  EXPECT_THAT(Find(Batch("magic2-append-time").substr(0, 61), 104), IsRecord(104, kAppendMs));
}

TEST(RecordBatchTest, BatchThatIsCutShortIsAskedForWithRoomForAllOfIt) {
  const std::string batch = Batch("magic2-zstd");
  for (const size_t size : {size_t{61}, size_t{62}, size_t{100}}) {
    const RecordAnswer answer = Find(batch.substr(0, size), 109);
    EXPECT_THAT(answer, GoesOnAt(109)) << size;
    EXPECT_EQ(answer.cut_batch_size, batch.size());
  }
  EXPECT_THAT(Find(batch.substr(0, 60), 109), GoesOnAt(109));
  EXPECT_THAT(Find("", 109), GoesOnAt(109));
}

TEST(RecordBatchTest, RecordsBeforeTheCutAreFound) {
  const std::string batch = Batch("magic2-none");
  EXPECT_THAT(Find(batch.substr(0, batch.size() - 1), 104), IsRecord(104, kMs + 4000));
}

TEST(RecordBatchTest, HolesLeftByCompactionAreSteppedOver) {
  for (const char* name : {"magic2-cleaned-none", "magic2-cleaned-zstd"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(Find(Batch(name), 100), IsRecord(102, kMs + 2000));
    EXPECT_THAT(Find(Batch(name), 102), IsRecord(102, kMs + 2000));
    EXPECT_THAT(Find(Batch(name), 103), IsRecord(105, kMs + 5000));
    EXPECT_THAT(Find(Batch(name), 109), GoesOnAt(110));
    EXPECT_EQ(Find(Batch(name), 109, 110).outcome, Outcome::kEnd);
  }
  EXPECT_THAT(Find(Batch("magic2-cleaned-empty") + Batch("magic2-cleaned-empty"), 104),
              GoesOnAt(110));
}

TEST(RecordBatchTest, TimeOfRemovalIsNotTakenForAStamp) {
  for (const char* name : {"magic2-cleaned-none-tombstones", "magic2-cleaned-zstd-tombstones"}) {
    EXPECT_THAT(Find(Batch(name), 100), IsRecord(100, kMs)) << name;
    EXPECT_THAT(Find(Batch(name), 107), IsRecord(107, kMs + 7000)) << name;
  }
}

TEST(RecordBatchTest, MarkersAreNoRecords) {
  const std::string log = Batch("magic2-transaction") + Batch("magic2-commit");
  EXPECT_THAT(Find(log, 110), GoesOnAt(111));
  EXPECT_EQ(Find(log, 110, 111).outcome, Outcome::kEnd);
}

TEST(RecordBatchTest, AbortedRecordsAreHiddenFromReadersOfCommittedOnes) {
  const std::string log = Batch("magic2-transaction") + Batch("magic2-abort");
  const AbortedTransaction aborted{.producer_id = 77, .first_offset = 100};
  const AbortedTransaction other{.producer_id = 78, .first_offset = 100};
  const AbortedTransaction later{.producer_id = 77, .first_offset = 120};
  EXPECT_THAT(Find(log, 103, 1000, {&aborted, 1}), GoesOnAt(111));
  EXPECT_EQ(Find(log, 103, 111, {&aborted, 1}).outcome, Outcome::kEnd);
  EXPECT_THAT(Find(log, 103, 1000, {&other, 1}), IsRecord(103, kMs + 3000));
  EXPECT_THAT(Find(log, 103, 1000, {&later, 1}), IsRecord(103, kMs + 3000));
  EXPECT_THAT(Find(log, 103), IsRecord(103, kMs + 3000));
}

TEST(RecordBatchTest, ProducerIsTrustedAgainBehindItsAbortMarkerAndNotBehindAnother) {
  const AbortedTransaction aborted{.producer_id = 77, .first_offset = 100};
  const std::string transaction = Batch("magic2-transaction");
  EXPECT_THAT(Find(Batch("magic2-abort") + transaction, 100, 1000, {&aborted, 1}),
              IsRecord(100, kMs));
  EXPECT_THAT(Find(Batch("magic2-commit") + transaction, 100, 1000, {&aborted, 1}), GoesOnAt(111));
}

TEST(RecordBatchTest, RecordsFromTheEndOnAreNotLookedAt) {
  EXPECT_EQ(Find(Batch("magic2-none"), 50, 100).outcome, Outcome::kEnd);
  EXPECT_EQ(Find(Batch("magic2-cleaned-none"), 100, 102).outcome, Outcome::kEnd);
  EXPECT_EQ(Find(Batch("magic1-gzip"), 50, 100).outcome, Outcome::kEnd);
  EXPECT_THAT(Find(Batch("magic2-none"), 50, 101), IsRecord(100, kMs));
}

TEST(RecordBatchTest, SizesAreToldForTheNextRequest) {
  EXPECT_EQ(Find(Batch("magic2-none"), 100).first_batch_size, Batch("magic2-none").size());
  EXPECT_EQ(Find(Batch("magic1-lz4"), 100).first_batch_size, Batch("magic1-lz4").size());
  EXPECT_EQ(Find("", 100).first_batch_size, 0u);
}

TEST(RecordBatchTest, NonsenseIsUndecodable) {
  std::string batch = Batch("magic2-none");
  batch[16] = 3;
  EXPECT_THAT(Find(batch, 100).message, HasSubstr("magic=3"));
  batch = Batch("magic2-none");
  batch[22] = 7;  // a codec nobody has defined
  EXPECT_THAT(Find(batch, 104).message, HasSubstr("codec=7"));
  EXPECT_EQ(Find(batch, 104).outcome, Outcome::kUndecodable);
  batch = Batch("magic2-none");
  batch[57] = 1;  // 16 million records in ten offsets
  EXPECT_EQ(Find(batch, 104).outcome, Outcome::kUndecodable);
  batch = Batch("magic2-none");
  batch.replace(0, 8, "\x7f\xff\xff\xff\xff\xff\xff\xf0", 8);  // its records lie beyond int64
  EXPECT_THAT(Find(batch, 104).message, HasSubstr("offset=9223372036854775792"));
  batch = Batch("magic2-gzip");
  batch[80] = static_cast<char>(batch[80] ^ 0x55);
  EXPECT_EQ(Find(batch, 109).outcome, Outcome::kUndecodable);
}

TEST(RecordBatchTest, EveryCutAndEveryFlippedBitEndsInAnAnswer) {
  for (const auto& [name, bytes] : Batches()) {
    const AbortedTransaction aborted{.producer_id = 77, .first_offset = 100};
    for (size_t size = 0; size < bytes.size(); ++size) {
      const RecordAnswer answer = Find(bytes.substr(0, size), 105, 1000, {&aborted, 1});
      EXPECT_NE(answer.outcome, Outcome::kEnd) << name << " " << size;
    }
    for (size_t at = 0; at < std::min<size_t>(bytes.size(), 400); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        Find(flipped, 105, 1000, {&aborted, 1});
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::kafka::wire
