#include "storage/object_key.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOkAnd;

TEST(ObjectKeyTest, AKeyIsRelativeAndPlain) {
  const struct {
    std::string_view key;
    bool is_key;
  } cases[] = {
      {"a", true},
      {"a/b", true},
      {".hoodie/x", true},
      {"..a", true},
      {"a..", true},
      {"...", true},
      {" ", true},
      {"a\n", true},
      {"", false},
      {"/", false},
      {"/a", false},
      {"a/", false},
      {"a//b", false},
      {".", false},
      {"..", false},
      {"a/./b", false},
      {"a/../b", false},
      {"a/..", false},
      {"a/.tidemark-put-1-1", false},
  };
  for (const auto& [key, is_key] : cases) EXPECT_EQ(IsKey(key), is_key) << key;
  EXPECT_FALSE(IsKey(std::string_view("a\0", 2)));
  EXPECT_TRUE(IsKey(std::string(kKeyBytesMax, 'x')));
  EXPECT_FALSE(IsKey(std::string(kKeyBytesMax + 1, 'x')));
}

TEST(ObjectKeyTest, AFolderMayLackItsSlash) {
  EXPECT_THAT(FolderPrefix("u", ""), IsOkAnd(std::string()));
  EXPECT_THAT(FolderPrefix("u", "a"), IsOkAnd(std::string("a/")));
  EXPECT_THAT(FolderPrefix("u", "a/b/"), IsOkAnd(std::string("a/b/")));
  EXPECT_THAT(FolderPrefix("u", "/"), IsError(ErrorKind::kInvalidArgument, ::testing::_));
}

TEST(ObjectKeyTest, NamesAreJoinedByOneSlash) {
  EXPECT_EQ(ObjectName("s3://b/p", "a"), "s3://b/p/a");
  EXPECT_EQ(ObjectName("/", "a"), "/a");
  EXPECT_EQ(ObjectName("s3://b", ""), "s3://b");
  EXPECT_EQ(ObjectName("s3://b", "a\nb"), "s3://b/a\\x0ab");
}

}  // namespace
}  // namespace tidemark::storage
