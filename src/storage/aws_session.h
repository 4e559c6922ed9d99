/// The credentials that stores of one environment share.
#pragma once

#include <memory>
#include <string>

#include "storage/aws_credentials.h"
#include "storage/environment.h"

namespace tidemark::storage {

/// The chain of the usual places of AWS for this environment and region. Asks nothing yet. Any
/// thread.
std::shared_ptr<AwsCredentialChain> SharedAwsCredentialChain(const Environment& environment,
                                                             const std::string& region);

}  // namespace tidemark::storage
