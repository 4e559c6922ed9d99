#include "storage/azure_signer.h"

#include <gtest/gtest.h>

#include "storage/digest.h"

namespace tidemark::storage {
namespace {

/// Expected authorizations: tests/support/azure_signature_vectors.py, which signs with Microsoft's
/// library.
const std::string kKey = *Base64Decoded("a2V5LW9mLWEtdGVzdC8rPQ==");

AzureRequestToSign Request(std::string method, std::string path, QueryParts query = {}) {
  AzureRequestToSign request;
  request.method = std::move(method);
  request.account = "lakeaccount";
  request.path = std::move(path);
  request.query = std::move(query);
  request.headers = {{"x-ms-version", "2021-12-02"},
                     {"x-ms-date", "Mon, 30 Nov 2026 04:05:06 GMT"}};
  return request;
}

TEST(AzureSignerTest, ThePathIsSignedAsItIsEncoded) {
  EXPECT_EQ(AzureSharedKey(Request("GET", "/lake/a%20b/%2B%25/%E6%B0%B4"), kKey),
            "SharedKey lakeaccount:ctFa2BYORhOlC9sqpUpPeq0kqvV+TNU9Zc/tUUkVwOE=");
}

TEST(AzureSignerTest, TheQueryIsSignedInOrderAndNotEncoded) {
  EXPECT_EQ(AzureSharedKey(Request("GET", "/lake",
                                   {{"restype", "container"},
                                    {"comp", "list"},
                                    {"maxresults", "5000"},
                                    {"prefix", "a b/+"},
                                    {"delimiter", "/"},
                                    {"marker", "2!92!MDAwMDA"}}),
                           kKey),
            "SharedKey lakeaccount:Fx6FgRwugcSslXnCCT1hA2qkd8zCZ4CpWQfZHH9l2HQ=");
}

TEST(AzureSignerTest, RangeAndConditionAreSigned) {
  AzureRequestToSign request = Request("GET", "/lake/x");
  request.headers.emplace_back("range", "bytes=0-9");
  request.headers.emplace_back("if-match", "\"0x8DA\"");
  EXPECT_EQ(AzureSharedKey(request, kKey),
            "SharedKey lakeaccount:sFUQ6smoZIKpxkGEYfDdNrSmGhQapsYbOwSNILoyYHI=");
}

TEST(AzureSignerTest, ABodyIsSignedByItsLength) {
  AzureRequestToSign request = Request("PUT", "/lakeaccount/lake/x");
  request.headers.emplace_back("if-none-match", "*");
  request.headers.emplace_back("x-ms-blob-type", "BlockBlob");
  request.body_bytes = 5;
  EXPECT_EQ(AzureSharedKey(request, kKey),
            "SharedKey lakeaccount:5GnKCU8VPw61hVPEvDI0/TIC4UsuPqRLlfGQjRg9C64=");
}

TEST(AzureSignerTest, WhatIsSignedIsTheTextOfTheDocumentation) {
  // "Get Container Metadata" and "List Blobs" of Microsoft's page on Shared Key.
  AzureRequestToSign request;
  request.method = "GET";
  request.account = "myaccount";
  request.path = "/mycontainer";
  request.query = {{"restype", "container"}, {"comp", "metadata"}, {"timeout", "20"}};
  request.headers = {{"x-ms-version", "2015-02-21"},
                     {"x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT"}};
  EXPECT_EQ(AzureStringToSign(request),
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
            "x-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\nrestype:container\n"
            "timeout:20");
  // Names that are given twice are one line.
  request.query = {{"include", "uncommittedblobs"},
                   {"restype", "container"},
                   {"Include", "metadata"},
                   {"include", "snapshots"},
                   {"comp", "list"}};
  EXPECT_TRUE(AzureStringToSign(request).ends_with(
      "/myaccount/mycontainer\ncomp:list\ninclude:metadata,snapshots,uncommittedblobs\n"
      "restype:container"));
}

}  // namespace
}  // namespace tidemark::storage
