#include "lake/hudi/slice_log.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kTrue = "true";

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "attempt,sequence".
std::optional<BlockIdentifier> IdentifierOf(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const auto attempt = NumberOf(text.substr(0, comma));
  const auto sequence = NumberOf(text.substr(comma + 1));
  if (!attempt || !sequence) return std::nullopt;
  return BlockIdentifier{*attempt, *sequence};
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const auto part = text.substr(0, comma);
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return parts;
}

std::unexpected<Error> Changed(const LogFile& file) {
  return Fail(ErrorKind::kConflict,
              fmt::format("a log file changed while it was read file={}", file.key));
}

}  // namespace

SliceBlock DescribeBlock(const LogBlock& block, size_t file, size_t number) {
  SliceBlock described;
  described.file = file;
  described.number = number;
  described.offset = block.offset;
  described.size = block.size;
  described.kind = block.kind;
  described.instant = block.Header(LogHeaderKey::kInstantTime);
  described.command = block.Header(LogHeaderKey::kCommandBlockType);
  described.target_instant = block.Header(LogHeaderKey::kTargetInstantTime);
  described.compacted_times = Split(block.Header(LogHeaderKey::kCompactedBlockTimes));
  described.identifier = IdentifierOf(block.Header(LogHeaderKey::kBlockIdentifier));
  described.is_partial = block.Header(LogHeaderKey::kIsPartial) == kTrue;
  return described;
}

void SliceLog::Scan(size_t file, std::shared_ptr<const std::string> bytes, bool is_held) {
  LogReader reader(*bytes, files_[file].key,
                   [this](Finding finding) { findings_.push_back(std::move(finding)); });
  for (size_t number = 0; const auto block = reader.Next(); ++number)
    blocks_.push_back(DescribeBlock(*block, file, number));
  losses_.corrupt_blocks += reader.losses().corrupt_blocks;
  losses_.corrupt_bytes += reader.losses().corrupt_bytes;
  losses_.torn_bytes += reader.losses().torn_bytes;
  bytes_read_ += bytes->size();
  held_.push_back(is_held ? std::move(bytes) : nullptr);
}

Result<SliceLog> SliceLog::Read(const storage::ObjectStore& store, std::vector<LogFile> files,
                                const SliceLogOptions& options, const Budget& budget) {
  SliceLog log(store);
  log.files_ = std::move(files);
  uint64_t held = 0;
  for (size_t i = 0; i < log.files_.size(); ++i) {
    TRY(budget.Check());
    const LogFile& file = log.files_[i];
    if (file.size > storage::kReadBytesMax) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("log file is over the bound size={} max={} file={}", file.size,
                              storage::kReadBytesMax, file.key));
    }
    auto bytes = store.Read(file.key, budget);
    if (!bytes && bytes.error().kind == ErrorKind::kNotFound) return Changed(file);
    if (!bytes) return internal::Pass(bytes);
    // Log files only grow.
    if (bytes->size() < file.size) return Changed(file);
    const bool is_held = bytes->size() <= options.held_bytes_max - held;
    if (is_held) held += bytes->size();
    log.Scan(i, std::make_shared<const std::string>(*std::move(bytes)), is_held);
  }
  return log;
}

Result<LoadedBlock> SliceLog::Load(size_t place, const Budget& budget) const {
  const SliceBlock& block = blocks_.at(place);
  const LogFile& file = files_[block.file];
  LoadedBlock loaded;
  loaded.bytes = held_[block.file];
  uint64_t begin = 0;
  if (!loaded.bytes) {
    auto bytes = store_->ReadRange(file.key, block.offset, block.size, budget);
    if (!bytes && bytes.error().kind == ErrorKind::kNotFound) return Changed(file);
    if (!bytes) return internal::Pass(bytes);
    loaded.bytes = std::make_shared<const std::string>(*std::move(bytes));
    begin = block.offset;
  }
  const auto view = std::string_view(*loaded.bytes).substr(block.offset - begin);
  if (view.size() < block.size) return Changed(file);
  LogReader reader(view.substr(0, block.size), file.key, {});
  auto found = reader.Next();
  if (!found || found->offset != 0 || found->size != block.size) return Changed(file);
  loaded.block = *std::move(found);
  loaded.block.offset = block.offset;
  loaded.block.content_offset += block.offset;
  return loaded;
}

}  // namespace tidemark::lake::hudi
