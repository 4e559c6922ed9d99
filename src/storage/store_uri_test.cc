#include "storage/store_uri.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "storage/object_store.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StoreUriTest, LocalPathsAreTakenAsTheyAre) {
  const struct {
    std::string_view uri, path, text;
  } cases[] = {
      {"/lake/orders", "/lake/orders", "/lake/orders"},
      {"/lake/orders//", "/lake/orders", "/lake/orders"},
      {"orders", "orders", "orders"},
      {"./a b%20c", "./a b%20c", "./a b%20c"},
      {"/", "/", "/"},
      {"a:b", "a:b", "a:b"},
      {"s3:/bucket", "s3:/bucket", "s3:/bucket"},
      {"1x://a", "1x://a", "1x://a"},
      {"file:///lake/a%20b%25/", "/lake/a b%", "file:///lake/a%20b%25"},
      {"file:/lake/orders", "/lake/orders", "file:/lake/orders"},
      {"FILE://localhost/lake", "/lake", "FILE://localhost/lake"},
      {"file:///", "/", "file:///"},
      {"file:///a+b", "/a+b", "file:///a+b"},
  };
  for (const auto& [uri, path, text] : cases) {
    SCOPED_TRACE(uri);
    ASSERT_OK_ASSIGN(const StoreUri parsed, ParseStoreUri(uri));
    EXPECT_EQ(parsed.kind, StoreKind::kLocal);
    EXPECT_EQ(parsed.path, path);
    EXPECT_EQ(parsed.text, text);
  }
}

TEST(StoreUriTest, S3UrisAreBucketAndPrefix) {
  const struct {
    std::string_view uri, bucket, prefix, text;
  } cases[] = {
      {"s3://lake", "lake", "", "s3://lake"},
      {"s3://lake/", "lake", "", "s3://lake"},
      {"s3a://lake/a/b/", "lake", "a/b", "s3a://lake/a/b"},
      {"s3n://my.lake/a%20b+c", "my.lake", "a%20b+c", "s3n://my.lake/a%20b+c"},
      {"S3://lake_1/x?y#z", "lake_1", "x?y#z", "S3://lake_1/x?y#z"},
  };
  for (const auto& [uri, bucket, prefix, text] : cases) {
    SCOPED_TRACE(uri);
    ASSERT_OK_ASSIGN(const StoreUri parsed, ParseStoreUri(uri));
    EXPECT_EQ(parsed.kind, StoreKind::kS3);
    EXPECT_EQ(parsed.bucket, bucket);
    EXPECT_EQ(parsed.prefix, prefix);
    EXPECT_EQ(parsed.text, text);
  }
}

TEST(StoreUriTest, GoogleUrisAreBucketAndPrefix) {
  for (const std::string_view uri : {"gs://lake/a/b%20c/", "gcs://lake/a/b%20c"}) {
    ASSERT_OK_ASSIGN(const StoreUri parsed, ParseStoreUri(uri));
    EXPECT_EQ(parsed.kind, StoreKind::kGcs);
    EXPECT_EQ(parsed.bucket, "lake");
    EXPECT_EQ(parsed.prefix, "a/b%20c");
  }
}

TEST(StoreUriTest, AzureUrisAreContainerAccountAndPrefix) {
  const struct {
    std::string_view uri, container, host, prefix;
  } cases[] = {
      {"abfss://c@a.dfs.core.windows.net/x/y/", "c", "a.blob.core.windows.net", "x/y"},
      {"abfs://c@A.dfs.core.chinacloudapi.cn", "c", "a.blob.core.chinacloudapi.cn", ""},
      {"wasbs://$web@a.blob.core.windows.net/x", "$web", "a.blob.core.windows.net", "x"},
      {"abfss://ws@onelake.dfs.fabric.microsoft.com/l.Lakehouse/Tables", "ws",
       "onelake.blob.fabric.microsoft.com", "l.Lakehouse/Tables"},
      {"abfs://c@a/x", "c", "a.blob.core.windows.net", "x"},
      {"az://c/x", "c", "", "x"},
      {"az://c@a/x", "c", "a.blob.core.windows.net", "x"},
  };
  for (const auto& [uri, container, host, prefix] : cases) {
    SCOPED_TRACE(uri);
    ASSERT_OK_ASSIGN(const StoreUri parsed, ParseStoreUri(uri));
    EXPECT_EQ(parsed.kind, StoreKind::kAzure);
    EXPECT_EQ(parsed.bucket, container);
    EXPECT_EQ(parsed.host, host);
    EXPECT_EQ(parsed.prefix, prefix);
    EXPECT_EQ(parsed.text, uri.substr(0, uri.find_last_not_of('/') + 1));
  }
}

TEST(StoreUriTest, EveryWayToWriteAPlaceComparesAsOne) {
  const std::vector<std::vector<std::string>> places = {
      {"s3://lake/a/b", "s3a://lake/a/b", "s3n://lake/a/b/", "S3A://lake/a/b"},
      {"s3://lake", "s3a://lake/"},
      {"gs://lake/a", "gcs://lake/a"},
      {"/data/t", "file:/data/t", "file:///data/t/", "file://localhost/data/t", "/data/./x/../t"},
      {"/with space", "file:/with%20space"},
      {std::filesystem::absolute("data/t").string(), "data/t", "./data/t"},
      {"abfss://c@lake.dfs.core.windows.net/a", "wasbs://c@lake.blob.core.windows.net/a"},
      {"memory://x", "memory://x/"},
      {"ftp://no/place"},
  };
  std::set<std::string> all;
  for (const auto& ways : places) {
    for (const auto& way : ways) EXPECT_EQ(ComparableUri(way), ComparableUri(ways.front())) << way;
    EXPECT_TRUE(all.insert(ComparableUri(ways.front())).second) << ways.front();
  }
  EXPECT_EQ(ComparableUri("s3a://lake/t/.hoodie/x.commit"), "s3://lake/t/.hoodie/x.commit");
  EXPECT_EQ(ComparableUri("/"), "file:///");
}

TEST(StoreUriTest, WhatIsNoPlaceIsRefused) {
  for (const std::string_view uri : {"",
                                     "s3://",
                                     "s3:///x",
                                     "s3://a b/c",
                                     "s3://bucket/a//b",
                                     "s3://bucket/../b",
                                     "s3://..",
                                     "s3://bucket:9000/x",
                                     "file://host/x",
                                     "file:///a%2",
                                     "file:///a%zz",
                                     "file:///%00",
                                     "file:///a?b",
                                     "file://localhost",
                                     "ftp://x/y",
                                     "http://x/y",
                                     "memory://",
                                     "gs://",
                                     "gs://a b/c",
                                     "gs://b/../c",
                                     "abfs://",
                                     "abfs://c",
                                     "abfs://c/x",
                                     "abfs://@a/x",
                                     "abfs://c@/x",
                                     "abfs://c@a:1/x",
                                     "abfs://c@a b/x",
                                     "az:///x",
                                     "abfs://c@a/x//y"}) {
    EXPECT_THAT(ParseStoreUri(uri), IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("\n"))))
        << uri;
  }
  EXPECT_THAT(ParseStoreUri(std::string(5000, 'x')),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("bytes=5000")));
}

TEST(StoreUriTest, CredentialsInAUriAreRefusedAndNotRepeated) {
  EXPECT_THAT(ParseStoreUri("s3n://AKIA:s3cr3t@lake/orders"),
              IsError(ErrorKind::kInvalidArgument,
                      ::testing::AllOf(HasSubstr("lake"), Not(HasSubstr("s3cr3t")))));
  for (const char* uri : {"abfs://c:s3cr3t@a/x", "gs://u:s3cr3t@b/x", "abfs://c@s3cr3t@a/x"})
    EXPECT_THAT(ParseStoreUri(uri), IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("s3cr3t"))));
}

TEST(StoreUriTest, KnownStoresThatAreNotBuiltInAreUnsupported) {
  for (const std::string_view uri : {"hdfs://nn:8020/x", "hdfs:///x", "adl://a/x", "viewfs:///x"}) {
    EXPECT_THAT(ParseStoreUri(uri), IsError(ErrorKind::kUnsupported, HasSubstr("not built in")))
        << uri;
    EXPECT_THAT(OpenStore(uri, {}), IsError(ErrorKind::kUnsupported, HasSubstr("not built in")));
  }
}

TEST(StoreUriTest, EveryFlipAndTruncationGivesAValueOrAnError) {
  for (const std::string whole :
       {"file:///a%20b/c", "s3://bucket/a/b", "abfs://c@a.dfs.x/a", "memory://name"}) {
    for (size_t i = 0; i < whole.size(); ++i) {
      (void)ParseStoreUri(std::string_view(whole).substr(0, i)).has_value();
      for (int bit = 0; bit < 256; ++bit) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(bit);
        const auto parsed = ParseStoreUri(flipped);
        if (parsed) {
          EXPECT_FALSE(parsed->text.empty());
        }
      }
    }
  }
}

TEST(OpenStoreTest, MemoryStoresAreSharedByName) {
  ASSERT_OK_ASSIGN(const auto one, OpenStore("memory://open-store-test", {}));
  ASSERT_OK_ASSIGN(const auto two, OpenStore("memory://open-store-test/", {}));
  ASSERT_OK_ASSIGN(const auto other, OpenStore("memory://open-store-test-2", {}));
  ASSERT_THAT(one->Put("a", "x", {}), IsOk());
  EXPECT_THAT(two->Read("a", {}), IsOkAnd(std::string("x")));
  EXPECT_THAT(other->Read("a", {}), IsError(ErrorKind::kNotFound, ::testing::_));
}

TEST(OpenStoreTest, AMissingTableShowsAtTheFirstRead) {
  ASSERT_OK_ASSIGN(const auto store, OpenStore("/nowhere/at/all", {}));
  EXPECT_EQ(store->uri(), "/nowhere/at/all");
  EXPECT_THAT(store->List("", {}, {}), IsError(ErrorKind::kNotFound, HasSubstr("/nowhere/at/all")));
  EXPECT_THAT(store->List("a", {}, {}),
              IsError(ErrorKind::kNotFound, HasSubstr("/nowhere/at/all")));
}

}  // namespace
}  // namespace tidemark::storage
