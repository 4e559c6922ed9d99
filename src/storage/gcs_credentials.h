/// Who we are to Google Cloud, and the usual places where that is written ("application default
/// credentials").
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "storage/credential_chain.h"
#include "storage/environment.h"
#include "storage/http_client.h"

namespace tidemark::storage {

struct GcsCredentials {
  std::string token;  ///< sent as "Bearer"; a secret
  std::string who;    ///< for messages: an account's address, or where the token is from
  std::optional<WallTime> expires;

  /// Whether a server would see the same.
  friend bool operator==(const GcsCredentials& a, const GcsCredentials& b) {
    return a.token == b.token;
  }
};

using GcsCredentialSource = CredentialSource<GcsCredentials>;

/// A file with a key of a service account or a refresh token of a user; others (federation,
/// impersonation) are kUnsupported. `file` of the settings, else GOOGLE_APPLICATION_CREDENTIALS,
/// else what gcloud wrote below CLOUDSDK_CONFIG or ~/.config/gcloud. The HTTP client and the clock
/// must outlive the source, here and below.
std::unique_ptr<GcsCredentialSource> MakeGcsFileSource(Environment environment, std::string file,
                                                       HttpClient& http, const Clock& clock);

/// The metadata server of a machine or pod of Google's, GCE_METADATA_HOST when it is elsewhere.
std::unique_ptr<GcsCredentialSource> MakeGcsInstanceSource(Environment environment,
                                                           HttpClient& http, const Clock& clock);

/// The chain of both, shared by stores with the same settings. Asks nothing yet. Any thread.
std::shared_ptr<CredentialChain<GcsCredentials>> SharedGcsCredentialChain(
    const Environment& environment, const std::string& file);

}  // namespace tidemark::storage
