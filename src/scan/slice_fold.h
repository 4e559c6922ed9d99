/// The logs of one slice, folded by key; and what base rows make of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_builder.h"
#include "merge/fold.h"
#include "scan/key_set.h"
#include "scan/key_table.h"
#include "scan/log_versions.h"
#include "scan/row_assembly.h"
#include "scan/row_store.h"
#include "scan/scan_table.h"

namespace tidemark::scan {

/// Which keys take part: those whose hash falls on `index` of `count`, and of a set when there is
/// one.
struct KeyPass {
  uint32_t index = 0;
  uint32_t count = 1;
  const KeySet* only = nullptr;

  bool has_all() const { return count == 1 && only == nullptr; }
  bool Has(uint64_t hash) const {
    if (count != 1 && static_cast<uint32_t>(hash >> 40) % count != index) return false;
    return only == nullptr || only->Has(hash);
  }
};

/// One pass over one slice. Single-threaded.
class SliceFold {
 public:
  /// `place`: the slice, for findings. `out` takes the rows that come out whole.
  SliceFold(const ScanTable& table, std::string place, KeyPass pass, const BatchSink& out);

  LogVersions& logs() { return logs_; }
  bool has_keys() const { return keys_.size() > 0; }
  /// Folds in a version of the logs. `bytes_live`: what it views outlives this object.
  Status Take(const MetVersion& met, bool bytes_live);
  /// Takes the next rows of the base file.
  Status MeetBase(const columnar::Batch& batch);
  /// Gives out what the logs alone have, and what is still held.
  Status Finish();

  /// Gives a finding to the table's sink: every pass meets the same blocks, the first one tells.
  void Report(lake::Finding finding);

  bool is_first_pass() const { return pass_.index == 0; }
  uint64_t rows_out() const { return rows_out_; }

 private:
  /// What is known of a key's row once base rows have been met.
  enum class Fate : uint8_t {
    kOpen,      ///< no base row met it
    kSettled,   ///< a base row met it, and its row went out or is gone
    kLogShows,  ///< a base row met it, and the logs' winner is the row, still to go out
  };

  /// Rows whose keys are looked for at once.
  static constexpr size_t kRowsAtOnce = 32;

  Status MeetKeys(const columnar::Batch& batch, size_t first, size_t count);
  void MeetNobody(const columnar::Batch& batch, size_t row);
  Status MeetKey(uint32_t key, const columnar::Batch& batch, size_t row);
  Status Settle(uint32_t key, const merge::Merged& merged, const BaseRow& base);
  Status Emit(merge::RowHandle row);
  Status EmitLayers(const merge::Merged& merged, const BaseRow& base);
  Status Flush();
  Status GiveOut(columnar::Batch batch);
  bool IsGoneByItself(const columnar::Batch& batch, size_t row) const;
  Status Survive(Status done, std::string_view key);
  void ReportFailure(std::string_view key, merge::Reason reason);

  const ScanTable& table_;
  std::string place_;
  KeyPass pass_;
  const BatchSink& out_;
  RowStore rows_;
  LogVersions logs_;
  KeyTable keys_;
  std::vector<merge::KeyState> states_;  // of each key
  std::vector<Fate> fates_;              // likewise
  columnar::RowBuilder builder_;
  OrderingFields::Scratch ordering_scratch_;
  std::array<KeyTable::Lookup, kRowsAtOnce> lookups_;
  std::array<std::string, kRowsAtOnce> key_scratches_;
  std::vector<uint32_t> stay_;  // rows of the base batch at hand
  uint64_t rows_out_ = 0;
};

}  // namespace tidemark::scan
