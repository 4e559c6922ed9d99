/// What all stores of this process share: connections, and credentials once found.
#pragma once

#include <memory>
#include <string>

#include "storage/aws_credentials.h"
#include "storage/aws_environment.h"
#include "storage/http_client.h"

namespace tidemark::storage {

/// Lives until the process ends. Any thread.
HttpClient& SharedHttpClient();

/// The chain of the usual places. Stores in one region whose environment names the same places get
/// the same chain, so that a thousand tables ask for temporary credentials once. Asks nothing yet.
std::shared_ptr<CredentialChain> SharedCredentialChain(const Environment& environment,
                                                       const std::string& region);

}  // namespace tidemark::storage
