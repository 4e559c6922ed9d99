#include "contract/event_log_contract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Budget Patience() {
  return Budget::For(std::chrono::seconds(60));
}

LogRecord Record(LogTopic topic, const std::string& key, const std::string& value) {
  return {.topic = topic, .key = key, .value = value};
}

/// "key=value" of what can be read from `from` on; `next`: where it goes on.
std::vector<std::string> TextsNow(EventLog& log, LogTopic topic, PartitionId partition, Offset from,
                                  Offset* next) {
  std::vector<std::string> texts;
  const auto end = log.Read(
      topic, partition, from,
      [&](ReadRecord record) -> Status {
        EXPECT_EQ(record.topic, topic);
        EXPECT_EQ(record.partition, partition);
        texts.push_back(record.key + "=" + record.value.value_or("(tombstone)"));
        return {};
      },
      Patience());
  EXPECT_THAT(end, IsOk());
  if (end && next != nullptr) *next = *end;
  return texts;
}

/// The same, once there are `count` of them.
std::vector<std::string> TextsOf(EventLog& log, LogTopic topic, PartitionId partition, size_t count,
                                 Offset from = 0, Offset* next = nullptr) {
  Budget budget = Patience();
  budget.retry_delay = Milliseconds(10);
  budget.tries_max = 1'000'000;
  while (true) {
    auto texts = TextsNow(log, topic, partition, from, next);
    if (texts.size() >= count || !budget.WaitForTry(2)) return texts;
  }
}

TEST_P(EventLogContract, WhatIsSentTogetherIsReadInOrderInEachTopic) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(1, Patience()));
  const LogRecord records[] = {Record(LogTopic::kEvents, "a", "1"),
                               Record(LogTopic::kState, "a/head", "h"),
                               {.topic = LogTopic::kState, .key = "a/p/0", .value = std::nullopt},
                               Record(LogTopic::kEvents, "b", "2"),
                               Record(LogTopic::kCursor, "a", "c")};
  ASSERT_THAT(writer->Send(records, Patience()), IsOk());
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 1, 2), ElementsAre("a=1", "b=2"));
  EXPECT_THAT(TextsOf(*log_, LogTopic::kState, 1, 2), ElementsAre("a/head=h", "a/p/0=(tombstone)"));
  EXPECT_THAT(TextsOf(*log_, LogTopic::kCursor, 1, 1), ElementsAre("a=c"));
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 0, 0), IsEmpty());
}

TEST_P(EventLogContract, HeadersArriveAsTheyWere) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  const Headers headers = {{"ce_id", "1/2/3"}, {"empty", ""}, {"ce_id", "twice"}};
  const LogRecord record{
      .topic = LogTopic::kEvents, .key = "", .value = std::string("\0\xff", 2), .headers = headers};
  ASSERT_THAT(writer->Send({&record, 1}, Patience()), IsOk());
  TextsOf(*log_, LogTopic::kEvents, 0, 1);
  std::vector<ReadRecord> read;
  ASSERT_THAT(log_->Read(
                  LogTopic::kEvents, 0, 0,
                  [&](ReadRecord each) -> Status {
                    read.push_back(std::move(each));
                    return {};
                  },
                  Patience()),
              IsOk());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].headers, headers);
  EXPECT_EQ(read[0].value, std::string("\0\xff", 2));
}

TEST_P(EventLogContract, AReadingGoesOnWhereTheLastOneEnded) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  const auto first = Record(LogTopic::kEvents, "a", "1"),
             second = Record(LogTopic::kEvents, "a", "2");
  ASSERT_THAT(writer->Send({&first, 1}, Patience()), IsOk());
  Offset next = 0;
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 0, 1, 0, &next), ElementsAre("a=1"));
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 0, 0, next, &next), IsEmpty());
  ASSERT_THAT(writer->Send({&second, 1}, Patience()), IsOk());
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 0, 1, next), ElementsAre("a=2"));
}

TEST_P(EventLogContract, TheFirstErrorOfTheTakerEndsAReading) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  const LogRecord records[] = {Record(LogTopic::kEvents, "a", "1"),
                               Record(LogTopic::kEvents, "a", "2")};
  ASSERT_THAT(writer->Send(records, Patience()), IsOk());
  TextsOf(*log_, LogTopic::kEvents, 0, 2);
  int taken = 0;
  const auto read = log_->Read(
      LogTopic::kEvents, 0, 0,
      [&](ReadRecord) -> Status {
        ++taken;
        return Fail(ErrorKind::kCorrupt, "enough");
      },
      Patience());
  EXPECT_THAT(read, IsError(ErrorKind::kCorrupt, "enough"));
  EXPECT_EQ(taken, 1);
}

TEST_P(EventLogContract, WhoComesLaterKeepsTheEarlierOneFromWriting) {
  ASSERT_OK_ASSIGN(const auto first, log_->OpenWriter(0, Patience()));
  const auto one = Record(LogTopic::kEvents, "a", "1"), two = Record(LogTopic::kEvents, "a", "2");
  ASSERT_THAT(first->Send({&one, 1}, Patience()), IsOk());
  ASSERT_OK_ASSIGN(const auto second, log_->OpenWriter(0, Patience()));
  EXPECT_THAT(first->Send({&two, 1}, Patience()), IsError(ErrorKind::kConflict, _));
  EXPECT_FALSE(first->is_usable());
  ASSERT_THAT(second->Send({&two, 1}, Patience()), IsOk());
  EXPECT_THAT(TextsOf(*log_, LogTopic::kEvents, 0, 2), ElementsAre("a=1", "a=2"));
}

TEST_P(EventLogContract, WritersOfOtherPartitionsDoNotMeet) {
  ASSERT_OK_ASSIGN(const auto zero, log_->OpenWriter(0, Patience()));
  ASSERT_OK_ASSIGN(const auto one, log_->OpenWriter(1, Patience()));
  const auto record = Record(LogTopic::kEvents, "a", "1");
  EXPECT_THAT(zero->Send({&record, 1}, Patience()), IsOk());
  EXPECT_THAT(one->Send({&record, 1}, Patience()), IsOk());
  EXPECT_THAT(zero->Send({&record, 1}, Patience()), IsOk());
  EXPECT_EQ(TextsOf(*log_, LogTopic::kEvents, 0, 2).size(), 2U);
}

TEST_P(EventLogContract, ManyRecordsGoOutTogether) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  std::vector<LogRecord> records;
  const std::string large(100'000, 'x');
  for (int i = 0; i < 200; ++i)
    records.push_back(Record(LogTopic::kEvents, fmt::format("{}", i), large));
  ASSERT_THAT(writer->Send(records, Patience()), IsOk());
  const auto texts = TextsOf(*log_, LogTopic::kEvents, 0, records.size());
  ASSERT_EQ(texts.size(), records.size());
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_TRUE(texts[i].starts_with(fmt::format("{}=", i)));
}

/// What comes of a follower until there are `count` of them.
std::vector<std::string> Followed(LogFollower& follower, size_t count) {
  std::vector<std::string> texts;
  for (const Budget budget = Patience(); texts.size() < count && budget.Check();) {
    const auto records = follower.Poll(Milliseconds(200));
    EXPECT_THAT(records, IsOk());
    if (!records) return texts;
    for (const auto& record : *records) {
      texts.push_back(fmt::format("{}/{}@{} {}={}", LogTopicName(record.topic), record.partition,
                                  record.offset, record.key, record.value.value_or("")));
    }
  }
  return texts;
}

TEST_P(EventLogContract, AFollowerGoesOnWhereAReadingEndedUntilItForgets) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  const auto old = Record(LogTopic::kControl, "a", "old");
  ASSERT_THAT(writer->Send({&old, 1}, Patience()), IsOk());
  Offset next = 0;
  EXPECT_THAT(TextsOf(*log_, LogTopic::kControl, 0, 1, 0, &next), ElementsAre("a=old"));
  const auto between = Record(LogTopic::kControl, "a", "between");
  ASSERT_THAT(writer->Send({&between, 1}, Patience()), IsOk());
  TextsOf(*log_, LogTopic::kControl, 0, 2);
  ASSERT_OK_ASSIGN(const auto follower, log_->OpenFollower());
  ASSERT_OK_ASSIGN(const Offset end, follower->FollowFrom(LogTopic::kControl, 0, next, Patience()));
  EXPECT_GT(end, next);
  ASSERT_THAT(follower->FollowFrom(LogTopic::kControl, 1, 0, Patience()), IsOk());
  const auto fresh = Record(LogTopic::kControl, "a", "new");
  ASSERT_THAT(writer->Send({&fresh, 1}, Patience()), IsOk());
  const auto texts = Followed(*follower, 2);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], fmt::format("control/0@{} a=between", next));
  EXPECT_THAT(texts[1], ::testing::EndsWith(" a=new"));
  follower->Forget(LogTopic::kControl, 0);
  ASSERT_THAT(writer->Send({&fresh, 1}, Patience()), IsOk());
  ASSERT_OK_ASSIGN(const auto read, follower->Poll(Milliseconds(300)));
  EXPECT_THAT(read, IsEmpty());
}

TEST_P(EventLogContract, WhoFollowsFromBehindTheEndBeginsAtTheEnd) {
  ASSERT_OK_ASSIGN(const auto writer, log_->OpenWriter(0, Patience()));
  const auto old = Record(LogTopic::kControl, "a", "old");
  ASSERT_THAT(writer->Send({&old, 1}, Patience()), IsOk());
  Offset next = 0;
  TextsOf(*log_, LogTopic::kControl, 0, 1, 0, &next);
  ASSERT_OK_ASSIGN(const auto follower, log_->OpenFollower());
  // As of a topic that was made anew.
  ASSERT_OK_ASSIGN(const Offset end,
                   follower->FollowFrom(LogTopic::kControl, 0, 1'000, Patience()));
  EXPECT_EQ(end, next);
  const auto fresh = Record(LogTopic::kControl, "a", "new");
  ASSERT_THAT(writer->Send({&fresh, 1}, Patience()), IsOk());
  EXPECT_THAT(Followed(*follower, 1), ElementsAre(fmt::format("control/0@{} a=new", end)));
}

}  // namespace
}  // namespace tidemark::feed
