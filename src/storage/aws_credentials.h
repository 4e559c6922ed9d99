/// Who we are to AWS, and the usual places where that is written.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/s3_signer.h"

namespace tidemark::storage {

struct AwsCredentials {
  SigningKey key;
  /// Temporary credentials end then; nullopt: never.
  std::optional<WallTime> expires;
};

/// One place. Any thread.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  /// The place for messages, e.g. "environment (AWS_ACCESS_KEY_ID)".
  virtual std::string_view name() const = 0;

  /// nullopt when nothing is configured here, so that the next place is asked. An Error when
  /// something is, and it does not work: what the user set up is not passed over. Messages hold no
  /// secret.
  virtual Result<std::optional<AwsCredentials>> Load(const Budget& budget) const = 0;
};

/// Asks the places in order, keeps what it found, and asks again shortly before that ends. Any
/// thread; one asks, and those that cannot go on without the answer wait for it.
class CredentialChain {
 public:
  /// `clock` must outlive the chain.
  CredentialChain(std::vector<std::unique_ptr<CredentialSource>> sources, const Clock& clock);

  /// kDenied when no place has any, with the places that were asked. That answer too is kept for a
  /// while.
  Result<AwsCredentials> Get(const Budget& budget);

  /// Forgets what was found if it is still `refused`: the server does not take it any more.
  void Forget(const AwsCredentials& refused);

 private:
  Result<AwsCredentials> Ask(const Budget& budget) const;
  /// What needs no question, under the lock that the caller holds.
  std::optional<Result<AwsCredentials>> Known() const;

  std::vector<std::unique_ptr<CredentialSource>> sources_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  // Guarded by mutex_:
  bool is_asking_ = false;
  std::optional<AwsCredentials> found_;
  std::optional<Error> not_found_;
  MonoTime ask_again_ = MonoTime::min();
};

}  // namespace tidemark::storage
