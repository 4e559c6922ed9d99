#include "storage/bucket_listing.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ListPage Page(std::vector<std::string> keys, std::vector<std::string> folders = {},
              std::string token = "") {
  ListPage page;
  for (auto& key : keys) page.objects.push_back({std::move(key), 1, WallTime{}});
  page.folders = std::move(folders);
  page.is_truncated = !token.empty();
  page.next_token = std::move(token);
  return page;
}

std::vector<std::string> KeysOf(const Listing& listing) {
  std::vector<std::string> keys;
  for (const auto& object : listing.objects) keys.push_back(object.key);
  return keys;
}

const ListQuestion kQuestion{"root/", "root/t/", {}};

TEST(ListingBuilderTest, PagesBecomeOneListingRelativeToTheRoot) {
  ListingBuilder builder(kQuestion);
  ASSERT_THAT(builder.Add(Page({"root/t/a", "root/t/b"}, {"root/t/x/"}, "1")), IsOk());
  EXPECT_EQ(builder.next_token(), "1");
  ASSERT_THAT(builder.Add(Page({"root/t/c"}, {"root/t/x/", "root/t/y/"})), IsOk());
  EXPECT_EQ(builder.next_token(), "");
  ASSERT_OK_ASSIGN(const Listing listing, builder.TakeListing());
  EXPECT_THAT(KeysOf(listing), ElementsAre("t/a", "t/b", "t/c"));
  EXPECT_THAT(listing.folders, ElementsAre("t/x/", "t/y/"));
}

TEST(ListingBuilderTest, WhatStandsForAFolderIsNoObject) {
  ListingBuilder builder(kQuestion);
  ASSERT_THAT(builder.Add(Page({"root/t/", "root/t//x", "root/t/a", "root/t/b/"}, {"root/t//"})),
              IsOk());
  ASSERT_OK_ASSIGN(const Listing listing, builder.TakeListing());
  EXPECT_THAT(KeysOf(listing), ElementsAre("t/a"));
  EXPECT_THAT(listing.folders, ElementsAre());
}

TEST(ListingBuilderTest, PagesThatCannotBeOneListingAreCorrupt) {
  const struct {
    std::string_view why;
    std::vector<ListPage> pages;
  } cases[] = {
      {"outside", {Page({"other/a"})}},
      {"byte order", {Page({"root/t/b", "root/t/a"})}},
      {"byte order", {Page({"root/t/a", "root/t/a"})}},
      {"byte order", {Page({"root/t/b"}, {}, "1"), Page({"root/t/a"})}},
      {"byte order", {Page({"root/t/b"}, {}, "1"), Page({"root/t/b"})}},
      {"byte order", {Page({}, {"root/t/b/", "root/t/a/"})}},
      {"one token", {Page({"root/t/a"}, {}, "1"), Page({"root/t/b"}, {}, "1")}},
      {"not a folder", {Page({}, {"root/t/a"})}},
      {"not a folder", {Page({}, {"root/u/"})}},
      {"not a folder", {Page({}, {"root/t/"})}},
  };
  for (const auto& [why, pages] : cases) {
    ListingBuilder builder(kQuestion);
    Status status;
    for (const ListPage& page : pages) {
      if (status) status = builder.Add(page);
    }
    EXPECT_THAT(status, IsError(ErrorKind::kCorrupt, HasSubstr(std::string(why))));
  }
}

TEST(ListQuestionTest, StartAfterIsWholeButBeforeTheFolderItLiesIn) {
  const auto asked = [](std::string start_after, bool is_recursive) {
    return ListQuestion{
        "root/", "root/t/", {.start_after = std::move(start_after), .is_recursive = is_recursive}}
        .StartAfter();
  };
  EXPECT_EQ(asked("", false), "");
  EXPECT_EQ(asked("t/x", false), "root/t/x");
  EXPECT_EQ(asked("t/x/y", true), "root/t/x/y");
  EXPECT_EQ(asked("t/x/y/z", false), "root/t/x");
  EXPECT_EQ(asked("s/x/y", false), "root/s/x/y");
}

TEST(ListingBuilderTest, WhatWasAskedForTooEarlyIsLeftOutAgain) {
  const ListQuestion question{"", "t/", {.start_after = "t/x/y", .is_recursive = false}};
  ListingBuilder builder(question);
  ASSERT_THAT(builder.Add(Page({"t/x.a", "t/z"}, {"t/x-/", "t/x/", "t/y/"})), IsOk());
  ASSERT_OK_ASSIGN(const Listing listing, builder.TakeListing());
  EXPECT_THAT(KeysOf(listing), ElementsAre("t/z"));
  EXPECT_THAT(listing.folders, ElementsAre("t/x/", "t/y/"));
}

}  // namespace
}  // namespace tidemark::storage
