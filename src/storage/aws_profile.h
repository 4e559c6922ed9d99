/// The files ~/.aws/credentials and ~/.aws/config, and what AWS' tools take beside them from the
/// environment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/environment.h"

namespace tidemark::storage {

using AwsSection = std::map<std::string, std::string, std::less<>>;
/// Sections by name as written between the brackets, blanks made single: "default", "profile ci".
using AwsSections = std::map<std::string, AwsSection, std::less<>>;

/// kCorrupt names the line, never its text: it may be a secret. Nested settings (indented lines)
/// are left out, of a name given twice the last counts.
Result<AwsSections> ParseAwsFile(std::string_view text);

struct AwsProfile {
  std::string name;
  /// true when AWS_PROFILE asked for it: then it must exist.
  bool is_asked_for = false;
  AwsSection settings;  ///< the credentials file wins over the config file
};

/// Reads both files; missing ones are empty. kNotFound when the profile was asked for and is in
/// neither; kDenied, kCorrupt, kUnavailable for files that cannot be read.
Result<AwsProfile> LoadAwsProfile(const Environment& environment);
/// The profile of that name, which must be in one of them.
Result<AwsProfile> LoadAwsProfile(const Environment& environment, std::string name);

/// Where nothing names a region.
inline constexpr std::string_view kAwsDefaultRegion = "us-east-1";
/// AWS_REGION, else AWS_DEFAULT_REGION; empty when neither is set.
std::string AwsRegionOfEnvironment(const Environment& environment);
/// The profile's; nullopt when it names none, or cannot be read: that is reported when credentials
/// are looked for in it, and is not needed for a region.
std::optional<std::string> AwsRegionOfProfile(const Environment& environment);
/// AWS_ENDPOINT_URL_S3 of the service "s3", else AWS_ENDPOINT_URL; empty when neither is set.
std::string AwsEndpointOfEnvironment(std::string_view service, const Environment& environment);

}  // namespace tidemark::storage
