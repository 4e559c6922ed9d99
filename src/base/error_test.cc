#include "base/error.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0)
    return Fail(ErrorKind::kInvalidArgument, "odd number=" + std::to_string(number));
  return number / 2;
}

Result<int> Quarter(int number) {
  TRY_ASSIGN(const int half, Half(number));
  return Half(half);
}

Status Checked(int number) {
  TRY(Half(number));
  return {};
}

TEST(ErrorTest, TryAssignGivesTheValueAndGoesOn) {
  const auto result = Quarter(8);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(*result, 2);
}

TEST(ErrorTest, TryAssignReturnsTheErrorUnchanged) {
  const auto result = Quarter(7);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), (Error{ErrorKind::kInvalidArgument, "odd number=7"}));
}

TEST(ErrorTest, TryReturnsTheErrorUnchanged) {
  EXPECT_TRUE(Checked(2).has_value());
  EXPECT_EQ(Checked(3).error().message, "odd number=3");
}

TEST(ErrorTest, ContextGoesInFront) {
  const Error error = Error{ErrorKind::kCorrupt, "bad magic"}.With("block=2").With("file=a.log");
  EXPECT_EQ(error.message, "file=a.log: block=2: bad magic");
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
}

TEST(ErrorTest, EveryKindHasItsWord) {
  EXPECT_EQ(ErrorKindName(ErrorKind::kNotFound), "not_found");
  EXPECT_EQ(ErrorKindName(ErrorKind::kDenied), "denied");
  EXPECT_EQ(ErrorKindName(ErrorKind::kInternal), "internal");
}

}  // namespace
}  // namespace tidemark
