// The stores of Azure and Google against servers of their APIs. They start once for all tests: this
// program is one test of ctest.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "contract/object_store_contract.h"
#include "support/cloud_servers.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::AzureServer;
using support::GcsServer;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// More than a page of each.
constexpr int kFilled = 5100;

struct Servers {
  std::unique_ptr<AzureServer> azure;
  std::unique_ptr<GcsServer> gcs;
};
Servers& TheServers() {
  static Servers servers;
  return servers;
}

class StartServers final : public ::testing::Environment {
 public:
  void SetUp() override {
    support::HideCloudConfiguration();
    auto azure = AzureServer::Start({"lake"});
    ASSERT_THAT(azure, IsOk());
    TheServers().azure = *std::move(azure);
    auto gcs = GcsServer::Start({"lake"});
    ASSERT_THAT(gcs, IsOk());
    TheServers().gcs = *std::move(gcs);
  }
  void TearDown() override { TheServers() = {}; }
};
const auto* const kStartServers =
    ::testing::AddGlobalTestEnvironment(std::make_unique<StartServers>().release());

Result<std::unique_ptr<ObjectStore>> OpenAzure(const std::string& root) {
  return OpenStore("abfs://lake@lakeaccount.dfs.core.windows.net/" + root,
                   TheServers().azure->Options());
}

Result<std::unique_ptr<ObjectStore>> OpenGcs(const std::string& root) {
  return OpenStore("gs://lake/deep/" + root, TheServers().gcs->Options());
}

INSTANTIATE_TEST_SUITE_P(
    Stores, ObjectStoreContract,
    ::testing::Values(StoreUnderTest{"Azurite", OpenAzure, {.has_backslashes = false}},
                      StoreUnderTest{"FakeGcs", OpenGcs, {}}),
    [](const auto& param_info) { return param_info.param.name; });

class CloudStoresTest : public ::testing::Test {
 protected:
  static constexpr const char* kAzureTable = "abfs://lake@lakeaccount.dfs.core.windows.net/t";
  StoreOptions azure_options_ = TheServers().azure->Options();
  const Budget budget_ = Budget::For(std::chrono::seconds(120));
};

TEST_F(CloudStoresTest, AListingOfThousandsComesInPages) {
  for (const auto& open : {OpenAzure, OpenGcs}) {
    ASSERT_OK_ASSIGN(const auto store, open("filled"));
    for (int i = 0; i < kFilled; ++i)
      ASSERT_THAT(store->Put(fmt::format("t/{:06}", i), "x", budget_), IsOk());
    ASSERT_OK_ASSIGN(const Listing listing, store->List("t", {}, budget_));
    EXPECT_EQ(listing.objects.size(), static_cast<size_t>(kFilled));
    EXPECT_EQ(listing.objects.back().key, fmt::format("t/{:06}", kFilled - 1));
    ASSERT_OK_ASSIGN(const Listing end,
                     store->List("t", {.start_after = "t/005090", .is_recursive = false}, budget_));
    EXPECT_EQ(end.objects.size(), 9u);
  }
}

TEST_F(CloudStoresTest, AMissingBucketIsNotFoundAndSaidSo) {
  ASSERT_OK_ASSIGN(const auto azure,
                   OpenStore("abfss://pond@lakeaccount.dfs.core.windows.net/t", azure_options_));
  const auto no_container = IsError(
      ErrorKind::kNotFound, AllOf(HasSubstr("no such container"),
                                  HasSubstr("abfss://pond@lakeaccount.dfs.core.windows.net/t")));
  EXPECT_THAT(azure->List("", {}, budget_), no_container);
  EXPECT_THAT(azure->Read("a", budget_), no_container);
  EXPECT_THAT(azure->Remove("a", budget_), no_container);
  ASSERT_OK_ASSIGN(const auto gcs, OpenStore("gs://pond/t", TheServers().gcs->Options()));
  EXPECT_THAT(
      gcs->List("", {}, budget_),
      IsError(ErrorKind::kNotFound, AllOf(HasSubstr("no such bucket"), HasSubstr("gs://pond/t"))));
  ASSERT_OK_ASSIGN(const auto other, OpenAzure("t"));
  EXPECT_THAT(other->Read("a", budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("no such object")));
}

TEST_F(CloudStoresTest, AWrongAccountKeyIsDenied) {
  azure_options_.account_key = "bm90IHRoZSBrZXk=";
  ASSERT_OK_ASSIGN(const auto store, OpenStore(kAzureTable, azure_options_));
  EXPECT_THAT(store->List("", {}, budget_),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("account=lakeaccount"), HasSubstr("AuthorizationFailure"),
                            Not(HasSubstr("bm90")))));
}

TEST_F(CloudStoresTest, NoCredentialsAtAllSaysWhereWeLooked) {
  azure_options_.account_key = "";
  ASSERT_OK_ASSIGN(const auto store, OpenStore(kAzureTable, azure_options_));
  EXPECT_THAT(
      store->Read("a", budget_),
      IsError(ErrorKind::kDenied,
              AllOf(HasSubstr("no credentials found"), HasSubstr("AZURE_STORAGE_KEY"),
                    HasSubstr("AZURE_CLIENT_SECRET"), HasSubstr("AZURE_FEDERATED_TOKEN_FILE"),
                    HasSubstr("managed identity"), HasSubstr("/t/a"))));
  azure_options_.is_anonymous = true;
  ASSERT_OK_ASSIGN(const auto anonymous, OpenStore(kAzureTable, azure_options_));
  EXPECT_THAT(anonymous->Read("a", budget_), IsError(ErrorKind::kDenied, HasSubstr("(anonymous)")));
}

TEST_F(CloudStoresTest, ASasTokenOpensWhatItPermits) {
  ASSERT_OK_ASSIGN(const auto owner, OpenStore(kAzureTable, azure_options_));
  ASSERT_THAT(owner->Put("a b/c", "x", budget_), IsOk());
  azure_options_.account_key = "";
  azure_options_.sas_token = '?' + AzureServer::SasToken("rl");
  ASSERT_OK_ASSIGN(const auto reader, OpenStore(kAzureTable, azure_options_));
  EXPECT_THAT(reader->Read("a b/c", budget_), IsOkAnd(std::string("x")));
  ASSERT_OK_ASSIGN(const Listing listing, reader->List("a b", {}, budget_));
  EXPECT_EQ(listing.objects.size(), 1u);
  EXPECT_THAT(reader->Put("d", "x", budget_),
              IsError(ErrorKind::kDenied, AllOf(HasSubstr("SAS token"), Not(HasSubstr("sig=")))));
}

TEST_F(CloudStoresTest, TheEnvironmentNamesAccountKeyAndEndpoint) {
  ::setenv(
      "AZURE_STORAGE_CONNECTION_STRING",
      fmt::format("DefaultEndpointsProtocol=http;AccountName={};AccountKey={};BlobEndpoint={};",
                  AzureServer::kAccount, AzureServer::account_key(), TheServers().azure->endpoint())
          .c_str(),
      1);
  ASSERT_OK_ASSIGN(const auto store, OpenStore("az://lake/t", {}));
  EXPECT_THAT(store->Put("by-connection-string", "x", budget_), IsOk());
  ::unsetenv("AZURE_STORAGE_CONNECTION_STRING");
  ::setenv("STORAGE_EMULATOR_HOST", TheServers().gcs->endpoint().c_str(), 1);
  ASSERT_OK_ASSIGN(const auto gcs, OpenStore("gs://lake/t", {}));
  EXPECT_THAT(gcs->Put("by-emulator-host", "x", budget_), IsOk());
  ::unsetenv("STORAGE_EMULATOR_HOST");
}

TEST_F(CloudStoresTest, WhatHadoopLeavesForFoldersIsNone) {
  // Its driver of wasb:// marks folders with such blobs; accounts with a hierarchical namespace
  // list theirs in the same words.
  ASSERT_THAT(TheServers().azure->PutFolderBlob("lake", "marked/dt=1"), IsOk());
  ASSERT_OK_ASSIGN(
      const auto store,
      OpenStore("wasb://lake@lakeaccount.blob.core.windows.net/marked", azure_options_));
  ASSERT_THAT(store->Put("dt=1/a", "x", budget_), IsOk());
  ASSERT_OK_ASSIGN(const Listing all,
                   store->List("", {.start_after = "", .is_recursive = true}, budget_));
  ASSERT_EQ(all.objects.size(), 1u);
  EXPECT_EQ(all.objects[0].key, "dt=1/a");
  ASSERT_OK_ASSIGN(const Listing flat, store->List("", {}, budget_));
  EXPECT_THAT(flat.folders, ::testing::ElementsAre("dt=1/"));
  EXPECT_TRUE(flat.objects.empty());
  const auto no_object = IsError(ErrorKind::kNotFound, HasSubstr("folder"));
  EXPECT_THAT(store->Read("dt=1", budget_), no_object);
  EXPECT_THAT(store->Stat("dt=1", budget_), no_object);
}

}  // namespace
}  // namespace tidemark::storage
