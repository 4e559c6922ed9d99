/// Calls to AWS Glue: paced, retried where that may help, errors as ours.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"
#include "sink/request_pace.h"

namespace tidemark::storage {
class AwsJsonService;
}  // namespace tidemark::storage

namespace tidemark::sink {

struct GlueOptions {
  std::string endpoint{};    ///< empty: environment, else AWS' own
  std::string region{};      ///< empty: environment, profile, else us-east-1
  std::string catalog_id{};  ///< empty: that of the account
  unsigned at_once = 4;      ///< requests
  RequestRate rate{};        ///< of each operation

  friend bool operator==(const GlueOptions&, const GlueOptions&) = default;
};

/// Error codes of the service that callers look at: the beginning of a message, "Code: …".
inline constexpr std::string_view kGlueNotFound = "EntityNotFoundException";
inline constexpr std::string_view kGlueExists = "AlreadyExistsException";

/// What an error code of the service means: kUnavailable for those that may heal, kNotFound,
/// kConflict (the version is another, or somebody else alters the table at the moment), kDenied,
/// else kInvalidArgument.
ErrorKind KindOfGlueError(std::string_view code);
/// Whether the service asks for fewer requests.
bool IsThrottling(std::string_view code);

/// Any thread.
class GlueClient {
 public:
  explicit GlueClient(GlueOptions options);
  GlueClient(const GlueClient&) = delete;
  GlueClient& operator=(const GlueClient&) = delete;
  ~GlueClient();

  const GlueOptions& options() const { return options_; }

  /// The answer to `AWSGlue.<operation>`. What was throttled, or not answered, is tried again as
  /// long as the budget lasts and kGlueTriesMax allows. Messages begin with the code of the error.
  Result<std::string> Call(const std::string& operation, const std::string& body,
                           const Budget& budget);

  /// Sleeps out the operation's pace, also before what is tried again by the caller.
  Status WaitForTurn(const std::string& operation, const Budget& budget);
  void NoteRefusal(const std::string& operation);

 private:
  Result<storage::AwsJsonService*> Service();
  RequestPace& PaceOf(const std::string& operation);  // under mutex_
  double Luck();

  const GlueOptions options_;
  std::mutex mutex_;
  std::unique_ptr<storage::AwsJsonService> service_;  // made under mutex_, then any thread
  std::map<std::string, RequestPace> paces_;          // guarded by mutex_
  uint64_t luck_ = 0x9E3779B97F4A7C15;                // guarded by mutex_
};
inline constexpr int kGlueTriesMax = 10;

}  // namespace tidemark::sink
