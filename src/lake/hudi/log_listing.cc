#include "lake/hudi/log_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kMagic = "#HUDI#";
constexpr std::array<std::string_view, 9> kHeaderNames = {
    "INSTANT_TIME",
    "TARGET_INSTANT_TIME",
    "SCHEMA",
    "COMMAND_BLOCK_TYPE",
    "COMPACTED_BLOCK_TIMES",
    "RECORD_POSITIONS",
    "BLOCK_IDENTIFIER",
    "IS_PARTIAL",
    "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS"};

LogEntryState StateOf(ErrorKind kind) {
  return kind == ErrorKind::kCorrupt ? LogEntryState::kDamaged : LogEntryState::kUnreadable;
}

void Refuse(const Error& error, LogEntry& entry) {
  entry.state = StateOf(error.kind);
  entry.reason = error.message;
}

/// Parses a schema once for the blocks that repeat it.
class SchemaMemory {
 public:
  Result<LogRecords> Open(const LogBlock& block) {
    const auto text = block.Header(LogHeaderKey::kSchema);
    if (schema_ && text_ == text) return LogRecords::Open(block, *schema_);
    auto records = LogRecords::Open(block);
    if (records) {
      schema_ = records->schema();
      text_ = text;
    }
    return records;
  }

 private:
  std::optional<avro::Schema> schema_;
  std::string_view text_;
};

void CountRecords(const LogBlock& block, SchemaMemory& schemas, LogEntry& entry) {
  auto records = schemas.Open(block);
  if (!records) return Refuse(records.error(), entry);
  entry.records = 0;
  while (true) {
    const auto record = records->Next();
    if (!record) return Refuse(record.error(), entry);
    if (!*record) return;
    const auto size = (*record)->datum.Size();
    if (!size) return Refuse(size.error(), entry);
    if (*size != (*record)->length) {
      return Refuse(
          {ErrorKind::kCorrupt,
           fmt::format("log data block: a record is not of its length, length={} found={} "
                       "offset={}",
                       (*record)->length, *size, (*record)->datum.offset())},
          entry);
    }
    ++*entry.records;
  }
}

void CountDeletes(const LogBlock& block, LogEntry& entry) {
  auto deletes = DeleteRecords::Open(block);
  if (!deletes) return Refuse(deletes.error(), entry);
  entry.records = 0;
  while (true) {
    const auto record = deletes->Next();
    if (!record) return Refuse(record.error(), entry);
    if (!*record) return;
    ++*entry.records;
  }
}

LogEntry EntryOf(LogBlock block, SchemaMemory& schemas) {
  LogEntry entry;
  entry.offset = block.offset;
  entry.size = block.size;
  switch (block.kind) {
    case LogBlockKind::kAvroData:
    case LogBlockKind::kCdcData:
      entry.content_version = ByteCursor(block.content).TakeBig<int32_t>();
      CountRecords(block, schemas, entry);
      break;
    case LogBlockKind::kDelete:
      entry.content_version = ByteCursor(block.content).TakeBig<int32_t>();
      CountDeletes(block, entry);
      break;
    case LogBlockKind::kHFileData:
      entry.state = LogEntryState::kUnreadable;
      entry.reason = "HFile data blocks are not read";
      break;
    case LogBlockKind::kUnknown:
      entry.state = LogEntryState::kUnreadable;
      entry.reason = fmt::format("log block of an unknown kind, version={} kind={}", block.version,
                                 block.ordinal);
      break;
    default: break;
  }
  entry.block = std::move(block);
  return entry;
}

/// Stretches that adjoin are one where they are alike, and beyond so many of them in any case: a
/// file may hold a magic every few bytes.
constexpr size_t kStretchesMax = 1000;

bool AreOne(const LogEntry& before, const LogEntry& entry, size_t stretches) {
  if (before.block || before.state != LogEntryState::kDamaged || entry.state != before.state)
    return false;
  return before.reason == entry.reason || stretches > kStretchesMax;
}

LogEntry EntryOf(const LogLoss& loss) {
  LogEntry entry;
  entry.offset = loss.begin;
  entry.size = loss.end - loss.begin;
  entry.state = loss.is_torn ? LogEntryState::kTorn : LogEntryState::kDamaged;
  entry.reason = loss.reason;
  return entry;
}

}  // namespace

std::string_view LogEntryStateName(LogEntryState state) {
  switch (state) {
    case LogEntryState::kSound: return "sound";
    case LogEntryState::kDamaged: return "damaged";
    case LogEntryState::kTorn: return "torn";
    case LogEntryState::kUnreadable: return "unreadable";
  }
  std::unreachable();
}

std::string_view LogHeaderKeyName(LogHeaderKey key) {
  const auto place = static_cast<size_t>(key);
  return place < kHeaderNames.size() ? kHeaderNames[place] : "UNKNOWN";
}

bool LogListing::Has(LogEntryState state) const {
  return std::ranges::find(entries, state, &LogEntry::state) != entries.end();
}

Result<LogListing> ListLog(std::string_view bytes, const Budget& budget) {
  const bool may_begin = !bytes.empty() && kMagic.starts_with(bytes.substr(0, kMagic.size()));
  if (!bytes.empty() && !may_begin && !bytes.contains(kMagic)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("no Hudi log file: no block begins in it bytes={}", bytes.size()));
  }
  LogListing listing;
  SchemaMemory schemas;
  LogReader reader(bytes, "", {});
  size_t stretches = 0;
  reader.OnLoss([&](const LogLoss& loss) {
    LogEntry entry = EntryOf(loss);
    if (!listing.entries.empty() && AreOne(listing.entries.back(), entry, ++stretches)) {
      listing.entries.back().size += entry.size;
    } else {
      listing.entries.push_back(std::move(entry));
    }
  });
  while (auto block = reader.Next()) {
    TRY(budget.Check());
    listing.entries.push_back(EntryOf(*std::move(block), schemas));
  }
  return listing;
}

void ForEachDelete(const LogBlock& block, const std::function<void(const DeleteRecord&)>& sink) {
  auto deletes = DeleteRecords::Open(block);
  if (!deletes) return;
  while (true) {
    const auto record = deletes->Next();
    if (!record || !*record) return;
    sink(**record);
  }
}

}  // namespace tidemark::lake::hudi
