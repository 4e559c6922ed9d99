/// The deletes in a log file's delete blocks, of all versions (docs/formats/hudi-log.md §7).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "lake/hudi/log_file.h"

namespace tidemark::lake::hudi {

/// The branch of the ordering value's union in a version 3 block, by its number in the bytes.
enum class DeleteBranch : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kDate,
  kDecimal,
  kTimeMicros,
  kTimestampMicros,
  kArray,  ///< several ordering fields, from 1.1 on
  /// Inside an array only, where it has the number of kArray.
  kLocalDate,
};
/// "null", "BooleanWrapper", "IntWrapper", …: the names in Hudi's schema.
std::string_view DeleteBranchName(DeleteBranch branch);

/// What a delete is ordered by, as stored.
struct DeleteOrdering {
  /// In a version 2 block the branch that a version 3 block would have for the value.
  DeleteBranch branch = DeleteBranch::kNull;
  /// Version 2 only: the class as the bytes name it ("java.lang.Long"); empty for null.
  std::string_view java_class{};
  /// false in version 1 blocks, which store none: readers take each for IntWrapper 0, and so it
  /// stands here.
  bool is_stored = true;
  /// A boolean as 0 or 1, an int, a long, days since 1970 (kDate, kLocalDate), microseconds
  /// (kTimeMicros, kTimestampMicros).
  int64_t integer = 0;
  double real = 0;           ///< kFloat, kDouble
  std::string_view bytes{};  ///< kString, kBytes; kDecimal: unscaled, big-endian two's complement
  int32_t scale = 0;         ///< kDecimal; always 15 in version 3
  std::span<const DeleteOrdering> items{};  ///< kArray
};

struct DeleteRecord {
  std::optional<std::string_view> key;        ///< nullopt: the block says null
  std::optional<std::string_view> partition;  ///< likewise; empty in a table without partitions
  DeleteOrdering ordering;
};

/// Ordering fields of one delete.
inline constexpr size_t kDeleteItemsMax = 1024;
/// Deletes of one block of version 1 or 2, which is decoded as a whole.
inline constexpr size_t kKryoDeletesMax = size_t{1} << 24;

/// Walks the deletes of one block, in the order written. Borrows the file's bytes; what a record
/// views is good as long as those bytes and this object (also after a move), its items until the
/// next call. Single-threaded.
class DeleteRecords {
 public:
  /// Reads the head, and version 1 and 2 blocks as a whole. kCorrupt: damaged bytes, with their
  /// offset in the file. kUnsupported: no delete block, another version, or a Java class that we do
  /// not know the bytes of (named), because what follows it cannot be found. kExhausted:
  /// kKryoDeletesMax.
  ///
  /// Doubtful in version 2: java.sql.Date is midnight in the writer's zone, which nothing names;
  /// the nearest day in UTC is given, which is wrong east of UTC+12. java.sql.Timestamp has lost
  /// what is below a millisecond.
  static Result<DeleteRecords> Open(const LogBlock& block);

  DeleteRecords(DeleteRecords&&) noexcept;
  DeleteRecords& operator=(DeleteRecords&&) noexcept;
  ~DeleteRecords();

  /// 1: keys only, Kryo; 2: Kryo; 3: Avro.
  int32_t version() const;

  /// nullopt behind the last. kCorrupt and kUnsupported as Open, kExhausted: kDeleteItemsMax; then
  /// always that error. Bytes behind the last delete are kCorrupt.
  Result<std::optional<DeleteRecord>> Next();

 private:
  struct State;
  explicit DeleteRecords(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::lake::hudi
