/// Files below testdata/.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace tidemark::support {

/// The whole file `name`, relative to testdata/; empty when it is not there.
inline std::string ReadTestdata(const std::string& name) {
  std::ifstream file(std::string(TIDEMARK_TESTDATA) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tidemark::support
