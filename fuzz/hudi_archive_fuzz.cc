// Any bytes as an archive file of layout 1, or, behind a first byte that is odd, as one record of
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lake/hudi/archive_content.h"

namespace {

using namespace tidemark::lake;

// The fields that are read, in the shape of the real schema.
constexpr std::string_view kSchema = R"({"type":"record","name":"HoodieArchivedMetaEntry","fields":[
  {"name":"hoodieCommitMetadata","type":["null",{"type":"record","name":"HoodieCommitMetadata","fields":[
    {"name":"stats","type":["null",{"type":"map","values":{"type":"array","items":"string"}}]},
    {"name":"extraMetadata","type":["null",{"type":"map","values":"string"}]},
    {"name":"operationType","type":["null","string"]}]}]},
  {"name":"commitTime","type":["null","string"]},
  {"name":"actionType","type":["null","string"]},
  {"name":"actionState","type":["null","string"]},
  {"name":"hoodieReplaceCommitMetadata","type":["null",{"type":"record","name":"HoodieReplaceCommitMetadata",
    "fields":[{"name":"extraMetadata","type":["null",{"type":"map","values":["null","string"]}]}]}]},
  {"name":"stateTransitionTime","type":["null","string"]}]})";

constexpr hudi::ArchiveOptions kAll = {.with_cleans = true, .with_facts = true};

void Check(const hudi::ArchivedInstant& archived) {
  if (!archived.instant.is_archived || archived.instant.requested.empty()) std::abort();
  if (archived.has_metadata && !archived.defect.empty()) std::abort();
  if (hudi::FactsTextSize(archived.facts) > hudi::ArchivedTextSize(archived)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] % 2 == 1 && data[0] != '#') {
    static const auto schema = avro::Schema::Parse(kSchema);
    bytes.remove_prefix(1);
    const auto datum = avro::Datum::Open(schema->root(), bytes);
    if (!datum) std::abort();  // a record always opens
    const auto archived = hudi::ReadArchivedEntry(*datum, bytes.size(), kAll);
    if (archived) Check(*archived);
    return 0;
  }
  const auto content = hudi::ReadArchiveLog(bytes, "fuzz", kAll);
  for (const auto& archived : content.instants) Check(archived);
  if (!content.is_whole && content.findings.empty()) std::abort();
  return 0;
}
