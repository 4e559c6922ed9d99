// Tasks and parts of an audit, as they come back from other processes: no bytes may do more than be
// refused, and what is accepted reads back as it was.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/audit_lines.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto task = tidemark::api::ParseAuditTask(line)) {
    const auto again = tidemark::api::ParseAuditTask(tidemark::api::AuditTaskJson(*task));
    CHECK(again && *again == *task, "a task reads back");
  }
  if (const auto part = tidemark::api::ParseAuditPart(line)) {
    const auto again = tidemark::api::ParseAuditPart(tidemark::api::AuditPartJson(*part));
    CHECK(again && again->findings.size() == part->findings.size(), "a part reads back");
  }
  return 0;
}
