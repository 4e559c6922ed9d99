/// Servers of Azure's and Google's object stores for tests, by their makers or by others who wrote
/// them for clients that are not ours.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/object_store.h"
#include "support/child_process.h"

namespace tidemark::support {

/// Azurite, Microsoft's own: checks keys and SAS tokens of one account. Ends with the object. Start
/// it from the main thread.
class AzureServer {
  /// Only a factory of this class may construct it.
  class Private {
    friend class AzureServer;
    Private() = default;
  };

 public:
  explicit AzureServer(Private) {}

  static Result<std::unique_ptr<AzureServer>> Start(const std::vector<std::string>& containers);

  /// "http://127.0.0.1:PORT/lakeaccount"
  const std::string& endpoint() const { return endpoint_; }
  static constexpr std::string_view kAccount = "lakeaccount";
  /// Base64.
  static const std::string& account_key();
  /// A SAS token of the account with these permissions ("rl": read and list), for an hour or so.
  static std::string SasToken(std::string_view permissions);

  /// With the account's key.
  storage::StoreOptions Options() const;

  /// An empty blob with the mark by which Hadoop, and Azure itself, tell folders.
  Status PutFolderBlob(const std::string& container, const std::string& name) const;

  /// How many of the requests that the server has logged hold this, e.g. "comp=list".
  int CountRequests(const std::string& part) const;

 private:
  Status SendPut(const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& query,
                 std::vector<std::pair<std::string, std::string>> headers) const;

  TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::string endpoint_;
};

/// fake-gcs-server 1.54: lets everybody in. Ends with the object. Start it from the main thread.
class GcsServer {
  /// Only a factory of this class may construct it.
  class Private {
    friend class GcsServer;
    Private() = default;
  };

 public:
  explicit GcsServer(Private) {}

  static Result<std::unique_ptr<GcsServer>> Start(const std::vector<std::string>& buckets);

  const std::string& endpoint() const { return endpoint_; }  ///< "http://127.0.0.1:PORT"
  /// Anonymous.
  storage::StoreOptions Options() const;

 private:
  TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::string endpoint_;
};

/// What the machine's own configuration says must not reach a test.
void HideCloudConfiguration();

}  // namespace tidemark::support
