#include "storage/azure_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/azure_signer.h"
#include "storage/azure_xml.h"
#include "storage/bucket_store.h"
#include "storage/http_time.h"
#include "storage/token_request.h"

namespace tidemark::storage {

namespace {

/// Names that XML cannot hold are told from others since 2021-02-12.
constexpr std::string_view kVersion = "2021-12-02";
/// 1,024 characters, of up to four bytes; the server counts.
constexpr size_t kAzureKeyBytesMax = 4096;
/// Of one "Put Blob".
constexpr uint64_t kAzurePutBytesMax = uint64_t{5000} << 20;

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view AdviceFor(std::string_view code, bool is_anonymous) {
  if (is_anonymous) return "access refused: the container is not public, so credentials are needed";
  if (code == "AuthorizationFailure")
    return "access refused: the firewall of the account, or the permissions of the SAS token, do "
           "not allow it";
  if (IsOneOf(code, {"AuthorizationPermissionMismatch", "InsufficientAccountPermissions"}))
    return "access refused: the identity needs the role Storage Blob Data Reader (to write: "
           "Contributor), or the access lists must let it through";
  if (code == "KeyBasedAuthenticationNotPermitted")
    return "the account takes no keys; log in with an identity of Microsoft Entra";
  if (IsOneOf(code, {"AuthenticationFailed", "InvalidAuthenticationInfo"}))
    return "the key, SAS token or identity is not accepted, or has expired; check the clock of "
           "this machine too";
  if (code == "AccountIsDisabled") return "the account is disabled";
  return "access refused: check the key or the roles of the identity";
}

ErrorKind KindOf(int status, std::string_view code) {
  // Of an account that has no public containers.
  if (code == "PublicAccessNotPermitted") return ErrorKind::kDenied;
  if (code == "InvalidAuthenticationInfo") return ErrorKind::kDenied;
  if (code == "BlobArchived") return ErrorKind::kUnsupported;
  return KindOfStatus(status);
}

std::string_view TextFor(int status, std::string_view code, ErrorKind kind,
                         const BucketRequest& request, bool is_anonymous) {
  if (code == "BlobArchived") return "the blob is archived; rehydrate it first";
  switch (kind) {
    case ErrorKind::kDenied: return AdviceFor(code, is_anonymous);
    case ErrorKind::kNotFound:
      if (code == "ContainerNotFound" || request.is_listing) return "no such container";
      return code == "BlobNotFound" ? "no such object" : "no such object or container";
    case ErrorKind::kConflict: return "the object exists already, or may not be changed";
    case ErrorKind::kUnsupported: return "the server does not support this request";
    case ErrorKind::kUnavailable: return "the server is not able to answer";
    case ErrorKind::kInvalidArgument:
      return status < 400 ? "the container answers at another endpoint"
                          : "the server refuses the request";
    default: return "not an answer of Azure";
  }
}

std::string AccountOfHost(std::string_view host) {
  return std::string(host.substr(0, host.find('.')));
}

}  // namespace

/// A request over its tries: asks once for credentials that replace refused ones.
class AzureService::Call final : public BucketCall {
 public:
  Call(const AzureService& service, const BucketRequest& request)
      : service_(service), request_(request) {}

  Result<HttpRequest> NextTry(const Budget& budget) override {
    const Endpoint& endpoint = service_.place_.endpoint;
    const std::string path = endpoint.path + request_.path;
    auto headers = request_.headers;
    headers.emplace_back("x-ms-version", kVersion);
    headers.emplace_back("x-ms-date", FormatHttpDate(SystemClock().Now()));
    std::string query = CanonicalQuery(request_.query);
    if (service_.chain_ != nullptr) {
      TRY_ASSIGN(credentials_, service_.chain_->Get(budget));
      if (!credentials_->account_key.empty()) {
        const AzureRequestToSign to_sign{
            request_.method, service_.place_.account, path, request_.query,
            headers,         request_.body.size()};
        headers.emplace_back("authorization", AzureSharedKey(to_sign, credentials_->account_key));
      } else {
        // Both can be used by whoever reads them.
        TRY(CheckTokenIsSafe(endpoint));
        if (!credentials_->sas.empty()) {
          query += (query.empty() ? "" : "&") + credentials_->sas;
        } else {
          headers.emplace_back("authorization", "Bearer " + credentials_->token);
        }
      }
    }
    HttpRequest http;
    http.method = request_.method;
    http.url = endpoint.scheme + "://" + endpoint.host + path;
    if (!query.empty()) http.url += '?' + query;
    http.body = request_.body;
    http.answer_bytes_max = request_.answer_bytes_max;
    for (const auto& [name, value] : headers) http.headers.push_back(name + ": " + value);
    return http;
  }

  BucketJudgement Judge(const HttpAnswer& answer, const Budget& budget) override {
    const int status = answer.status;
    const bool is_success = status >= 200 && status < 300;
    const bool is_folder = is_success && answer.Header("x-ms-meta-hdi_isfolder") == "true";
    if (is_success && !is_folder) return {};
    AzureErrorText text = ParseAzureError(answer.body);
    // Answers to HEAD have no body.
    if (text.code.empty()) text.code = OneLine(answer.Header("x-ms-error-code"));
    if (request_.is_conditional && text.code == "BlobAlreadyExists")
      return {.verdict = BucketVerdict::kConditionFalse};
    if (request_.method == "DELETE" && IsOneOf(text.code, {"BlobNotFound", "DirectoryIsNotEmpty"}))
      return {};
    const bool is_passing = IsPassing(status);
    const ErrorKind kind = is_folder    ? ErrorKind::kNotFound
                           : is_passing ? ErrorKind::kUnavailable
                                        : KindOf(status, text.code);
    const std::string_view meaning =
        is_folder ? "a folder, not an object"
                  : TextFor(status, text.code, kind, request_, !credentials_);
    Error error = ErrorOf(request_, answer, service_.place_.endpoint.host,
                          {kind, meaning, text.code,
                           fmt::format("account={} by='{}'", service_.place_.account,
                                       credentials_ ? credentials_->who : "(anonymous)"),
                           // A refused signature's text repeats the signed request.
                           kind == ErrorKind::kDenied ? "" : text.message});
    if (is_passing) {
      const bool is_undone = status < 500 || text.code == "ServerBusy";
      return {BucketVerdict::kRetry, std::move(error), is_undone};
    }
    const bool is_stale = IsOneOf(text.code, {"InvalidAuthenticationInfo", "AuthenticationFailed"});
    if (is_stale && credentials_ && !std::exchange(has_renewed_, true) &&
        service_.chain_->Renew(*credentials_, budget))
      return {.verdict = BucketVerdict::kAtOnce};
    return {.verdict = BucketVerdict::kFailure, .error = std::move(error)};
  }

 private:
  const AzureService& service_;
  const BucketRequest& request_;
  std::optional<AzureCredentials> credentials_;
  bool has_renewed_ = false;
};

AzureService::AzureService(Private, Place place,
                           std::shared_ptr<CredentialChain<AzureCredentials>> chain)
    : place_(std::move(place)), chain_(std::move(chain)) {}

Result<std::unique_ptr<AzureService>> AzureService::Make(const StoreUri& uri,
                                                         const StoreOptions& options,
                                                         const Environment& environment) {
  Place place{AccountOfHost(uri.host), uri.bucket, {}};
  AzureConnection connection;
  if (const auto text = environment("AZURE_STORAGE_CONNECTION_STRING")) {
    TRY_ASSIGN(connection, ParseAzureConnection(*text));
  }
  if (place.account.empty())
    place.account = environment("AZURE_STORAGE_ACCOUNT").value_or(connection.account);
  if (place.account.empty()) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("the URI names no account: write abfs://container@account… or set "
                            "AZURE_STORAGE_ACCOUNT: uri='{}'",
                            uri.text));
  }
  std::string address = options.endpoint;
  if (address.empty()) address = environment("AZURE_STORAGE_BLOB_ENDPOINT").value_or("");
  if (address.empty() && connection.account == place.account) address = connection.blob_endpoint;
  if (address.empty()) {
    address = "https://" + (uri.host.empty() ? place.account + ".blob.core.windows.net" : uri.host);
  }
  TRY_ASSIGN(place.endpoint, ParseEndpoint(address));
  std::shared_ptr<CredentialChain<AzureCredentials>> chain;
  if (!options.is_anonymous) {
    const AzureSecrets settings{options.account_key, options.sas_token};
    if (!settings.account_key.empty() || !settings.sas_token.empty()) TRY(CredentialsOf(settings));
    chain = SharedAzureCredentialChain(environment, place.account, settings);
  }
  return std::make_unique<AzureService>(Private(), std::move(place), std::move(chain));
}

BucketLimits AzureService::limits() const {
  return {"Azure", kAzureKeyBytesMax, kAzurePutBytesMax, ListOrder::kOwn, false};
}

std::unique_ptr<BucketCall> AzureService::Begin(const BucketRequest& request) {
  return std::make_unique<Call>(*this, request);
}

BucketRequest AzureService::ListPageRequest(const ListQuestion& question,
                                            std::string_view token) const {
  BucketRequest request;
  request.method = "GET";
  request.path = '/' + UrlEncoded(place_.container);
  request.is_listing = true;
  request.query = {
      {"restype", "container"}, {"comp", "list"}, {"maxresults", "5000"}, {"include", "metadata"}};
  if (!question.prefix.empty()) request.query.emplace_back("prefix", question.prefix);
  if (!question.options.is_recursive) request.query.emplace_back("delimiter", "/");
  if (!token.empty()) request.query.emplace_back("marker", token);
  return request;
}

Result<ListPage> AzureService::ParsePage(std::string_view body) const {
  return ParseAzureListPage(body);
}

BucketRequest AzureService::ObjectRequest(std::string_view method, const std::string& key) const {
  BucketRequest request;
  request.method = method;
  request.path = '/' + UrlEncoded(place_.container) + '/' + UrlEncoded(key, "/");
  return request;
}

BucketRequest AzureService::ReadRequest(const std::string& key, const std::string& tag) const {
  BucketRequest request = ObjectRequest("GET", key);
  if (!tag.empty()) request.headers.emplace_back("if-match", tag);
  return request;
}

std::string AzureService::TagOf(const HttpAnswer& answer) const {
  return std::string(answer.Header("etag"));
}

BucketRequest AzureService::StatRequest(const std::string& key) const {
  return ObjectRequest("HEAD", key);
}

Result<BucketRequest> AzureService::PutRequest(const std::string& key, std::string_view bytes,
                                               PutCondition condition) const {
  BucketRequest request = ObjectRequest("PUT", key);
  request.body = bytes;
  request.headers.emplace_back("x-ms-blob-type", "BlockBlob");
  if (condition == PutCondition::kAbsent) request.headers.emplace_back("if-none-match", "*");
  return request;
}

BucketRequest AzureService::RemoveRequest(const std::string& key) const {
  return ObjectRequest("DELETE", key);
}

Result<std::unique_ptr<ObjectStore>> OpenAzureStore(const StoreUri& uri,
                                                    const StoreOptions& options,
                                                    const Environment& environment) {
  TRY_ASSIGN(auto service, AzureService::Make(uri, options, environment));
  return std::make_unique<BucketStore>(uri, std::move(service));
}

}  // namespace tidemark::storage
