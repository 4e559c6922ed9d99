/// One signed request to a service of AWS that speaks JSON 1.1.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::sink {

struct AwsServiceOptions {
  std::string service{};   ///< "glue"
  std::string endpoint{};  ///< "http://127.0.0.1:5000"; empty: environment, else AWS' own
  std::string region{};    ///< empty: environment, profile, else us-east-1
};

struct AwsJsonAnswer {
  int status = 0;
  std::string body;
};

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

}  // namespace tidemark::sink
