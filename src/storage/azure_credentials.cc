#include "storage/azure_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/digest.h"
#include "storage/endpoint.h"
#include "storage/small_file.h"
#include "storage/token_request.h"
#include "storage/url_text.h"

namespace tidemark::storage {

namespace {

constexpr std::string_view kResource = "https://storage.azure.com/";
constexpr std::string_view kAuthority = "https://login.microsoftonline.com";
constexpr std::string_view kInstanceTokens =
    "http://169.254.169.254/metadata/identity/oauth2/token";

/// All variables that the places of the chain look at.
constexpr std::array<const char*, 14> kVariables = {"AZURE_STORAGE_ACCOUNT",
                                                    "AZURE_STORAGE_KEY",
                                                    "AZURE_STORAGE_SAS_TOKEN",
                                                    "AZURE_STORAGE_CONNECTION_STRING",
                                                    "AZURE_TENANT_ID",
                                                    "AZURE_CLIENT_ID",
                                                    "AZURE_CLIENT_SECRET",
                                                    "AZURE_FEDERATED_TOKEN_FILE",
                                                    "AZURE_AUTHORITY_HOST",
                                                    "IDENTITY_ENDPOINT",
                                                    "IDENTITY_HEADER",
                                                    "AZURE_POD_IDENTITY_AUTHORITY_HOST",
                                                    "http_proxy",
                                                    "https_proxy"};

class AccountSource final : public AzureCredentialSource {
 public:
  AccountSource(Environment environment, std::string account, AzureSecrets settings)
      : environment_(std::move(environment)),
        account_(std::move(account)),
        settings_(std::move(settings)) {}

  std::string_view name() const override {
    return "account (account_key, sas_token, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, "
           "AZURE_STORAGE_CONNECTION_STRING)";
  }

  Result<std::optional<AzureCredentials>> Load(const Budget&) const override {
    AzureSecrets secrets = settings_;
    const auto is_none = [&] { return secrets.account_key.empty() && secrets.sas_token.empty(); };
    if (is_none() && environment_("AZURE_STORAGE_ACCOUNT").value_or(account_) == account_) {
      secrets = {environment_("AZURE_STORAGE_KEY").value_or(""),
                 environment_("AZURE_STORAGE_SAS_TOKEN").value_or("")};
    }
    if (const auto text = environment_("AZURE_STORAGE_CONNECTION_STRING"); text && is_none()) {
      TRY_ASSIGN(const AzureConnection connection, ParseAzureConnection(*text));
      if (connection.account.empty() || connection.account == account_)
        secrets = connection.secrets;
    }
    if (is_none()) return std::nullopt;
    return CredentialsOf(secrets);
  }

 private:
  Environment environment_;
  std::string account_;
  AzureSecrets settings_;
};

/// Fetches tokens of Microsoft Entra for a client that proves itself by `proof`.
Result<std::optional<AzureCredentials>> FetchClientToken(const Environment& environment,
                                                         const QueryParts& proof, HttpClient& http,
                                                         WallTime now, const Budget& budget) {
  const std::string tenant = environment("AZURE_TENANT_ID").value_or("");
  const std::string client = environment("AZURE_CLIENT_ID").value_or("");
  TRY_ASSIGN(const Endpoint endpoint,
             ParseEndpoint(environment("AZURE_AUTHORITY_HOST").value_or(std::string(kAuthority))));
  TRY(CheckTokenIsSafe(endpoint));
  QueryParts form = proof;
  form.emplace_back("grant_type", "client_credentials");
  form.emplace_back("client_id", client);
  form.emplace_back("scope", std::string(kResource) + ".default");
  const std::string body = CanonicalQuery(form);
  HttpRequest request;
  request.method = "POST";
  request.url = fmt::format("{}://{}{}/{}/oauth2/v2.0/token", endpoint.scheme, endpoint.host,
                            endpoint.path, UrlEncoded(tenant));
  request.headers = {"content-type: application/x-www-form-urlencoded"};
  request.body = body;
  TRY_ASSIGN(const HttpAnswer answer,
             SendForCredentials(http, request, budget.Within(kTokenTimeout)));
  if (answer.status != 200) {
    return Fail(
        ErrorKind::kDenied,
        fmt::format("the server gives no token for this client: client={} tenant={} "
                    "http={} error='{}' host={}",
                    client, tenant, answer.status, OAuthErrorText(answer.body), endpoint.host));
  }
  TRY_ASSIGN(AccessToken token, ParseAccessToken(answer.body, now, endpoint.host));
  return AzureCredentials{"", "", std::move(token.token), "client " + client, token.expires};
}

class ClientSource final : public AzureCredentialSource {
 public:
  ClientSource(Environment environment, HttpClient& http, const Clock& clock)
      : environment_(std::move(environment)), http_(http), clock_(clock) {}

  std::string_view name() const override {
    return "client (AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET)";
  }

  Result<std::optional<AzureCredentials>> Load(const Budget& budget) const override {
    const auto secret = environment_("AZURE_CLIENT_SECRET");
    if (!secret || !environment_("AZURE_TENANT_ID") || !environment_("AZURE_CLIENT_ID"))
      return std::nullopt;
    return FetchClientToken(environment_, {{"client_secret", *secret}}, http_, clock_.Now(),
                            budget);
  }

 private:
  Environment environment_;
  HttpClient& http_;
  const Clock& clock_;
};

class WorkloadSource final : public AzureCredentialSource {
 public:
  WorkloadSource(Environment environment, HttpClient& http, const Clock& clock)
      : environment_(std::move(environment)), http_(http), clock_(clock) {}

  std::string_view name() const override {
    return "workload identity (AZURE_FEDERATED_TOKEN_FILE)";
  }

  Result<std::optional<AzureCredentials>> Load(const Budget& budget) const override {
    const auto file = environment_("AZURE_FEDERATED_TOKEN_FILE");
    if (!file || !environment_("AZURE_TENANT_ID") || !environment_("AZURE_CLIENT_ID"))
      return std::nullopt;
    // Read each time: the platform replaces the token.
    TRY_ASSIGN(const std::string token, ReadSmallFile(*file));
    return FetchClientToken(
        environment_,
        {{"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
         {"client_assertion", std::string(WithoutLineEnd(token))}},
        http_, clock_.Now(), budget);
  }

 private:
  Environment environment_;
  HttpClient& http_;
  const Clock& clock_;
};

class ManagedSource final : public AzureCredentialSource {
 public:
  ManagedSource(Environment environment, HttpClient& http, const Clock& clock)
      : environment_(std::move(environment)), http_(http), clock_(clock) {}

  std::string_view name() const override { return "managed identity of Azure"; }

  Result<std::optional<AzureCredentials>> Load(const Budget& budget) const override {
    const auto endpoint = environment_("IDENTITY_ENDPOINT");
    const auto header = environment_("IDENTITY_HEADER");
    const bool is_app = endpoint && header;
    if (is_app && header->find_first_of("\r\n") != std::string::npos)
      return Fail(ErrorKind::kInvalidArgument, "IDENTITY_HEADER has more than one line");
    QueryParts query = {{"resource", std::string(kResource)},
                        {"api-version", is_app ? "2019-08-01" : "2018-02-01"}};
    if (const auto client = environment_("AZURE_CLIENT_ID"))
      query.emplace_back("client_id", *client);
    std::string url = is_app ? *endpoint : std::string(kInstanceTokens);
    if (const auto elsewhere = environment_("AZURE_POD_IDENTITY_AUTHORITY_HOST");
        elsewhere && !is_app)
      url = *elsewhere + "/metadata/identity/oauth2/token";
    HttpRequest request;
    request.url = url + '?' + CanonicalQuery(query);
    request.headers = {is_app ? "x-identity-header: " + *header : std::string("metadata: true")};
    TRY_ASSIGN(const auto answer, AskInstance(http_, std::move(request), budget));
    if (!answer) return std::nullopt;
    const std::string_view host = HostOfUrl(url);
    const bool names_identity = environment_("AZURE_CLIENT_ID").has_value();
    if (answer->status == 400 && (is_app || names_identity)) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the machine has no such identity: client={} error='{}' host={}",
                              environment_("AZURE_CLIENT_ID").value_or("(its own)"),
                              OAuthErrorText(answer->body), host));
    }
    // A machine without an identity, or another cloud's service at the same address.
    if (answer->status >= 400 && answer->status < 500) return std::nullopt;
    if (answer->status != 200) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the identity service gives no token: http={} host={}",
                              answer->status, host));
    }
    TRY_ASSIGN(AccessToken token, ParseAccessToken(answer->body, clock_.Now(), host));
    return AzureCredentials{"", "", std::move(token.token), "managed identity", token.expires};
  }

 private:
  Environment environment_;
  HttpClient& http_;
  const Clock& clock_;
};

}  // namespace

Result<AzureConnection> ParseAzureConnection(std::string_view text) {
  AzureConnection connection;
  std::string protocol = "https";
  std::string suffix = "core.windows.net";
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Fail(ErrorKind::kInvalidArgument,
                  "AZURE_STORAGE_CONNECTION_STRING is no list of name=value; …");
    }
    const std::string_view name = part.substr(0, equals);
    const std::string value(part.substr(equals + 1));
    if (name == "AccountName") connection.account = value;
    if (name == "AccountKey") connection.secrets.account_key = value;
    if (name == "SharedAccessSignature") connection.secrets.sas_token = value;
    if (name == "BlobEndpoint") connection.blob_endpoint = value;
    if (name == "DefaultEndpointsProtocol") protocol = value;
    if (name == "EndpointSuffix") suffix = value;
  }
  if (connection.blob_endpoint.empty() && !connection.account.empty())
    connection.blob_endpoint = fmt::format("{}://{}.blob.{}", protocol, connection.account, suffix);
  return connection;
}

Result<AzureCredentials> CredentialsOf(const AzureSecrets& secrets) {
  if (!secrets.account_key.empty()) {
    auto key = Base64Decoded(secrets.account_key);
    if (!key) return Fail(ErrorKind::kInvalidArgument, "the account key is not base64");
    return AzureCredentials{*std::move(key), "", "", "account key", {}};
  }
  std::string_view sas = secrets.sas_token;
  if (sas.starts_with('?')) sas.remove_prefix(1);
  const bool is_query = !sas.empty() && std::ranges::all_of(sas, [](char c) {
    return c > 0x20 && c < 0x7f && c != '#' && c != '"' && c != '<' && c != '>';
  });
  if (!is_query)
    return Fail(ErrorKind::kInvalidArgument, "the SAS token is no query as Azure gives it out");
  return AzureCredentials{"", std::string(sas), "", "SAS token", {}};
}

std::unique_ptr<AzureCredentialSource> MakeAzureAccountSource(Environment environment,
                                                              std::string account,
                                                              AzureSecrets settings) {
  return std::make_unique<AccountSource>(std::move(environment), std::move(account),
                                         std::move(settings));
}

std::unique_ptr<AzureCredentialSource> MakeAzureClientSource(Environment environment,
                                                             HttpClient& http, const Clock& clock) {
  return std::make_unique<ClientSource>(std::move(environment), http, clock);
}

std::unique_ptr<AzureCredentialSource> MakeAzureWorkloadSource(Environment environment,
                                                               HttpClient& http,
                                                               const Clock& clock) {
  return std::make_unique<WorkloadSource>(std::move(environment), http, clock);
}

std::unique_ptr<AzureCredentialSource> MakeAzureManagedSource(Environment environment,
                                                              HttpClient& http,
                                                              const Clock& clock) {
  return std::make_unique<ManagedSource>(std::move(environment), http, clock);
}

std::shared_ptr<CredentialChain<AzureCredentials>> SharedAzureCredentialChain(
    const Environment& environment, const std::string& account, const AzureSecrets& settings) {
  static const SystemClock& clock = *std::make_unique<SystemClock>().release();
  const std::string more = fmt::format("{}\n{}\n{}", account, Sha256Hex(settings.account_key),
                                       Sha256Hex(settings.sas_token));
  return SharedChain<AzureCredentials>(DigestOf(environment, kVariables, more), [&] {
    HttpClient& http = SharedHttpClient();
    CredentialSources<AzureCredentials> sources;
    sources.push_back(MakeAzureAccountSource(environment, account, settings));
    sources.push_back(MakeAzureClientSource(environment, http, clock));
    sources.push_back(MakeAzureWorkloadSource(environment, http, clock));
    sources.push_back(MakeAzureManagedSource(environment, http, clock));
    return sources;
  });
}

}  // namespace tidemark::storage
