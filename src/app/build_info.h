/// What this binary is.
#pragma once

#include <string>

namespace tidemark::app {

struct BuildInfo {
  std::string version;          ///< of tidemark, "0.1.0"
  std::string compiler;         ///< "g++ 12.2.0"
  std::string rdkafka_version;  ///< of the library that was loaded, "2.15.1"
};

BuildInfo GetBuildInfo();

}  // namespace tidemark::app
