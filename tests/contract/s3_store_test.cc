// S3Store against real servers. They start once for all tests: this program is one test of ctest.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "contract/object_store_contract.h"
#include "support/result_matchers.h"
#include "support/s3_server.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using support::S3Server;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kFilled = 5001;

/// One server of a kind, for the whole program.
struct Servers {
  std::unique_ptr<S3Server> moto;
  std::unique_ptr<S3Server> s3rver;
};
Servers& TheServers() {
  static Servers servers;
  return servers;
}

class StartServers final : public ::testing::Environment {
 public:
  void SetUp() override {
    auto moto = S3Server::StartMoto({"lake"}, {fmt::format("lake/filled/t={}", kFilled)});
    ASSERT_THAT(moto, IsOk());
    TheServers().moto = *std::move(moto);
    auto s3rver = S3Server::StartS3rver({"lake"});
    ASSERT_THAT(s3rver, IsOk());
    TheServers().s3rver = *std::move(s3rver);
  }
  void TearDown() override { TheServers() = {}; }
};
const auto* const kStartServers =
    ::testing::AddGlobalTestEnvironment(std::make_unique<StartServers>().release());

Result<std::unique_ptr<ObjectStore>> OpenOn(const S3Server& server, const std::string& uri) {
  // Keys are read at the first request, which is why a store is opened under its own.
  server.ExportKeys();
  return OpenStore(uri, server.Options());
}

Result<std::unique_ptr<ObjectStore>> OpenMoto(const std::string& root) {
  return OpenOn(*TheServers().moto, "s3://lake/" + root);
}

Result<std::unique_ptr<ObjectStore>> OpenS3rver(const std::string& root) {
  return OpenOn(*TheServers().s3rver, "s3a://lake/deep/" + root);
}

INSTANTIATE_TEST_SUITE_P(Stores, ObjectStoreContract,
                         ::testing::Values(
                             // moto's routes take a line break in a path for its end.
                             StoreUnderTest{"Moto", OpenMoto, {.has_control_characters = false}},
                             // s3rver lists as its disk sorts, and writes in place.
                             StoreUnderTest{"S3rver",
                                            OpenS3rver,
                                            {.has_put_if_absent = false,
                                             .has_byte_order = false,
                                             .has_ranges_of_empty_objects = false,
                                             .has_atomic_put = false}}),
                         [](const auto& param_info) { return param_info.param.name; });

class MotoTest : public ::testing::Test {
 protected:
  void SetUp() override { TheServers().moto->ExportKeys(); }
  const S3Server& moto() const { return *TheServers().moto; }
  const Budget budget_ = Budget::For(std::chrono::seconds(60));
};

TEST_F(MotoTest, AListingOfThousandsComesInPages) {
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/filled", moto().Options()));
  ASSERT_OK_ASSIGN(const Listing listing, store->List("t", {}, budget_));
  EXPECT_EQ(listing.objects.size(), static_cast<size_t>(kFilled));
  EXPECT_EQ(listing.objects.back().key, fmt::format("t/{:06}", kFilled - 1));
}

TEST_F(MotoTest, TheEndOfThousandsIsOneRequest) {
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/filled", moto().Options()));
  const int before = moto().CountRequests("GET /lake?");
  ASSERT_OK_ASSIGN(const Listing listing,
                   store->List("t", {.start_after = "t/004990", .is_recursive = false}, budget_));
  EXPECT_EQ(listing.objects.size(), static_cast<size_t>(kFilled - 4991));
  EXPECT_EQ(moto().CountRequests("GET /lake?") - before, 1);
}

TEST_F(MotoTest, AMissingBucketIsNotFoundAndSaidSo) {
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://no-such-lake/t", moto().Options()));
  const auto no_bucket = IsError(
      ErrorKind::kNotFound, AllOf(HasSubstr("no such bucket"), HasSubstr("s3://no-such-lake/t")));
  EXPECT_THAT(store->List("", {}, budget_), no_bucket);
  EXPECT_THAT(store->Read("a", budget_), no_bucket);
  ASSERT_OK_ASSIGN(const auto other, OpenStore("s3://lake/t", moto().Options()));
  EXPECT_THAT(other->Read("a", budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("no such object")));
}

TEST_F(MotoTest, AWrongSecretIsDenied) {
  ::setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret", 1);
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/t", moto().Options()));
  EXPECT_THAT(store->List("", {}, budget_),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr(moto().access_key_id()), HasSubstr("SignatureDoesNotMatch"),
                            Not(HasSubstr("not-the-secret")))));
}

TEST_F(MotoTest, AnUnknownKeyIsDenied) {
  ::setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN", 1);
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/t", moto().Options()));
  EXPECT_THAT(store->Read("a", budget_), IsError(ErrorKind::kDenied, HasSubstr("AKIAUNKNOWN")));
}

TEST_F(MotoTest, NoCredentialsAtAllSaysWhereWeLooked) {
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/t", moto().Options()));
  EXPECT_THAT(
      store->Read("a", budget_),
      IsError(ErrorKind::kDenied,
              AllOf(HasSubstr("no credentials found"), HasSubstr("AWS_ACCESS_KEY_ID"),
                    HasSubstr("~/.aws/credentials"), HasSubstr("AWS_WEB_IDENTITY_TOKEN_FILE"),
                    HasSubstr("EC2"), HasSubstr("s3://lake/t/a"))));
}

TEST(TlsTest, AServerIsTrustedByItsCertificateOnly) {
  ASSERT_OK_ASSIGN(const auto server, S3Server::StartS3rver({"lake"}, true));
  server->ExportKeys();
  ASSERT_OK_ASSIGN(const auto store, OpenStore("s3://lake/t", server->Options()));
  EXPECT_THAT(store->Put("a", "x", {}), IsError(ErrorKind::kDenied, HasSubstr("certificate")));
  ::setenv("AWS_CA_BUNDLE", server->ca_file().c_str(), 1);
  EXPECT_THAT(store->Put("a", "x", {}), IsOk());
  EXPECT_THAT(store->Read("a", {}), support::IsOkAnd(std::string("x")));
  ::setenv("AWS_CA_BUNDLE", "/dev/null/none", 1);
  EXPECT_THAT(store->Read("a", {}), IsError(ErrorKind::kInvalidArgument, HasSubstr("none")));
  ::unsetenv("AWS_CA_BUNDLE");
}

}  // namespace
}  // namespace tidemark::storage
