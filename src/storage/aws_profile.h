/// The files ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
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

}  // namespace tidemark::storage
