/// Hudi's log format: a file of self-delimiting blocks (hudi-format §8). Data of merge-on-read
/// tables and the archived timeline of layout 1 are kept in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "lake/avro/datum.h"
#include "lake/avro/schema.h"
#include "lake/finding.h"

namespace tidemark::lake::hudi {

/// Values are the ordinals in the file.
enum class LogBlockKind : int32_t {
  kCommand = 0,
  kDelete = 1,
  kCorrupt = 2,  ///< known to the format, never written
  kAvroData = 3,
  kHFileData = 4,
  kParquetData = 5,
  kCdcData = 6,
  kUnknown = -1,
};

/// "COMMAND", "AVRO_DATA", …; "UNKNOWN".
std::string_view LogBlockKindName(LogBlockKind kind);

/// Values are the ordinals in the file.
enum class LogHeaderKey : int32_t {
  kInstantTime = 0,
  kTargetInstantTime = 1,
  kSchema = 2,
  kCommandBlockType = 3,
  kCompactedBlockTimes = 4,
  kRecordPositions = 5,
  kBlockIdentifier = 6,
  kIsPartial = 7,
  kBaseFileInstantTimeOfRecordPositions = 8,
};

/// One whole block. Views into the file's bytes.
struct LogBlock {
  uint64_t offset = 0;  ///< of the first byte of its magic in the file
  uint64_t size = 0;    ///< bytes, from its magic to the end of its length at the end
  int32_t version = 0;  ///< of the log format
  LogBlockKind kind = LogBlockKind::kUnknown;
  int32_t ordinal = 0;  ///< the kind as written
  /// Keys this version does not know are left out. The last of equal keys wins.
  std::map<LogHeaderKey, std::string_view> header;
  std::string_view content;
  uint64_t content_offset = 0;

  /// A header value; empty when absent.
  std::string_view Header(LogHeaderKey key) const;
};

/// Bytes of a file that are no whole block.
struct LogLoss {
  uint64_t begin = 0;
  uint64_t end = 0;  ///< exclusive
  std::string reason;
  bool is_torn = false;  ///< the file ends inside a block that had no contradiction so far
};

/// The bytes of one log file, of which a stretch at a time is at hand.
class LogBytes {
 public:
  virtual ~LogBytes() = default;
  virtual uint64_t size() const = 0;
  /// Bytes from `offset` on, `count` or more of them, fewer only where the file ends. Good until
  /// the next call.
  virtual Result<std::string_view> At(uint64_t offset, uint64_t count) = 0;
  /// Blocks of more bytes are not looked into: of them only beginning and end are asked for.
  virtual uint64_t block_bytes_max() const { return UINT64_MAX; }
};

/// Walks the blocks of one log file, first to last, over what is damaged. Borrows the bytes.
/// Single-threaded.
///
/// As in Hudi (HoodieLogFileReader, 0.14 to 1.1) a block counts when its magic, both lengths and
/// what follows it (a magic or the end) agree; otherwise everything up to the next magic is
/// damaged. A file that ends inside a block which had no contradiction so far has a torn tail: its
/// writer died or is still writing. Both are Findings, "corrupt_block" and "torn_tail"; so is
/// "unknown_block", a block of a kind or format version we do not know (which is handed out).
class LogReader {
 public:
  /// What was passed over.
  struct Losses {
    size_t corrupt_blocks = 0;  ///< stretches of damaged bytes, and blocks with a damaged inside
    uint64_t corrupt_bytes = 0;
    uint64_t torn_bytes = 0;  ///< at the end of the file

    friend bool operator==(const Losses&, const Losses&) = default;
  };

  /// `place`: the file as findings name it. Findings over kLogFindingsMax in one file are only
  /// counted in losses().
  LogReader(std::string_view bytes, std::string place, FindingSink sink);
  /// The same of a file that is read as it is walked. A block is good until the next one; of one
  /// that is not looked into the content is empty, and what is inside it is not checked. Borrows
  /// `bytes`.
  LogReader(LogBytes& bytes, std::string place, FindingSink sink)
      : bytes_(&bytes), place_(std::move(place)), sink_(std::move(sink)) {}

  /// nullopt behind the last block, and once status() is an error. An empty file has none, which is
  /// no finding.
  std::optional<LogBlock> Next();

  /// An error of the LogBytes, which ended the walk.
  const Status& status() const { return status_; }

  const Losses& losses() const { return losses_; }

  /// Called for every stretch that is passed over, in the order of the file. No bound.
  void OnLoss(std::function<void(const LogLoss&)> sink) { loss_sink_ = std::move(sink); }

 private:
  Result<std::optional<LogBlock>> Walk();
  Status PassOverFrom(uint64_t begin, bool is_cut, std::string_view why, uint64_t block_size);
  void PassOver(uint64_t begin, uint64_t end, std::string_view why);
  void Report(std::string_view kind, uint64_t offset, std::string_view message);

  std::unique_ptr<LogBytes> own_;  // of a file in memory
  LogBytes* bytes_;
  std::string place_;
  FindingSink sink_;
  std::function<void(const LogLoss&)> loss_sink_;
  uint64_t position_ = 0;
  size_t findings_ = 0;
  Losses losses_;
  Status status_;
};

inline constexpr size_t kLogFindingsMax = 100;

/// Walks the records of an Avro or CDC data block. Borrows the file's bytes. Single-threaded.
class LogRecords {
 public:
  struct Record {
    avro::Datum datum;
    size_t length = 0;  ///< bytes; what datum.Size() must be, as a root is no union in practice
  };

  /// Reads the block's head. kCorrupt: no schema in the header, a damaged head, or more records
  /// than can be there. kUnsupported: another kind of block, or a block version other than 1 to 3.
  static Result<LogRecords> Open(const LogBlock& block);
  /// The same with the block's schema already parsed: blocks of one writer repeat it.
  static Result<LogRecords> Open(const LogBlock& block, avro::Schema schema);

  const avro::Schema& schema() const { return schema_; }
  /// As the head says; what is left of it with every Next().
  size_t records_left() const { return records_left_; }

  /// The next record, in the order written; nullopt behind the last. kCorrupt when its length does
  /// not fit the block, or when bytes follow the last record; then always that error. The record
  /// itself is checked no further than its reader looks.
  Result<std::optional<Record>> Next();

 private:
  LogRecords(avro::Schema schema, const LogBlock& block)
      : schema_(std::move(schema)), cursor_(block.content), offset_(block.content_offset) {}

  avro::Schema schema_;
  ByteCursor cursor_;
  uint64_t offset_;  // of the content in the file
  size_t records_left_ = 0;
  std::optional<Error> error_;
};

}  // namespace tidemark::lake::hudi
