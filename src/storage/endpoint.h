/// The address of a service, taken apart.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::storage {

/// A service address without its object: "http://127.0.0.1:9000" or "https://gateway/s3".
struct Endpoint {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< lower case, with the port unless it is the scheme's default
  std::string path;    ///< "" or "/base", encoded

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// kInvalidArgument for anything but scheme, host, port and path; credentials in it are not
/// repeated in the message. Without a scheme https is taken.
Result<Endpoint> ParseEndpoint(std::string_view text);

}  // namespace tidemark::storage
