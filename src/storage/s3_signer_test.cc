#include "storage/s3_signer.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "storage/digest.h"

namespace tidemark::storage {
namespace {

/// Expected signatures: tests/support/s3_signature_vectors.py, which signs with botocore.
const SigningKey kKey{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const WallTime kNow = *WallTimeFromCivil(2026, 11, 30, 4, 5, 6, 789);

std::string HeaderOf(const std::vector<std::pair<std::string, std::string>>& headers,
                     std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

std::string SignatureOf(const std::vector<std::pair<std::string, std::string>>& headers) {
  const std::string authorization = HeaderOf(headers, "authorization");
  return authorization.substr(authorization.rfind('=') + 1);
}

TEST(UrlEncodedTest, OnlyUnreservedBytesStay) {
  EXPECT_EQ(UrlEncoded("azAZ09-_.~"), "azAZ09-_.~");
  EXPECT_EQ(UrlEncoded("a b+c/%\xe6\xb0\xb4\n"), "a%20b%2Bc%2F%25%E6%B0%B4%0A");
  EXPECT_EQ(UrlEncoded("a/b c", "/"), "a/b%20c");
}

TEST(CanonicalQueryTest, IsSortedByEncodedName) {
  EXPECT_EQ(CanonicalQuery({{"b", "2"}, {"a", "x y"}, {"B", ""}}), "B=&a=x%20y&b=2");
  EXPECT_EQ(CanonicalQuery({}), "");
}

TEST(SignV4Test, ThePathIsSignedAsItIsEncoded) {
  const RequestToSign request{"GET",
                              "lake.s3.eu-west-1.amazonaws.com",
                              '/' + UrlEncoded("a b/+%/\xe6\xb0\xb4", "/"),
                              {},
                              {},
                              Sha256Hex("")};
  const auto headers = SignV4(request, kKey, "eu-west-1", "s3", kNow);
  EXPECT_EQ(HeaderOf(headers, "x-amz-date"), "20261130T040506Z");
  EXPECT_EQ(HeaderOf(headers, "x-amz-content-sha256"), Sha256Hex(""));
  EXPECT_EQ(HeaderOf(headers, "x-amz-security-token"), "");
  EXPECT_EQ(SignatureOf(headers),
            "467c4dda15c75879eae26c54f272fd3e54ab9360dc8e8e24461054c50c617037");
}

TEST(SignV4Test, QueryAndSessionTokenAreSigned) {
  SigningKey key = kKey;
  key.session_token = "token/+=1";
  const RequestToSign request{
      "GET",
      "127.0.0.1:9000",
      "/lake",
      {{"list-type", "2"}, {"start-after", "a b/+1&"}, {"prefix", "a b/+"}, {"delimiter", "/"}},
      {},
      Sha256Hex("")};
  const auto headers = SignV4(request, key, "us-east-1", "s3", kNow);
  EXPECT_EQ(HeaderOf(headers, "x-amz-security-token"), "token/+=1");
  EXPECT_EQ(SignatureOf(headers),
            "acc6e95e688804bcfb0132668035b7a86cc9a3c2a7c2a5a3347e12d3ea8c500c");
}

TEST(SignV4Test, HeadersAndBodyAreSigned) {
  const RequestToSign request{"PUT", "127.0.0.1:9000",         "/lake/x",
                              {},    {{"if-none-match", "*"}}, Sha256Hex("hello")};
  EXPECT_EQ(SignatureOf(SignV4(request, kKey, "us-east-1", "s3", kNow)),
            "c24c3c1d06fccbb2318953a2c4d7425e3da012db35fb1134258f9b77b5729b6f");
}

TEST(SignV4Test, TheExampleOfTheDocumentationHolds) {
  const RequestToSign request{"GET", "examplebucket.s3.amazonaws.com", "/test.txt",
                              {},    {{"range", "bytes=0-9"}},         Sha256Hex("")};
  const SigningKey key{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  const auto headers =
      SignV4(request, key, "us-east-1", "s3", *WallTimeFromCivil(2013, 5, 24, 0, 0, 0, 0));
  EXPECT_EQ(HeaderOf(headers, "authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

}  // namespace
}  // namespace tidemark::storage
