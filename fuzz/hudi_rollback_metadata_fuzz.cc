// Any bytes as the body of a rollback, restore or savepoint, and as their plans: no instant twice,
// none without a time where it has an action, and no body that is two kinds at once.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "lake/hudi/rollback_metadata.h"

namespace {

using namespace tidemark::lake::hudi;

void CheckInstants(const std::vector<NamedInstant>& instants) {
  std::set<NamedInstant> seen;
  for (const auto& instant : instants) {
    CHECK(seen.insert(instant).second, "an instant twice");
    CHECK(!instant.requested.empty() || instant.action_name.empty(), "an action without a time");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  int kinds = 0;
  for (const auto parse : {ParseRollbackMetadata, ParseRollbackPlan}) {
    const auto rollback = parse(body);
    if (!rollback) continue;
    CheckInstants(rollback->instants);
    ++kinds;
  }
  for (const auto parse : {ParseRestoreMetadata, ParseRestorePlan}) {
    const auto restore = parse(body);
    if (!restore) continue;
    CheckInstants(restore->instants);
    ++kinds;
  }
  const auto savepoint = ParseSavepointMetadata(body);
  if (savepoint) {
    ++kinds;
    for (const auto& [partition, names] : savepoint->files)
      for (const auto& name : names) CHECK(!name.contains('/'), "a name with folders");
  }
  CHECK(kinds <= 1, "a body of two kinds");
  return 0;
}
