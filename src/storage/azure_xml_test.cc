#include "storage/azure_xml.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using ::testing::_;
using ::testing::ElementsAre;

/// As Azure writes it: with a byte order mark.
constexpr std::string_view kPage =
    "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
    "ServiceEndpoint=\"https://lakeaccount.blob.core.windows.net/\" ContainerName=\"lake\">"
    "<Prefix>t/</Prefix><MaxResults>5000</MaxResults><Delimiter>/</Delimiter><Blobs>"
    "<Blob><Name>t/a b</Name><Properties><Last-Modified>Mon, 30 Nov 2026 18:24:20 GMT"
    "</Last-Modified><Etag>0x8DA</Etag><Content-Length>434234</Content-Length></Properties>"
    "<Metadata/></Blob>"
    "<Blob><Name Encoded=\"true\">t/%EF%BF%BFx</Name><Properties><Last-Modified>Mon, 30 Nov 2026 "
    "18:24:21 GMT</Last-Modified><Content-Length>0</Content-Length></Properties></Blob>"
    "<BlobPrefix><Name>t/sub dir/</Name></BlobPrefix></Blobs><NextMarker>2!92</NextMarker>"
    "</EnumerationResults>";

std::string With(std::string_view from, std::string_view to) {
  std::string page(kPage);
  const size_t at = page.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return page.replace(at, from.size(), to);
}

TEST(AzureXmlTest, APageHoldsBlobsAndPrefixes) {
  ASSERT_OK_ASSIGN(const ListPage page, ParseAzureListPage(kPage));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "t/a b");
  EXPECT_EQ(page.objects[0].size, 434234u);
  EXPECT_EQ(page.objects[0].modified, WallTimeFromCivil(2026, 11, 30, 18, 24, 20, 0));
  EXPECT_EQ(page.objects[1].key, "t/\xef\xbf\xbfx");
  EXPECT_THAT(page.folders, ElementsAre("t/sub dir/"));
  EXPECT_TRUE(page.is_truncated);
  EXPECT_EQ(page.next_token, "2!92");
}

TEST(AzureXmlTest, TheLastPageHasAnEmptyMarker) {
  for (const char* marker : {"<NextMarker/>", "<NextMarker></NextMarker>", "<NextMarker />"}) {
    ASSERT_OK_ASSIGN(const ListPage page,
                     ParseAzureListPage(With("<NextMarker>2!92</NextMarker>", marker)));
    EXPECT_FALSE(page.is_truncated);
  }
}

TEST(AzureXmlTest, FoldersOfADataLakeAreNoObjects) {
  for (const std::string& text :
       {With("<Metadata/>", "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>"),
        With("<Metadata/>", "<Metadata><Hdi_isfolder>true</Hdi_isfolder></Metadata>"),
        With("<Etag>0x8DA</Etag>", "<ResourceType>directory</ResourceType>")}) {
    ASSERT_OK_ASSIGN(const ListPage page, ParseAzureListPage(text));
    EXPECT_EQ(page.objects.size(), 1u) << text;
  }
  ASSERT_OK_ASSIGN(
      const ListPage page,
      ParseAzureListPage(With("<Etag>0x8DA</Etag>", "<ResourceType>file</ResourceType>")));
  EXPECT_EQ(page.objects.size(), 2u);
}

TEST(AzureXmlTest, WhatIsNoWholePageIsCorrupt) {
  for (const std::string& text :
       {std::string("<html>Sign in</html>"), std::string(), std::string("<EnumerationResults/>"),
        std::string("<EnumerationResults><Blobs/></EnumerationResults>"),
        std::string("<EnumerationResults><NextMarker/></EnumerationResults>"),
        With("<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<!DOCTYPE a [<!ENTITY b \"c\">]>"),
        With("t/a b", ""), With("434234", "x"), With("434234", ""),
        With("Mon, 30 Nov 2026 18:24:20 GMT", "today"), With("%EF%BF%BF", "%EF%B"),
        With("t/sub dir/", "")})
    EXPECT_THAT(ParseAzureListPage(text), IsError(ErrorKind::kCorrupt, _)) << text;
}

TEST(AzureXmlTest, EveryTruncationIsCorruptAndEveryFlipAValueOrAnError) {
  for (size_t i = 0; i < kPage.size(); ++i) {
    EXPECT_THAT(ParseAzureListPage(kPage.substr(0, i)), IsError(ErrorKind::kCorrupt, _));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped(kPage);
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto page = ParseAzureListPage(flipped);
      if (page) {
        EXPECT_EQ(page->is_truncated, !page->next_token.empty());
      }
    }
  }
}

TEST(AzureXmlTest, AnErrorIsItsCodeAndItsFirstLine) {
  const AzureErrorText error = ParseAzureError(
      "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code>"
      "<Message>The specified blob does not exist.\nRequestId:1\nTime:2</Message></Error>");
  EXPECT_EQ(error.code, "BlobNotFound");
  EXPECT_EQ(error.message, "The specified blob does not exist.");
  EXPECT_EQ(ParseAzureError("").code, "");
  EXPECT_EQ(ParseAzureError("<a/>").code, "");
}

}  // namespace
}  // namespace tidemark::storage
