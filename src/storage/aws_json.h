/// One signed request to a service of AWS that speaks JSON (protocols JSON 1.0 and 1.1).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::storage {

struct AwsServiceOptions {
  std::string service{};             ///< "glue"
  std::string endpoint{};            ///< "http://127.0.0.1:5000"; empty: environment, else AWS' own
  std::string region{};              ///< empty: environment, profile, else us-east-1
  std::string protocol = "1.1";      ///< of JSON: "1.0" or "1.1", as the service's model says
  std::string endpoint_otherwise{};  ///< where neither `endpoint` nor the environment name one
};

struct AwsJsonAnswer {
  int status = 0;
  std::string body;
};

/// What an answer that is no success says.
struct AwsJsonError {
  std::string code;     ///< without its namespace: "ThrottlingException"; else "Http503"
  std::string message;  ///< cut and printable
};
/// {"__type":"com.amazonaws.glue#ThrottlingException","message":"Rate exceeded"}
AwsJsonError AwsErrorOf(const AwsJsonAnswer& answer);
/// Whether temporary credentials are over, and new ones may help.
bool IsStaleCredential(std::string_view code);

/// Credentials are those of the usual places, as for S3. Any thread.
class AwsJsonService {
 public:
  static Result<std::unique_ptr<AwsJsonService>> Make(const AwsServiceOptions& options);

  AwsJsonService();
  AwsJsonService(const AwsJsonService&) = delete;
  AwsJsonService& operator=(const AwsJsonService&) = delete;
  ~AwsJsonService();

  /// One try; every status is an answer. After a refusal of temporary credentials the caller may
  /// ForgetCredentials() and try again.
  Result<AwsJsonAnswer> Send(std::string_view target, std::string_view body, const Budget& budget);
  void ForgetCredentials();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::storage
