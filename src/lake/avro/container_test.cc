#include "lake/avro/container.h"

#include <gmock/gmock.h>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::avro {
namespace {

using support::IsError;
using support::IsOkAnd;
using support::ReadTestdata;
using ::testing::HasSubstr;

// Small lengths and counts as Avro writes them.
std::string Number(int value) {
  const auto raw = static_cast<unsigned>(value < 0 ? -2 * value - 1 : 2 * value);
  if (raw < 0x80) return {static_cast<char>(raw)};
  return {static_cast<char>(raw | 0x80), static_cast<char>(raw >> 7)};
}
std::string Text(const std::string& text) {
  return Number(static_cast<int>(text.size())) + text;
}

const std::string kSync = "0123456789abcdef";

std::string Head(const std::string& schema, const std::string& codec) {
  std::string bytes = std::string(kContainerMagic) + Number(codec.empty() ? 1 : 2);
  if (!codec.empty()) bytes += Text("avro.codec") + Text(codec);
  return bytes + Text("avro.schema") + Text(schema) + Number(0) + kSync;
}
std::string Block(int count, const std::string& data) {
  return Number(count) + Text(data) + kSync;
}

// Sum of all records of a file of longs.
Result<int64_t> Sum(std::string_view bytes) {
  TRY_ASSIGN(auto container, Container::Open(bytes));
  int64_t sum = 0;
  while (true) {
    TRY_ASSIGN(const auto record, container.Next());
    if (!record) return sum;
    TRY_ASSIGN(const auto value, record->Long());
    sum += value;
  }
}

TEST(ContainerTest, RecordsOfAllBlocksComeInOrder) {
  EXPECT_THAT(Sum(Head("\"long\"", "")), IsOkAnd(0));
  EXPECT_THAT(
      Sum(Head("\"long\"", "null") + Block(2, "\x02\x04") + Block(0, "") + Block(1, "\x06")),
      IsOkAnd(6));
}

TEST(ContainerTest, EmptyCodecMeansNull) {
  EXPECT_THAT(Sum(Head("\"long\"", "null") + Block(1, "\x02")), IsOkAnd(1));
  const std::string bytes = std::string(kContainerMagic) + Number(2) + Text("avro.codec") +
                            Text("") + Text("avro.schema") + Text("\"long\"") + Number(0) + kSync;
  EXPECT_THAT(Sum(bytes + Block(1, "\x02")), IsOkAnd(1));
}

TEST(ContainerTest, DamagedFileIsCorruptWithItsOffset) {
  const std::string head = Head("\"long\"", "");
  const auto at = [&](size_t more) { return "offset=" + std::to_string(head.size() + more); };
  EXPECT_THAT(Sum(""), IsError(ErrorKind::kCorrupt, HasSubstr("no avro container file")));
  EXPECT_THAT(Sum("Obj\x02"), IsError(ErrorKind::kCorrupt, HasSubstr("no avro container file")));
  EXPECT_THAT(Sum(std::string(kContainerMagic) + Number(0) + kSync),
              IsError(ErrorKind::kCorrupt, HasSubstr("no avro.schema")));
  EXPECT_THAT(Sum(Head("\"lung\"", "")), IsError(ErrorKind::kCorrupt, HasSubstr("name=lung")));
  EXPECT_THAT(Sum(head + Number(1) + Text("\x02") + "0123456789abcdeX"),
              IsError(ErrorKind::kCorrupt, HasSubstr("sync marker, " + at(3))));
  EXPECT_THAT(Sum(head + Block(3, "\x02\x04")),
              IsError(ErrorKind::kCorrupt, HasSubstr("records=3 " + at(0))));
  EXPECT_THAT(Sum(head + Block(-1, "\x02\x04")),
              IsError(ErrorKind::kCorrupt, HasSubstr("records=-1 " + at(0))));
  EXPECT_THAT(Sum(head + Block(1, "\x02\x04")),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends before its bytes do " + at(3))));
  EXPECT_THAT(Sum(head + Block(2, "\x02\x80")),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends early " + at(3))));
  EXPECT_THAT(Sum(head + Number(1)), IsError(ErrorKind::kCorrupt, HasSubstr("ends early")));
}

TEST(ContainerTest, ErrorStays) {
  const std::string bytes = Head("\"long\"", "") + Block(1, "\x02\x04") + Block(1, "\x02");
  ASSERT_OK_ASSIGN(auto container, Container::Open(bytes));
  ASSERT_OK_ASSIGN(const auto first, container.Next());
  EXPECT_THAT(first->Long(), IsOkAnd(1));
  EXPECT_THAT(container.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("ends before")));
  EXPECT_THAT(container.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("ends before")));
}

TEST(ContainerTest, RecordStaysGoodWhenTheContainerMoves) {
  const std::string file = ReadTestdata("avro/deflate.avro");
  ASSERT_OK_ASSIGN(auto container, Container::Open(file));
  ASSERT_OK_ASSIGN(const auto record, container.Next());
  ASSERT_OK_ASSIGN(const auto id, record->Field("id"));
  ASSERT_OK_ASSIGN(const auto before, id->Long());
  const Container moved = std::move(container);
  EXPECT_THAT(id->Long(), IsOkAnd(before));
}

TEST(ContainerTest, ForeignEmptyFileHasNoRecords) {
  const std::string file = ReadTestdata("avro/empty.avro");
  ASSERT_OK_ASSIGN(auto container, Container::Open(file));
  ASSERT_OK_ASSIGN(const auto record, container.Next());
  EXPECT_FALSE(record.has_value());
}

TEST(ContainerTest, UnknownCodecIsUnsupported) {
  EXPECT_THAT(Sum(ReadTestdata("avro/bzip2.avro")),
              IsError(ErrorKind::kUnsupported, HasSubstr("codec=bzip2")));
}

TEST(ContainerTest, RecordsWithoutBytesAreBounded) {
  const std::string bytes = Head("\"null\"", "") + "\x80\x80\x80\x01" + Text("") + kSync;
  ASSERT_OK_ASSIGN(auto container, Container::Open(bytes));
  const auto record = container.Next();
  ASSERT_TRUE(record.has_value()) << record.error().message;
  const std::string more = Head("\"null\"", "") + "\x80\x80\x80\x02" + Text("") + kSync;
  ASSERT_OK_ASSIGN(auto other, Container::Open(more));
  EXPECT_THAT(other.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("more records")));
}

}  // namespace
}  // namespace tidemark::lake::avro
