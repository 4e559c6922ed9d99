// Commit bodies, JSON and Avro: any bytes give metadata, written files and write stats or an error,
// and what is cut off gives an error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "lake/avro/container.h"
#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/commit_stats.h"
#include "lake/hudi/written_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  const auto metadata = tidemark::lake::hudi::ParseCommitMetadata(body);
  const auto files = tidemark::lake::hudi::ParseWrittenFiles(body);
  const auto stats = tidemark::lake::hudi::ParseCommitStats(body);
  CHECK(files.has_value() == stats.has_value(), "two readings of the write stats differ");
  // JSON that is passed over is not looked at closely, so that only one of them may see damage.
  if (stats && body.starts_with(tidemark::lake::avro::kContainerMagic))
    CHECK(metadata && *metadata == stats->metadata, "two readings of a body differ");
  if ((!metadata && !files) || body.empty()) return 0;
  // A whole body ends in its last brace or sync marker; without it, it is not whole.
  const size_t last = body.find_last_not_of(" \t\r\n");
  const bool is_json = body.find_first_not_of(" \t\r\n") == body.find('{');
  const size_t end = is_json ? last : body.size() - 1;
  if (end == 0) return 0;
  CHECK(!tidemark::lake::hudi::ParseCommitMetadata(body.substr(0, end)).has_value(),
        "a cut-off body gave metadata");
  CHECK(!tidemark::lake::hudi::ParseWrittenFiles(body.substr(0, end)).has_value(),
        "a cut-off body gave files");
  return 0;
}
