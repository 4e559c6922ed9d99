/// Who we are to AWS.
#pragma once

#include <optional>

#include "base/clock.h"
#include "storage/credential_chain.h"
#include "storage/s3_signer.h"

namespace tidemark::storage {

struct AwsCredentials {
  SigningKey key;
  /// Temporary credentials end then; nullopt: never.
  std::optional<WallTime> expires;

  /// Whether a server would see the same.
  friend bool operator==(const AwsCredentials& a, const AwsCredentials& b) {
    return a.key == b.key;
  }
};

using AwsCredentialSource = CredentialSource<AwsCredentials>;
using AwsCredentialChain = CredentialChain<AwsCredentials>;

}  // namespace tidemark::storage
