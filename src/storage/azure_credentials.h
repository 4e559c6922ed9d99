/// Who we are to Azure, and the usual places where that is written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "storage/credential_chain.h"
#include "storage/environment.h"
#include "storage/http_client.h"

namespace tidemark::storage {

/// One of the three is set; all are secrets.
struct AzureCredentials {
  std::string account_key;  ///< the bytes that base64 stood for
  std::string sas;          ///< "sv=…&sig=…", without '?'
  std::string token;        ///< sent as "Bearer"
  std::string who;          ///< for messages: "account key", "client 1234"
  std::optional<WallTime> expires;

  /// Whether a server would see the same.
  friend bool operator==(const AzureCredentials& a, const AzureCredentials& b) {
    return a.account_key == b.account_key && a.sas == b.sas && a.token == b.token;
  }
};

using AzureCredentialSource = CredentialSource<AzureCredentials>;

/// What the settings or the environment say about one account.
struct AzureSecrets {
  std::string account_key;  ///< base64; empty: none
  std::string sas_token;    ///< with or without '?'; empty: none
};

/// AZURE_STORAGE_CONNECTION_STRING, taken apart: "AccountName=lake;AccountKey=…;BlobEndpoint=…".
struct AzureConnection {
  std::string account;
  std::string blob_endpoint;  ///< empty: named by the account
  AzureSecrets secrets;
};

/// kInvalidArgument for what is no list of "name=value"; the message repeats nothing of it.
Result<AzureConnection> ParseAzureConnection(std::string_view text);

/// kInvalidArgument when a key is no base64 or a token cannot be part of a URL.
Result<AzureCredentials> CredentialsOf(const AzureSecrets& secrets);

/// Of the account alone: the settings, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN and
/// AZURE_STORAGE_CONNECTION_STRING, the last three when AZURE_STORAGE_ACCOUNT, or the connection
/// string, names no other account.
std::unique_ptr<AzureCredentialSource> MakeAzureAccountSource(Environment environment,
                                                              std::string account,
                                                              AzureSecrets settings);

/// AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET. The HTTP client and the clock must
/// outlive the source, here and below.
std::unique_ptr<AzureCredentialSource> MakeAzureClientSource(Environment environment,
                                                             HttpClient& http, const Clock& clock);

/// The same with AZURE_FEDERATED_TOKEN_FILE instead of the secret (workload identity of
/// Kubernetes).
std::unique_ptr<AzureCredentialSource> MakeAzureWorkloadSource(Environment environment,
                                                               HttpClient& http,
                                                               const Clock& clock);

/// Managed identities: IDENTITY_ENDPOINT and IDENTITY_HEADER (App Service), else the metadata
/// service of a virtual machine. AZURE_CLIENT_ID says which of several.
std::unique_ptr<AzureCredentialSource> MakeAzureManagedSource(Environment environment,
                                                              HttpClient& http, const Clock& clock);

/// The chain of all, in this order, shared by stores of one account with the same settings. Asks
/// nothing yet. Any thread.
std::shared_ptr<CredentialChain<AzureCredentials>> SharedAzureCredentialChain(
    const Environment& environment, const std::string& account, const AzureSecrets& settings);

}  // namespace tidemark::storage
