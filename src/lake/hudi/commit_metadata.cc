#include "lake/hudi/commit_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lake/avro/container.h"
#include "lake/hudi/commit_metadata_avro.h"
#include "lake/hudi/commit_metadata_json.h"
#include "lake/hudi/write_sink_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr size_t kShownBytes = 8;

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes.substr(0, kShownBytes))
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

}  // namespace

bool MayChangeSchema(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kRewriting = {"CLUSTER", "COMPACT", "INDEX",
                                                          "LOG_COMPACT"};
  return std::ranges::find(kRewriting, operation) == kRewriting.end();
}

Result<CommitMetadata> ParseCommitMetadata(std::string body) {
  return ParseCommitBody(std::move(body), nullptr);
}

Result<CommitMetadata> ParseCommitBody(std::string body, WriteSink* writes) {
  if (body.empty()) return CommitMetadata{};
  if (body.size() > kCommitBodySizeMax)
    return Fail(ErrorKind::kExhausted, fmt::format("commit body is over the bound size={} max={}",
                                                   body.size(), kCommitBodySizeMax));
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first != body.npos && body[first] == '{') return ParseJsonCommitMetadata(body, writes);
  if (body.starts_with(avro::kContainerMagic)) {
    auto metadata = ParseAvroCommitMetadata(body, writes);
    if (!metadata) return std::unexpected(std::move(metadata).error().With("commit body in Avro"));
    return metadata;
  }
  return Fail(ErrorKind::kCorrupt,
              fmt::format("commit body is neither JSON nor Avro size={} first_bytes={}",
                          body.size(), Hex(body)));
}

}  // namespace tidemark::lake::hudi
