#include "lake/hudi/slice_log.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "lake/hudi/stored_log.h"
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

Status SliceLog::Scan(size_t file, LogReader reader) {
  for (size_t number = 0; const auto block = reader.Next(); ++number)
    blocks_.push_back(DescribeBlock(*block, file, number));
  losses_.corrupt_blocks += reader.losses().corrupt_blocks;
  losses_.corrupt_bytes += reader.losses().corrupt_bytes;
  losses_.torn_bytes += reader.losses().torn_bytes;
  return reader.status();
}

Status SliceLog::Hold(size_t file, const Budget& budget) {
  const LogFile& log = files_[file];
  auto bytes = store_->Read(log.key, budget);
  if (!bytes && bytes.error().kind == ErrorKind::kNotFound) return Changed(log);
  if (!bytes) return internal::Pass(bytes);
  // Log files only grow.
  if (bytes->size() < log.size) return Changed(log);
  held_[file] = std::make_shared<const std::string>(*std::move(bytes));
  bytes_read_ += held_[file]->size();
  return Scan(file, LogReader(*held_[file], log.key, [this](Finding finding) {
                findings_.push_back(std::move(finding));
              }));
}

Status SliceLog::Walk(size_t file, const SliceLogOptions& options, const Budget& budget) {
  const LogFile& log = files_[file];
  // Its writer may have gone on since it was listed.
  const auto now = store_->Stat(log.key, budget);
  if (!now && now.error().kind == ErrorKind::kNotFound) return Changed(log);
  if (!now) return std::unexpected(now.error());
  if (now->size < log.size) return Changed(log);
  states_[file] = std::make_shared<storage::ObjectState>(storage::ObjectChange::kGrow, log.size);
  StoredLog bytes(*store_, log.key,
                  {.size = now->size, .block_bytes_max = options.walked_block_bytes_max},
                  *states_[file], budget);
  TRY(Scan(file, LogReader(bytes, log.key,
                           [this](Finding finding) { findings_.push_back(std::move(finding)); })));
  bytes_read_ += bytes.bytes_read();
  return {};
}

Result<SliceLog> SliceLog::Read(const storage::ObjectStore& store, std::vector<LogFile> files,
                                const SliceLogOptions& options, const Budget& budget) {
  SliceLog log(store);
  log.files_ = std::move(files);
  log.walked_block_bytes_max_ = options.walked_block_bytes_max;
  log.held_.resize(log.files_.size());
  log.states_.resize(log.files_.size());
  uint64_t held = 0;
  for (size_t i = 0; i < log.files_.size(); ++i) {
    TRY(budget.Check());
    const uint64_t size = log.files_[i].size;
    const bool is_held = size <= options.held_bytes_max - held && size <= storage::kReadBytesMax;
    if (is_held) held += size;
    TRY(is_held ? log.Hold(i, budget) : log.Walk(i, options, budget));
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
    TRY_ASSIGN(auto bytes, ReadStretch(*store_, file.key, block.offset, block.size,
                                       *states_[block.file], budget));
    loaded.bytes = std::make_shared<const std::string>(std::move(bytes));
    begin = block.offset;
  }
  const auto view = std::string_view(*loaded.bytes).substr(block.offset - begin);
  LogReader reader(view.substr(0, block.size), file.key, {});
  auto found = reader.Next();
  const bool is_block = found && found->offset == 0 && found->size == block.size;
  if (!is_block && block.size <= walked_block_bytes_max_) return Changed(file);
  if (!is_block) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("log block is damaged inside, or changed while it was read, offset={} "
                            "bytes={} file={}",
                            block.offset, block.size, file.key));
  }
  loaded.block = *std::move(found);
  loaded.block.offset = block.offset;
  loaded.block.content_offset += block.offset;
  return loaded;
}

}  // namespace tidemark::lake::hudi
