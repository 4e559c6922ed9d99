#include "storage/s3_endpoint.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EndpointTest, AreSchemeHostAndPath) {
  const struct {
    std::string_view text;
    Endpoint endpoint;
  } cases[] = {
      {"http://127.0.0.1:9000", {"http", "127.0.0.1:9000", ""}},
      {"https://S3.Example.com/", {"https", "s3.example.com", ""}},
      {"minio:9000", {"https", "minio:9000", ""}},
      {"http://h:80", {"http", "h", ""}},
      {"https://h:443/", {"https", "h", ""}},
      {"https://h:80", {"https", "h:80", ""}},
      {"http://[::1]:9000", {"http", "[::1]:9000", ""}},
      {"https://gateway/s3/v1/", {"https", "gateway", "/s3/v1"}},
  };
  for (const auto& [text, endpoint] : cases)
    EXPECT_THAT(ParseEndpoint(text), IsOkAnd(endpoint)) << text;
}

TEST(EndpointTest, OthersAreRefused) {
  for (const std::string_view text : {"", "http://", "ftp://h", "http://a b", "http://h?x=1",
                                      "http://h#x", "://h", "http://h\r\nx: y"}) {
    EXPECT_THAT(ParseEndpoint(text), IsError(ErrorKind::kInvalidArgument, HasSubstr("endpoint")))
        << text;
  }
  EXPECT_THAT(ParseEndpoint("http://user:s3cr3t@host"),
              IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("s3cr3t"))));
}

TEST(EndpointTest, BucketsAreAddressedInTwoStyles) {
  const Endpoint aws = AwsEndpoint("s3", "eu-west-1");
  EXPECT_EQ(aws, (Endpoint{"https", "s3.eu-west-1.amazonaws.com", ""}));
  EXPECT_EQ(AwsEndpoint("sts", "cn-north-1").host, "sts.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(BucketEndpoint(aws, "lake", false),
            (Endpoint{"https", "lake.s3.eu-west-1.amazonaws.com", ""}));
  EXPECT_EQ(BucketEndpoint({"http", "h:9000", "/base"}, "lake", true),
            (Endpoint{"http", "h:9000", "/base/lake"}));
}

TEST(EndpointTest, BucketsThatAreNoHostNameNeedPathStyle) {
  const Endpoint aws = AwsEndpoint("s3", "us-east-1");
  EXPECT_TRUE(FitsVirtualHost("my-lake-1", aws));
  EXPECT_FALSE(FitsVirtualHost("my.lake", aws));
  EXPECT_TRUE(FitsVirtualHost("my.lake", {"http", "h", ""}));
  EXPECT_FALSE(FitsVirtualHost("My_Lake", aws));
}

TEST(EndpointTest, ARegionCannotChangeTheHost) {
  EXPECT_TRUE(IsRegionName("us-gov-west-1"));
  for (const std::string_view region : {"", "evil.com/", "a.b", "EU", "a b", "x@y"})
    EXPECT_FALSE(IsRegionName(region)) << region;
}

}  // namespace
}  // namespace tidemark::storage
