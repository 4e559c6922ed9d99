// How the stores of Google and Azure take what servers and networks do wrong. What all stores share
// is shown in s3_store_test.cc, what they do right against real servers in tests/contract.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "storage/azure_service.h"
#include "storage/gcs_service.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAzureUri = "abfss://lake@acct.dfs.core.windows.net/t";

std::string GcsError(int code, std::string_view reason, std::string_view message = "because") {
  return fmt::format(R"({{"error":{{"code":{},"message":"{}","errors":[{{"reason":"{}"}}]}}}})",
                     code, message, reason);
}
std::string AzureError(std::string_view code) {
  return fmt::format(
      "<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>because</Message></Error>", code);
}
std::string GcsPage(std::string_view name, std::string_view token = "") {
  return fmt::format(
      R"({{"kind":"storage#objects","items":[{{"name":"{}","size":"1","timeCreated":)"
      R"("2026-11-30T00:00:00Z"}}]{}}})",
      name, token.empty() ? "" : fmt::format(R"(,"nextPageToken":"{}")", token));
}
std::string AzurePage(std::string_view name, std::string_view marker = "") {
  return fmt::format(
      "<EnumerationResults><Blobs><Blob><Name>{}</Name><Properties><Last-Modified>Mon, 30 Nov 2026 "
      "00:00:00 GMT</Last-Modified><Content-Length>1</Content-Length></Properties></Blob></Blobs>"
      "<NextMarker>{}</NextMarker></EnumerationResults>",
      name, marker);
}

class CloudStoresFaultsTest : public ::testing::Test {
 protected:
  CloudStoresFaultsTest() { budget_.retry_delay = 5ms; }

  Environment Variables() const {
    return [variables = variables_](const char* name) -> std::optional<std::string> {
      const auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    };
  }
  /// The stores of both services on one server; with credentials only where `variables_` say so.
  void Serve(ScriptedHttpServer::Script script, bool is_anonymous = true) {
    server_ = std::make_unique<ScriptedHttpServer>(std::move(script));
    StoreOptions options;
    options.endpoint = server_->endpoint();
    options.is_anonymous = is_anonymous;
    auto gcs = OpenGcsStore(*ParseStoreUri("gs://lake/t"), options, Variables());
    ASSERT_THAT(gcs, IsOk());
    gcs_ = *std::move(gcs);
    auto azure = OpenAzureStore(*ParseStoreUri(kAzureUri), options, Variables());
    ASSERT_THAT(azure, IsOk());
    azure_ = *std::move(azure);
  }
  void AlwaysAnswer(const ScriptedReply& reply) {
    Serve([reply](const ScriptedRequest&, int) { return reply; });
  }
  size_t requests() const { return server_->Requests().size(); }

  std::map<std::string, std::string> variables_ = {
      {"NO_GCE_CHECK", "true"}, {"AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1"}};
  Budget budget_ = Budget::For(20s);
  std::unique_ptr<ScriptedHttpServer> server_;
  std::unique_ptr<ObjectStore> gcs_;
  std::unique_ptr<ObjectStore> azure_;
};

TEST_F(CloudStoresFaultsTest, BusyServersAreAskedAgain) {
  for (const auto& reply :
       {HttpReply(503, ""), HttpReply(500, AzureError("OperationTimedOut")), HttpReply(429, ""),
        HttpReply(408, ""), HttpReply(503, AzureError("ServerBusy")),
        HttpReply(503, GcsError(503, "backendError"))}) {
    for (const auto* store : {&gcs_, &azure_}) {
      Serve([&](const ScriptedRequest&, int number) {
        return number < 3 ? reply : HttpReply(200, "bytes");
      });
      EXPECT_THAT((*store)->Read("a", budget_), IsOkAnd(std::string("bytes"))) << reply.bytes;
      EXPECT_EQ(requests(), 3u);
      AlwaysAnswer(reply);
      EXPECT_THAT((*store)->Read("a", budget_),
                  IsError(ErrorKind::kUnavailable, HasSubstr("tries=3")));
    }
  }
}

TEST_F(CloudStoresFaultsTest, AThrottledRequestIsNoRefusedOne) {
  Serve([](const ScriptedRequest&, int number) {
    return number == 1 ? HttpReply(403, GcsError(403, "rateLimitExceeded")) : HttpReply(200, "x");
  });
  EXPECT_THAT(gcs_->Read("a", budget_), IsOk());
  AlwaysAnswer(HttpReply(403, GcsError(403, "forbidden")));
  EXPECT_THAT(gcs_->Read("a", budget_),
              IsError(ErrorKind::kDenied, AllOf(HasSubstr("not public"), HasSubstr("gs://lake/t/a"),
                                                HasSubstr("account=(anonymous)"))));
  EXPECT_EQ(requests(), 1u);
}

TEST_F(CloudStoresFaultsTest, EachRefusalOfAzureSaysWhatToCheck) {
  variables_["AZURE_STORAGE_KEY"] = "YQ==";
  const struct {
    int status;
    std::string_view code;
    ErrorKind kind;
    std::string_view advice;
  } cases[] = {
      {403, "AuthenticationFailed", ErrorKind::kDenied, "clock"},
      {403, "AuthorizationFailure", ErrorKind::kDenied, "firewall"},
      {403, "AuthorizationPermissionMismatch", ErrorKind::kDenied, "Storage Blob Data Reader"},
      {403, "KeyBasedAuthenticationNotPermitted", ErrorKind::kDenied, "takes no keys"},
      {409, "PublicAccessNotPermitted", ErrorKind::kDenied, "access refused"},
      {401, "NoAuthenticationInformation", ErrorKind::kDenied, "access refused"},
      {404, "ContainerNotFound", ErrorKind::kNotFound, "no such container"},
      {404, "BlobNotFound", ErrorKind::kNotFound, "no such object"},
      {409, "BlobArchived", ErrorKind::kUnsupported, "rehydrate"},
      {400, "InvalidResourceName", ErrorKind::kInvalidArgument, "refuses"},
      {301, "", ErrorKind::kInvalidArgument, "another endpoint"},
  };
  for (const auto& [status, code, kind, advice] : cases) {
    const auto reply = code.empty() ? HttpReply(status, "") : HttpReply(status, AzureError(code));
    Serve([reply](const ScriptedRequest&, int) { return reply; }, false);
    EXPECT_THAT(azure_->Read("a", budget_),
                IsError(kind, AllOf(HasSubstr(std::string(advice)), HasSubstr(std::string(code)),
                                    HasSubstr(std::string(kAzureUri) + "/a"))))
        << code;
    EXPECT_EQ(requests(), 1u);
  }
}

TEST_F(CloudStoresFaultsTest, AnswersToHeadHaveTheirCodeInAHeader) {
  AlwaysAnswer(HttpReply(404, "", "x-ms-error-code: ContainerNotFound\r\n"));
  EXPECT_THAT(azure_->Stat("a", budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("no such container")));
}

TEST_F(CloudStoresFaultsTest, AMissingBucketIsToldFromAMissingObject) {
  AlwaysAnswer(HttpReply(404, GcsError(404, "notFound", "The specified bucket does not exist.")));
  const auto no_bucket = IsError(ErrorKind::kNotFound, HasSubstr("no such bucket"));
  EXPECT_THAT(gcs_->List("", {}, budget_), no_bucket);
  EXPECT_THAT(gcs_->Read("a", budget_), no_bucket);
  EXPECT_THAT(gcs_->Remove("a", budget_), no_bucket);
  AlwaysAnswer(HttpReply(404, "No such object: lake/t/a"));
  EXPECT_THAT(gcs_->Read("a", budget_),
              IsError(ErrorKind::kNotFound, HasSubstr("no such object:")));
  EXPECT_THAT(gcs_->Remove("a", budget_), IsOk());
  AlwaysAnswer(HttpReply(404, AzureError("ContainerNotFound")));
  EXPECT_THAT(azure_->Remove("a", budget_), IsError(ErrorKind::kNotFound, _));
  AlwaysAnswer(HttpReply(409, AzureError("DirectoryIsNotEmpty")));
  EXPECT_THAT(azure_->Remove("a", budget_), IsOk()) << "a folder is no object";
}

TEST_F(CloudStoresFaultsTest, AFailingLaterPageIsNeverAShorterListing) {
  const auto first_then = [](const std::string& page, const ScriptedReply& reply) {
    return [=](const ScriptedRequest&, int number) {
      return number == 1 ? HttpReply(200, page) : reply;
    };
  };
  for (const auto& [reply, kind] : {std::pair(HttpReply(503, ""), ErrorKind::kUnavailable),
                                    std::pair(HttpReply(403, ""), ErrorKind::kDenied),
                                    std::pair(HttpReply(200, "<html/>"), ErrorKind::kCorrupt),
                                    std::pair(HttpReply(200, "{}"), ErrorKind::kCorrupt)}) {
    Serve(first_then(GcsPage("t/a", "more"), reply));
    EXPECT_THAT(gcs_->List("", {}, budget_), IsError(kind, HasSubstr("gs://lake/t")));
    Serve(first_then(AzurePage("t/a", "more"), reply));
    EXPECT_THAT(azure_->List("", {}, budget_), IsError(kind, HasSubstr(kAzureUri)));
  }
  Serve(first_then(GcsPage("t/a", "more"), HttpReply(200, GcsPage("t/b", "more"))));
  EXPECT_THAT(gcs_->List("", {}, budget_), IsError(ErrorKind::kCorrupt, HasSubstr("go on")));
  Serve(first_then(AzurePage("t/a", "more"), HttpReply(200, AzurePage("t/a"))));
  EXPECT_THAT(azure_->List("", {}, budget_), IsError(ErrorKind::kCorrupt, HasSubstr("twice")));
}

TEST_F(CloudStoresFaultsTest, PagesAreAskedForWithTheirTokens) {
  Serve([](const ScriptedRequest& request, int) {
    return request.target.contains("pageToken=mo%2Bre") ? HttpReply(200, GcsPage("t/b"))
                                                        : HttpReply(200, GcsPage("t/a", "mo+re"));
  });
  ASSERT_OK_ASSIGN(Listing listing,
                   gcs_->List("", {.start_after = "A b", .is_recursive = false}, budget_));
  EXPECT_EQ(listing.objects.size(), 2u);
  EXPECT_EQ(server_->Requests()[0].target,
            "/storage/v1/b/lake/o?delimiter=%2F&fields=kind%2CnextPageToken%2Cprefixes%2Citems%28"
            "name%2Csize%2CtimeCreated%29&maxResults=1000&prefix=t%2F&projection=noAcl&"
            "startOffset=t%2FA%20b");
  // In an order of its own, as accounts with a hierarchical namespace do.
  Serve([](const ScriptedRequest& request, int) {
    return request.target.contains("marker=mo%2Bre") ? HttpReply(200, AzurePage("t/a-"))
                                                     : HttpReply(200, AzurePage("t/a/b", "mo+re"));
  });
  ASSERT_OK_ASSIGN(listing, azure_->List("", {.start_after = "", .is_recursive = true}, budget_));
  ASSERT_EQ(listing.objects.size(), 2u);
  EXPECT_EQ(listing.objects[0].key, "a-");
  EXPECT_EQ(server_->Requests()[0].target,
            "/lake?comp=list&include=metadata&maxresults=5000&prefix=t%2F&restype=container");
}

TEST_F(CloudStoresFaultsTest, RangesBehindTheFirstAskForTheSameObject) {
  const auto part = [](const std::string& tag) {
    return HttpReply(206, "0123",
                     fmt::format("Content-Range: bytes 0-3/10\r\nETag: \"{0}\"\r\n"
                                 "X-Goog-Generation: {0}\r\n",
                                 tag));
  };
  std::string into(4, '.');
  // One that knows the condition, one that does not.
  for (const int status : {412, 206}) {
    const auto script = [&](const ScriptedRequest& request, int number) {
      if (request.method == "HEAD")
        return HttpReply(200, "",
                         "Last-Modified: Mon, 30 Nov 2026 "
                         "00:00:00 GMT\r\n");
      if (request.target.contains("fields="))
        return HttpReply(200, R"({"kind":"storage#object","size":"9",)"
                              R"("timeCreated":"2026-11-30T00:00:00Z"})");
      if (number < 3) return part("17");
      return status == 206 ? part("18") : HttpReply(status, "");
    };
    const auto changed = IsError(ErrorKind::kConflict, HasSubstr("changed while it was read"));
    ObjectState state;
    Serve(script);
    EXPECT_THAT(gcs_->ReadInto("a", 0, into, state, budget_), IsOkAnd(4u));
    EXPECT_THAT(gcs_->ReadInto("a", 0, into, state, budget_), IsOkAnd(4u));
    EXPECT_THAT(gcs_->ReadInto("a", 0, into, state, budget_), changed);
    EXPECT_FALSE(server_->Requests()[0].target.contains("ifGenerationMatch"));
    EXPECT_TRUE(server_->Requests()[1].target.contains("ifGenerationMatch=17"));
    EXPECT_EQ(server_->Requests()[1].headers.at("accept-encoding"), "gzip");
    ObjectState other;
    Serve(script);
    EXPECT_THAT(azure_->ReadInto("a", 0, into, other, budget_), IsOkAnd(4u));
    EXPECT_THAT(azure_->ReadInto("a", 0, into, other, budget_), IsOkAnd(4u));
    EXPECT_THAT(azure_->ReadInto("a", 0, into, other, budget_), changed);
    EXPECT_EQ(server_->Requests()[1].headers.at("if-match"), "\"17\"");
  }
}

TEST_F(CloudStoresFaultsTest, ConditionalWritesSaySoAndKnowTheirConflict) {
  AlwaysAnswer(HttpReply(412, GcsError(412, "conditionNotMet")));
  EXPECT_THAT(gcs_->PutIfAbsent("a", "bytes", budget_), IsError(ErrorKind::kConflict, _));
  ScriptedRequest sent = server_->Requests().at(0);
  EXPECT_EQ(sent.target,
            "/upload/storage/v1/b/lake/o?fields=kind&ifGenerationMatch=0&uploadType=multipart");
  EXPECT_EQ(sent.headers.at("content-type"), "multipart/related; boundary=tidemark");
  EXPECT_THAT(sent.body, AllOf(HasSubstr(R"({"name":"t/a"})"), HasSubstr("\r\n\r\nbytes\r\n--")));
  EXPECT_FALSE(gcs_->Put("a", "a tidemark in the bytes", budget_).has_value());
  EXPECT_EQ(server_->Requests().back().headers.at("content-type"),
            "multipart/related; boundary=tidemarkx");
  AlwaysAnswer(HttpReply(409, AzureError("BlobAlreadyExists")));
  EXPECT_THAT(azure_->PutIfAbsent("a", "x", budget_), IsError(ErrorKind::kConflict, _));
  EXPECT_EQ(server_->Requests()[0].headers.at("if-none-match"), "*");
  // The first try may have been carried out; nobody can say any more whose object it is.
  for (const auto& reply : {HttpReply(412, ""), HttpReply(409, AzureError("BlobAlreadyExists"))}) {
    Serve([&](const ScriptedRequest&, int number) {
      return number == 1 ? HttpReply(500, "") : reply;
    });
    EXPECT_THAT(azure_->PutIfAbsent("a", "x", budget_),
                IsError(ErrorKind::kUnavailable, HasSubstr("earlier try")));
  }
}

TEST_F(CloudStoresFaultsTest, ARefusedTokenIsFetchedAgainOnce) {
  std::string token = "old";
  ScriptedHttpServer tokens([&](const ScriptedRequest& request, int) {
    return HttpReply(
        200, fmt::format(R"({{"access_token":"{}","expires_in":3600}})", token),
        request.headers.contains("metadata-flavor") ? "Metadata-Flavor: Google\r\n" : "");
  });
  variables_ = {{"GCE_METADATA_HOST", fmt::format("127.0.0.1:{}", tokens.port())},
                {"AZURE_TENANT_ID", "t"},
                {"AZURE_CLIENT_ID", "c"},
                {"AZURE_CLIENT_SECRET", "s"},
                {"AZURE_AUTHORITY_HOST", tokens.endpoint()}};
  const auto script = [&](const ScriptedRequest& request, int) {
    if (request.headers.at("authorization") == "Bearer new") return HttpReply(200, "x");
    token = "new";
    return HttpReply(401, AzureError("InvalidAuthenticationInfo"));
  };
  Serve(script, false);
  EXPECT_THAT(gcs_->Read("a", budget_), IsOk());
  EXPECT_EQ(requests(), 2u);
  token = "old";
  EXPECT_THAT(azure_->Read("a", budget_), IsOk());
  EXPECT_EQ(requests(), 4u);
  Serve([](const ScriptedRequest&, int) { return HttpReply(401, ""); }, false);
  EXPECT_THAT(gcs_->Read("a", budget_),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("token is not accepted"), Not(HasSubstr("new")))));
  EXPECT_EQ(requests(), 1u) << "the same token is not tried again";
}

TEST_F(CloudStoresFaultsTest, ATokenIsNotSentInClearText) {
  StoreOptions options;
  options.endpoint = "http://storage.example";
  EXPECT_THAT(OpenGcsStore(*ParseStoreUri("gs://lake"), options, Variables()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("https")));
  options.is_anonymous = true;
  EXPECT_THAT(OpenGcsStore(*ParseStoreUri("gs://lake"), options, Variables()), IsOk());
  options.is_anonymous = false;
  options.sas_token = "sv=1&sig=s3cr3t";
  ASSERT_OK_ASSIGN(const auto azure,
                   OpenAzureStore(*ParseStoreUri(kAzureUri), options, Variables()));
  EXPECT_THAT(
      azure->Read("a", budget_),
      IsError(ErrorKind::kInvalidArgument, AllOf(HasSubstr("https"), Not(HasSubstr("s3cr")))));
}

TEST_F(CloudStoresFaultsTest, ASasTokenIsInNoMessage) {
  StoreOptions options;
  options.endpoint = "http://127.0.0.1:1";
  options.sas_token = "sv=1&sig=s3cr3t";
  ASSERT_OK_ASSIGN(const auto azure,
                   OpenAzureStore(*ParseStoreUri(kAzureUri), options, Variables()));
  EXPECT_THAT(
      azure->Read("a", budget_),
      IsError(ErrorKind::kUnavailable, AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("s3cr3t")))));
}

TEST_F(CloudStoresFaultsTest, BadOptionsAreSaidWhenTheStoreIsOpened) {
  StoreOptions options;
  options.endpoint = "ftp://x";
  for (const char* uri : {"gs://lake", kAzureUri})
    EXPECT_THAT(OpenStore(uri, options),
                IsError(ErrorKind::kInvalidArgument, HasSubstr("endpoint")));
  options = {};
  options.account_key = "s3cr3t!";
  EXPECT_THAT(OpenStore(kAzureUri, options),
              IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("s3cr3t"))));
  EXPECT_THAT(OpenAzureStore(*ParseStoreUri("az://lake/t"), {}, Variables()),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("AZURE_STORAGE_ACCOUNT")));
}

}  // namespace
}  // namespace tidemark::storage
