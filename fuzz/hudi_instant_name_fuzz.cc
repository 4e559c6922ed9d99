// File names of a timeline: what is read is all that the name holds, so that it can be written
// again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "lake/hudi/timeline.h"

namespace {

using tidemark::lake::hudi::InstantFileName;
using tidemark::lake::hudi::State;

std::string NameOf(const InstantFileName& meaning, std::string_view original) {
  std::string name = meaning.requested;
  if (meaning.completed) name += "_" + *meaning.completed;
  const bool is_plain_inflight = original.substr(name.size()) == ".inflight";
  if (is_plain_inflight) return name + ".inflight";
  name += "." + meaning.action_name;
  if (meaning.state == State::kRequested) name += ".requested";
  if (meaning.state == State::kInflight) name += ".inflight";
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  const auto meaning = tidemark::lake::hudi::ParseInstantFileName(name);
  if (meaning) {
    CHECK(NameOf(*meaning, name) == name, name);
    static_cast<void>(tidemark::lake::hudi::InstantToWallTime(meaning->requested));
  }
  static_cast<void>(tidemark::lake::hudi::InstantToWallTime(name));
  return 0;
}
