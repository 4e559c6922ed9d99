#include "storage/s3_xml.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>lake</Name><Prefix>t/</Prefix>
<KeyCount>3</KeyCount><MaxKeys>1000</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
<NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
<Contents><Key>t/a+b%2Bc</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>"x"</ETag>
<Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>
<Contents><Key>t/%E6%B0%B4</Key><LastModified>2009-10-12T17:50:31.000Z</LastModified><Size>0</Size></Contents>
<CommonPrefixes><Prefix>t/sub%20dir/</Prefix></CommonPrefixes></ListBucketResult>)";

std::string With(std::string_view from, std::string_view to) {
  std::string page(kPage);
  const size_t at = page.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return page.replace(at, from.size(), to);
}

TEST(ListPageTest, HoldsObjectsAndFolders) {
  ASSERT_OK_ASSIGN(const ListPage page, ParseS3ListPage(kPage));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "t/a b+c");
  EXPECT_EQ(page.objects[0].size, 434234u);
  EXPECT_EQ(page.objects[0].modified, WallTimeFromCivil(2009, 10, 12, 17, 50, 30, 0));
  EXPECT_EQ(page.objects[1].key, "t/\xe6\xb0\xb4");
  EXPECT_THAT(page.folders, ElementsAre("t/sub dir/"));
  EXPECT_TRUE(page.is_truncated);
  EXPECT_EQ(page.next_token, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST(ListPageTest, KeysAreTakenAsTheyAreWithoutAnEncoding) {
  ASSERT_OK_ASSIGN(const ListPage page,
                   ParseS3ListPage(With("<EncodingType>url</EncodingType>", "")));
  EXPECT_EQ(page.objects[0].key, "t/a+b%2Bc");
  ASSERT_OK_ASSIGN(
      const ListPage blanks,
      ParseS3ListPage(
          "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key> a&amp;&lt; "
          "</Key><LastModified>2009-10-12T17:50:30Z</LastModified><Size>1</Size>"
          "</Contents></ListBucketResult>"));
  EXPECT_EQ(blanks.objects[0].key, " a&< ");
}

TEST(ListPageTest, AnEmptyListingIsAListing) {
  ASSERT_OK_ASSIGN(const ListPage page,
                   ParseS3ListPage("<ListBucketResult><IsTruncated>false</IsTruncated>"
                                   "<KeyCount>0</KeyCount></ListBucketResult>"));
  EXPECT_TRUE(page.objects.empty());
  EXPECT_FALSE(page.is_truncated);
}

TEST(ListPageTest, WhatContradictsItselfIsCorrupt) {
  const std::pair<std::string, std::string_view> cases[] = {
      {With("<NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="
            "</NextContinuationToken>",
            ""),
       "no token"},
      {With("<IsTruncated>true</IsTruncated>", ""), "IsTruncated"},
      {With("<IsTruncated>true</IsTruncated>", "<IsTruncated>maybe</IsTruncated>"), "IsTruncated"},
      {With("<KeyCount>3", "<KeyCount>4"), "counts"},
      {With("<KeyCount>3", "<KeyCount>1"), "counts"},
      {With("<KeyCount>3", "<KeyCount>x"), "counts"},
      {With("<Size>434234</Size>", ""), "size"},
      {With("<Size>434234</Size>", "<Size>-1</Size>"), "size"},
      {With("<Size>434234</Size>", "<Size>99999999999999999999</Size>"), "size"},
      {With("<LastModified>2009-10-12T17:50:30.000Z</LastModified>", ""), "time"},
      {With("<Key>t/a+b%2Bc</Key>", ""), "key"},
      {With("<Key>t/a+b%2Bc</Key>", "<Key/>"), "empty key"},
      {With("<Key>t/a+b%2Bc</Key>", "<Key>t/%zz</Key>"), "percent"},
      {With("<EncodingType>url", "<EncodingType>base64"), "encoding"},
  };
  for (const auto& [page, why] : cases) {
    EXPECT_THAT(ParseS3ListPage(page), IsError(ErrorKind::kCorrupt, HasSubstr(std::string(why))))
        << why;
  }
}

TEST(ListPageTest, WhatIsNoListingIsCorrupt) {
  for (const std::string_view text :
       {"", "x", "<html><body>Sign in</body></html>", "<ListBucketResult/>",
        "<ListAllMyBucketsResult><IsTruncated>false</IsTruncated></ListAllMyBucketsResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated>", "{\"a\":1}"}) {
    EXPECT_THAT(ParseS3ListPage(text), IsError(ErrorKind::kCorrupt, _)) << text;
  }
}

TEST(ListPageTest, AnXmlBombIsCorrupt) {
  EXPECT_THAT(ParseS3ListPage("<!DOCTYPE lolz [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                              "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>&b;"
                              "</Key></Contents></ListBucketResult>"),
              IsError(ErrorKind::kCorrupt, HasSubstr("document type")));
}

TEST(ListPageTest, DeepNestingIsNoCrash) {
  std::string deep = "<ListBucketResult>";
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  EXPECT_THAT(ParseS3ListPage(deep), IsError(ErrorKind::kCorrupt, _));
  for (int i = 0; i < 1'000'000; ++i) deep += "</a>";
  EXPECT_THAT(ParseS3ListPage(deep + "</ListBucketResult>"), IsError(ErrorKind::kCorrupt, _));
}

TEST(ListPageTest, EveryTruncationIsCorrupt) {
  for (size_t size = 0; size < kPage.size(); ++size)
    EXPECT_THAT(ParseS3ListPage(kPage.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
}

TEST(ListPageTest, EveryFlipGivesAValueOrCorrupt) {
  for (size_t i = 0; i < kPage.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped(kPage);
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto page = ParseS3ListPage(flipped);
      if (!page) {
        EXPECT_EQ(page.error().kind, ErrorKind::kCorrupt);
      }
    }
  }
}

TEST(S3ErrorTextTest, ErrorsOfS3AndStsAreRead) {
  const S3ErrorText s3 = ParseS3Error(
      "<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>The\nkey</Message>"
      "<Region>eu-west-1</Region></Error>");
  EXPECT_EQ(s3.code, "NoSuchKey");
  EXPECT_EQ(s3.message, "The key");
  EXPECT_EQ(s3.region, "eu-west-1");
  EXPECT_EQ(
      ParseS3Error("<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>").code,
      "ExpiredToken");
  EXPECT_EQ(ParseS3Error("<html>").code, "");
  EXPECT_EQ(ParseS3Error("").code, "");
}

TEST(StsCredentialsTest, AreReadWholeOrNotAtAll) {
  const std::string whole =
      "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
      "<AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>s3cr3t</SecretAccessKey>"
      "<SessionToken>token</SessionToken><Expiration>2026-11-30T12:00:00Z</Expiration>"
      "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
  ASSERT_OK_ASSIGN(const StsCredentials sts, ParseStsCredentials(whole));
  EXPECT_EQ(sts.access_key_id, "ASIA1");
  EXPECT_EQ(sts.expiration, "2026-11-30T12:00:00Z");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ParseStsCredentials(whole.substr(0, size)),
                IsError(ErrorKind::kCorrupt, Not(HasSubstr("s3cr3t"))));
  }
}

}  // namespace
}  // namespace tidemark::storage
