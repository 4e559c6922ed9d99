#include "lake/hudi/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kMagic = "#HUDI#";
constexpr size_t kSizeFieldSize = 8;
constexpr size_t kFrameSize = kMagic.size() + kSizeFieldSize;
constexpr size_t kTrailerSize = 8;
// Version, kind, empty header, content length, empty footer, length at the end.
constexpr uint64_t kBlockSizeMin = 4 + 4 + 4 + 8 + 4 + kTrailerSize;
// Writers hold a block's content in one Java array of at most 2 GiB.
constexpr uint64_t kBlockSizeMax = uint64_t{4} << 30;
// Looked at in a file that is read as it is walked: of a block that is not looked into, and at once
// for the next magic.
constexpr uint64_t kLargeHeadBytes = uint64_t{1} << 20;
constexpr uint64_t kSearchBytes = uint64_t{1} << 20;
constexpr int32_t kLogVersion = 1;
constexpr int32_t kOrdinalMax = static_cast<int32_t>(LogBlockKind::kCdcData);
constexpr int32_t kHeaderKeyMax =
    static_cast<int32_t>(LogHeaderKey::kBaseFileInstantTimeOfRecordPositions);

enum class Outcome {
  kWhole,
  kEndsEarly,      // the file ends inside it; no contradiction so far
  kDamaged,        // its end is not known
  kDamagedInside,  // both lengths agree, what is between them does not
};

struct Attempt {
  Outcome outcome = Outcome::kWhole;
  std::string_view why;
  LogBlock block;
};

// What lies between the two lengths of a block. `claimed` is what the block says, the cursor has
// what is there, which is less in a torn block.
class Body {
 public:
  Body(std::string_view bytes, uint64_t claimed) : cursor_(bytes), claimed_(claimed) {}

  Outcome outcome() const { return outcome_; }
  bool ok() const { return outcome_ == Outcome::kWhole; }
  size_t position() const { return cursor_.position(); }
  uint64_t claimed() const { return claimed_; }

  std::string_view Take(int64_t size) {
    if (!ok()) return {};
    if (size < 0 || static_cast<uint64_t>(size) > claimed_) {
      outcome_ = Outcome::kDamagedInside;
      return {};
    }
    const auto taken = cursor_.Take(static_cast<uint64_t>(size));
    if (!taken) {
      outcome_ = Outcome::kEndsEarly;
      return {};
    }
    claimed_ -= taken->size();
    return *taken;
  }
  template <class T>
  T TakeNumber() {
    return ByteCursor(Take(sizeof(T))).TakeBig<T>().value_or(0);
  }
  std::map<LogHeaderKey, std::string_view> TakeMap() {
    std::map<LogHeaderKey, std::string_view> entries;
    const auto count = TakeNumber<int32_t>();
    // An entry without text has a key and a length.
    if (count < 0 || static_cast<uint64_t>(count) > claimed_ / 8) {
      if (ok()) outcome_ = Outcome::kDamagedInside;
      return entries;
    }
    for (int32_t i = 0; i < count && ok(); ++i) {
      const auto key = TakeNumber<int32_t>();
      const auto value = Take(TakeNumber<int32_t>());
      if (!ok() || key < 0 || key > kHeaderKeyMax) continue;
      entries.insert_or_assign(static_cast<LogHeaderKey>(key), value);
    }
    return entries;
  }

 private:
  ByteCursor cursor_;
  uint64_t claimed_;
  Outcome outcome_ = Outcome::kWhole;
};

// `bytes` follow the size field; `offset` is theirs in the file.
Outcome ParseBody(std::string_view bytes, uint64_t offset, uint64_t claimed, LogBlock& block) {
  Body body(bytes, claimed);
  block.version = body.TakeNumber<int32_t>();
  if (body.ok() && block.version != kLogVersion) {
    // Version 0 (2017) and versions to come: what follows is not ours to read.
    return block.version >= 0 ? Outcome::kWhole : Outcome::kDamagedInside;
  }
  block.ordinal = body.TakeNumber<int32_t>();
  if (block.ordinal >= 0 && block.ordinal <= kOrdinalMax) {
    block.kind = static_cast<LogBlockKind>(block.ordinal);
  }
  block.header = body.TakeMap();
  const auto content_size = body.TakeNumber<int64_t>();
  block.content_offset = offset + body.position();
  block.content = body.Take(content_size);
  body.TakeMap();
  if (body.ok() && body.claimed() != 0) return Outcome::kDamagedInside;
  return body.outcome();
}

constexpr std::string_view kDisagree = "lengths inside disagree";

// The first eight of `bytes`.
int64_t ReadSize(std::string_view bytes) {
  return ByteCursor(bytes).TakeBig<int64_t>().value_or(-1);
}

Attempt Damaged(std::string_view why) {
  return {Outcome::kDamaged, why, {}};
}

class BytesInMemory final : public LogBytes {
 public:
  explicit BytesInMemory(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Result<std::string_view> At(uint64_t offset, uint64_t) override {
    return bytes_.substr(static_cast<size_t>(offset));
  }

 private:
  std::string_view bytes_;
};

// One that is not looked into: its two ends.
Result<Attempt> TryLargeBlock(LogBytes& file, Attempt attempt) {
  const LogBlock& block = attempt.block;
  const uint64_t claimed = block.size - kFrameSize;
  TRY_ASSIGN(const auto end,
             file.At(block.offset + block.size - kTrailerSize, kTrailerSize + kMagic.size()));
  if (static_cast<uint64_t>(ReadSize(end)) != claimed + kMagic.size()) {
    return Damaged("the lengths at its two ends differ");
  }
  const auto behind = end.substr(kTrailerSize);
  if (behind.size() >= kMagic.size() && !behind.starts_with(kMagic)) {
    return Damaged("no block follows it");
  }
  const uint64_t head_size = std::min(file.block_bytes_max(), kLargeHeadBytes);
  TRY_ASSIGN(const auto head, file.At(block.offset, head_size));
  const auto body = head.substr(0, static_cast<size_t>(block.size - kTrailerSize));
  attempt.outcome = ParseBody(body.substr(kFrameSize), block.offset + kFrameSize,
                              claimed - kTrailerSize, attempt.block);
  attempt.why = kDisagree;
  attempt.block.content = {};
  if (attempt.outcome == Outcome::kEndsEarly) attempt.outcome = Outcome::kWhole;
  return attempt;
}

// Steps and their order: HoodieLogFileReader.readBlock and isBlockCorrupted.
Result<Attempt> TryBlock(LogBytes& file, uint64_t offset) {
  TRY_ASSIGN(const auto head, file.At(offset, kFrameSize));
  if (!kMagic.starts_with(head.substr(0, kMagic.size()))) return Damaged("no magic");
  if (head.size() < kFrameSize) return Attempt{Outcome::kEndsEarly, {}, {}};
  const int64_t size = ReadSize(head.substr(kMagic.size()));
  const auto claimed = static_cast<uint64_t>(size);
  if (size < 0 || claimed < kBlockSizeMin || claimed > kBlockSizeMax) {
    return Damaged("impossible size");
  }
  Attempt attempt;
  attempt.block.offset = offset;
  attempt.block.size = kFrameSize + claimed;
  if (file.size() - offset < attempt.block.size) {
    attempt.outcome = Outcome::kEndsEarly;
    return attempt;
  }
  if (attempt.block.size > file.block_bytes_max()) return TryLargeBlock(file, std::move(attempt));
  TRY_ASSIGN(const auto rest, file.At(offset, attempt.block.size + kMagic.size()));
  const auto body = rest.substr(kFrameSize, static_cast<size_t>(claimed - kTrailerSize));
  const auto behind = rest.substr(static_cast<size_t>(attempt.block.size));
  if (ReadSize(rest.substr(kFrameSize + body.size())) !=
      size + static_cast<int64_t>(kMagic.size())) {
    return Damaged("the lengths at its two ends differ");
  }
  if (behind.size() >= kMagic.size() && !behind.starts_with(kMagic)) {
    return Damaged("no block follows it");
  }
  attempt.outcome = ParseBody(body, offset + kFrameSize, body.size(), attempt.block);
  attempt.why = kDisagree;
  return attempt;
}

// The next magic from `begin` on; the end of the file when there is none.
Result<uint64_t> FindMagic(LogBytes& file, uint64_t begin) {
  while (begin < file.size()) {
    TRY_ASSIGN(const auto bytes, file.At(begin, kSearchBytes));
    const size_t found = bytes.find(kMagic);
    if (found != bytes.npos) return begin + found;
    if (bytes.size() < kMagic.size() || begin + bytes.size() >= file.size()) break;
    begin += bytes.size() - (kMagic.size() - 1);
  }
  return file.size();
}

// Whether what there is of a block, the last thing in its file, can be the beginning of one.
bool IsBeginning(std::string_view rest, uint64_t block_size) {
  if (rest.size() < kFrameSize) return true;
  LogBlock block;
  const auto claimed = block_size - kFrameSize - kTrailerSize;
  return ParseBody(rest.substr(kFrameSize), 0, claimed, block) != Outcome::kDamagedInside;
}

}  // namespace

std::string_view LogBlockKindName(LogBlockKind kind) {
  switch (kind) {
    case LogBlockKind::kCommand: return "COMMAND";
    case LogBlockKind::kDelete: return "DELETE";
    case LogBlockKind::kCorrupt: return "CORRUPT";
    case LogBlockKind::kAvroData: return "AVRO_DATA";
    case LogBlockKind::kHFileData: return "HFILE_DATA";
    case LogBlockKind::kParquetData: return "PARQUET_DATA";
    case LogBlockKind::kCdcData: return "CDC_DATA";
    case LogBlockKind::kUnknown: return "UNKNOWN";
  }
  std::unreachable();
}

std::string_view LogBlock::Header(LogHeaderKey key) const {
  const auto found = header.find(key);
  return found == header.end() ? std::string_view() : found->second;
}

LogReader::LogReader(std::string_view bytes, std::string place, FindingSink sink)
    : own_(std::make_unique<BytesInMemory>(bytes)),
      bytes_(own_.get()),
      place_(std::move(place)),
      sink_(std::move(sink)) {}

void LogReader::Report(std::string_view kind, uint64_t offset, std::string_view message) {
  if (++findings_ > kLogFindingsMax || !sink_) return;
  sink_({std::string(kind), place_, fmt::format("{} offset={}", message, offset)});
}

void LogReader::PassOver(uint64_t begin, uint64_t end, std::string_view why) {
  ++losses_.corrupt_blocks;
  losses_.corrupt_bytes += end - begin;
  Report("corrupt_block", begin,
         fmt::format("log block is damaged, reason={} bytes={}", why, end - begin));
  if (loss_sink_) loss_sink_({begin, end, fmt::format("damaged: {}", why), false});
  position_ = end;
}

std::optional<LogBlock> LogReader::Next() {
  if (!status_) return std::nullopt;
  auto next = Walk();
  if (next) return *std::move(next);
  status_ = std::unexpected(std::move(next).error());
  return std::nullopt;
}

Result<std::optional<LogBlock>> LogReader::Walk() {
  while (position_ < bytes_->size()) {
    const uint64_t begin = position_;
    TRY_ASSIGN(Attempt attempt, TryBlock(*bytes_, begin));
    if (attempt.outcome == Outcome::kDamagedInside) {
      PassOver(begin, begin + attempt.block.size, attempt.why);
      continue;
    }
    if (attempt.outcome == Outcome::kWhole) {
      position_ = begin + attempt.block.size;
      if (attempt.block.kind == LogBlockKind::kUnknown) {
        Report("unknown_block", begin,
               fmt::format("log block of an unknown kind, version={} kind={}",
                           attempt.block.version, attempt.block.ordinal));
      }
      return std::move(attempt.block);
    }
    TRY(PassOverFrom(begin, attempt.outcome == Outcome::kEndsEarly, attempt.why,
                     attempt.block.size));
  }
  return std::nullopt;
}

// What lies from `begin` to the next magic. `is_cut`: the file ends inside the block that it
// claims to be.
Status LogReader::PassOverFrom(uint64_t begin, bool is_cut, std::string_view why,
                               uint64_t block_size) {
  TRY_ASSIGN(const auto head, bytes_->At(begin, kMagic.size()));
  const bool has_magic = head.starts_with(kMagic);
  TRY_ASSIGN(const uint64_t next, FindMagic(*bytes_, begin + (has_magic ? kMagic.size() : 1)));
  const uint64_t end = bytes_->size();
  if (next != end) {
    PassOver(begin, next, is_cut ? "cut short" : why);
    return {};
  }
  if (is_cut) {
    TRY_ASSIGN(const auto rest,
               bytes_->At(begin, std::min(end - begin, bytes_->block_bytes_max())));
    is_cut = IsBeginning(rest, block_size);
  }
  if (!is_cut) {
    PassOver(begin, end, why.empty() ? kDisagree : why);
    return {};
  }
  losses_.torn_bytes = end - begin;
  Report("torn_tail", begin,
         fmt::format("log file ends inside a block, bytes={}", losses_.torn_bytes));
  if (loss_sink_) loss_sink_({begin, end, "the file ends inside a block", true});
  position_ = end;
  return {};
}

}  // namespace tidemark::lake::hudi
