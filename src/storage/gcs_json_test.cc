#include "storage/gcs_json.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::ElementsAre;

constexpr std::string_view kPage =
    R"({"kind":"storage#objects","nextPageToken":"CgN0L2I=","prefixes":["t/sub dir/"],)"
    R"("items":[{"kind":"storage#object","name":"t/a b","size":"434234",)"
    R"("timeCreated":"2026-11-30T18:24:20.581Z"},)"
    R"({"name":"t/\u6c34","size":"0","timeCreated":"2026-11-30T18:24:21Z"}]})";

std::string With(std::string_view from, std::string_view to) {
  std::string page(kPage);
  const size_t at = page.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return page.replace(at, from.size(), to);
}

TEST(GcsJsonTest, APageHoldsObjectsAndFolders) {
  ASSERT_OK_ASSIGN(const ListPage page, ParseGcsListPage(kPage));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "t/a b");
  EXPECT_EQ(page.objects[0].size, 434234u);
  EXPECT_EQ(page.objects[0].modified, WallTimeFromCivil(2026, 11, 30, 18, 24, 20, 0));
  EXPECT_EQ(page.objects[1].key, "t/\xe6\xb0\xb4");
  EXPECT_THAT(page.folders, ElementsAre("t/sub dir/"));
  EXPECT_TRUE(page.is_truncated);
  EXPECT_EQ(page.next_token, "CgN0L2I=");
}

TEST(GcsJsonTest, AnEmptyPageIsOne) {
  ASSERT_OK_ASSIGN(const ListPage page, ParseGcsListPage(R"({"kind":"storage#objects"})"));
  EXPECT_TRUE(page.objects.empty());
  EXPECT_FALSE(page.is_truncated);
}

TEST(GcsJsonTest, WhatIsNoWholePageIsCorrupt) {
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string(""), std::string("<html>Sign in</html>"),
        With("storage#objects", "storage#buckets"), With(R"("434234")", R"("-1")"),
        With(R"("434234")", "434234"), With("t/a b", ""), With("2026-11-30T18:24:20.581Z", "today"),
        With(R"("CgN0L2I=")", R"("")"), With(R"("CgN0L2I=")", "7"),
        With(R"(["t/sub dir/"])", R"([7])"), With(R"(["t/sub dir/"])", R"("t/")"),
        With("t/a b", "\xff")})
    EXPECT_THAT(ParseGcsListPage(text), IsError(ErrorKind::kCorrupt, _)) << text;
}

TEST(GcsJsonTest, EveryTruncationIsCorruptAndEveryFlipAValueOrAnError) {
  for (size_t i = 0; i < kPage.size(); ++i) {
    EXPECT_THAT(ParseGcsListPage(kPage.substr(0, i)), IsError(ErrorKind::kCorrupt, _));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped(kPage);
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto page = ParseGcsListPage(flipped);
      if (page) {
        EXPECT_EQ(page->is_truncated, !page->next_token.empty());
      }
    }
  }
}

TEST(GcsJsonTest, AnObjectHasSizeAndTime) {
  const auto object = ParseGcsObject(
      R"({"kind":"storage#object","name":"a","size":"5","timeCreated":"2026-11-30T18:24:20Z"})");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->size, 5u);
  for (const char* text : {R"({"name":"a","size":"5","timeCreated":"2026-11-30T18:24:20Z"})",
                           R"({"kind":"storage#object","size":"5"})", "null", ""})
    EXPECT_FALSE(ParseGcsObject(text).has_value()) << text;
}

TEST(GcsJsonTest, ErrorsAreReadInAllTheirForms) {
  const GcsErrorText error = ParseGcsError(
      R"({"error":{"code":429,"message":"slow\ndown","errors":[{"domain":"usageLimits",)"
      R"("reason":"rateLimitExceeded"}]}})");
  EXPECT_EQ(error.reason, "rateLimitExceeded");
  EXPECT_EQ(error.message, "slow down");
  EXPECT_EQ(ParseGcsError("No such object: lake/a").message, "No such object: lake/a");
  EXPECT_EQ(ParseGcsError(R"({"error":"invalid_grant"})").message, "");
  EXPECT_EQ(ParseGcsError(R"({"error":{"errors":[7]}})").reason, "");
  EXPECT_EQ(ParseGcsError("").message, "");
}

}  // namespace
}  // namespace tidemark::storage
