#include "storage/gcs_credentials.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "storage/endpoint.h"
#include "storage/jwt.h"
#include "storage/small_file.h"
#include "storage/token_request.h"
#include "storage/url_text.h"

namespace tidemark::storage {

namespace {

constexpr std::string_view kTokenUri = "https://oauth2.googleapis.com/token";
constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_write";
constexpr std::chrono::seconds kAssertionLife{3600};
/// An address, so that elsewhere nobody looks a name up.
constexpr std::string_view kMetadataHost = "169.254.169.254";

/// All variables that the places of the chain look at.
constexpr std::array<const char*, 7> kVariables = {"GOOGLE_APPLICATION_CREDENTIALS",
                                                   "CLOUDSDK_CONFIG",
                                                   "HOME",
                                                   "GCE_METADATA_HOST",
                                                   "NO_GCE_CHECK",
                                                   "http_proxy",
                                                   "https_proxy"};

/// A text of the file; empty when it is not there or none.
std::string Setting(const nlohmann::json& file, const char* name) {
  const auto it = file.find(name);
  return it != file.end() && it->is_string() ? it->get<std::string>() : "";
}

class FileSource final : public GcsCredentialSource {
 public:
  FileSource(Environment environment, std::string file, HttpClient& http, const Clock& clock)
      : environment_(std::move(environment)), file_(std::move(file)), http_(http), clock_(clock) {}

  std::string_view name() const override {
    return "file (credentials_file, GOOGLE_APPLICATION_CREDENTIALS, "
           "~/.config/gcloud/application_default_credentials.json)";
  }

  Result<std::optional<GcsCredentials>> Load(const Budget& budget) const override {
    std::string path = file_;
    if (path.empty()) path = environment_("GOOGLE_APPLICATION_CREDENTIALS").value_or("");
    const bool is_asked_for = !path.empty();
    if (!is_asked_for) path = GcloudFile();
    if (path.empty()) return std::nullopt;
    auto text = ReadSmallFile(path);
    if (!text && !is_asked_for && text.error().kind == ErrorKind::kNotFound) return std::nullopt;
    if (!text) return std::unexpected(std::move(text).error());
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object())
      return Fail(ErrorKind::kCorrupt, fmt::format("not a JSON object: file={}", path));
    auto credentials = Exchange(json, budget);
    if (!credentials)
      return std::unexpected(std::move(credentials).error().With(fmt::format("file={}", path)));
    return *std::move(credentials);
  }

 private:
  std::string GcloudFile() const {
    constexpr std::string_view kName = "/application_default_credentials.json";
    if (const auto folder = environment_("CLOUDSDK_CONFIG")) return *folder + std::string(kName);
    const auto home = environment_("HOME");
    return home ? *home + "/.config/gcloud" + std::string(kName) : "";
  }

  Result<GcsCredentials> Exchange(const nlohmann::json& file, const Budget& budget) const {
    const std::string type = Setting(file, "type");
    std::string token_uri = Setting(file, "token_uri");
    if (token_uri.empty()) token_uri = kTokenUri;
    TRY_ASSIGN(const Endpoint endpoint, ParseEndpoint(token_uri));
    TRY(CheckTokenIsSafe(endpoint));
    QueryParts form;
    std::string who;
    if (type == "service_account") {
      who = Setting(file, "client_email");
      TRY_ASSIGN(std::string assertion, Assertion(file, token_uri));
      form = {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
              {"assertion", std::move(assertion)}};
    } else if (type == "authorized_user") {
      who = "user of client " + Setting(file, "client_id");
      form = {{"grant_type", "refresh_token"},
              {"client_id", Setting(file, "client_id")},
              {"client_secret", Setting(file, "client_secret")},
              {"refresh_token", Setting(file, "refresh_token")}};
    } else {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("credentials of this type are not built in (known: service_account, "
                              "authorized_user): type='{}'",
                              type.substr(0, 64)));
    }
    const std::string body = CanonicalQuery(form);
    HttpRequest request;
    request.method = "POST";
    request.url = token_uri;
    request.headers = {"content-type: application/x-www-form-urlencoded"};
    request.body = body;
    TRY_ASSIGN(const HttpAnswer answer,
               SendForCredentials(http_, request, budget.Within(kTokenTimeout)));
    if (answer.status != 200) {
      return Fail(ErrorKind::kDenied,
                  fmt::format("the server gives no token for these credentials: who={} http={} "
                              "error='{}' host={}",
                              who, answer.status, OAuthErrorText(answer.body), endpoint.host));
    }
    TRY_ASSIGN(AccessToken token, ParseAccessToken(answer.body, clock_.Now(), endpoint.host));
    return GcsCredentials{std::move(token.token), who, token.expires};
  }

  Result<std::string> Assertion(const nlohmann::json& file, const std::string& token_uri) const {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now()).time_since_epoch();
    nlohmann::json header = {{"alg", "RS256"}, {"typ", "JWT"}};
    if (const std::string id = Setting(file, "private_key_id"); !id.empty()) header["kid"] = id;
    const nlohmann::json claims = {{"iss", Setting(file, "client_email")},
                                   {"scope", kScope},
                                   {"aud", token_uri},
                                   {"iat", now.count()},
                                   {"exp", (now + kAssertionLife).count()}};
    return SignedJwt(header.dump(), claims.dump(), Setting(file, "private_key"));
  }

  Environment environment_;
  std::string file_;
  HttpClient& http_;
  const Clock& clock_;
};

class InstanceSource final : public GcsCredentialSource {
 public:
  InstanceSource(Environment environment, HttpClient& http, const Clock& clock)
      : environment_(std::move(environment)), http_(http), clock_(clock) {}

  std::string_view name() const override { return "metadata server of Google"; }

  Result<std::optional<GcsCredentials>> Load(const Budget& budget) const override {
    if (environment_("NO_GCE_CHECK").value_or("") == "true") return std::nullopt;
    TRY_ASSIGN(
        const Endpoint endpoint,
        ParseEndpoint("http://" +
                      environment_("GCE_METADATA_HOST").value_or(std::string(kMetadataHost))));
    HttpRequest request;
    request.url =
        "http://" + endpoint.host + "/computeMetadata/v1/instance/service-accounts/default/token";
    request.headers = {"metadata-flavor: Google"};
    TRY_ASSIGN(const auto answer, AskInstance(http_, std::move(request), budget));
    // Other clouds answer at this address too, in their own words.
    if (!answer || answer->Header("metadata-flavor") != "Google") return std::nullopt;
    if (answer->status == 404) return std::nullopt;  // a machine without a service account
    if (answer->status != 200) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the metadata server gives no token: http={}", answer->status));
    }
    TRY_ASSIGN(AccessToken token, ParseAccessToken(answer->body, clock_.Now(), endpoint.host));
    return GcsCredentials{std::move(token.token), "(metadata server)", token.expires};
  }

 private:
  Environment environment_;
  HttpClient& http_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<GcsCredentialSource> MakeGcsFileSource(Environment environment, std::string file,
                                                       HttpClient& http, const Clock& clock) {
  return std::make_unique<FileSource>(std::move(environment), std::move(file), http, clock);
}

std::unique_ptr<GcsCredentialSource> MakeGcsInstanceSource(Environment environment,
                                                           HttpClient& http, const Clock& clock) {
  return std::make_unique<InstanceSource>(std::move(environment), http, clock);
}

std::shared_ptr<CredentialChain<GcsCredentials>> SharedGcsCredentialChain(
    const Environment& environment, const std::string& file) {
  static const SystemClock& clock = *std::make_unique<SystemClock>().release();
  return SharedChain<GcsCredentials>(DigestOf(environment, kVariables, file), [&] {
    CredentialSources<GcsCredentials> sources;
    sources.push_back(MakeGcsFileSource(environment, file, SharedHttpClient(), clock));
    sources.push_back(MakeGcsInstanceSource(environment, SharedHttpClient(), clock));
    return sources;
  });
}

}  // namespace tidemark::storage
