/// Text that is none: rows whose strings are not UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "columnar/batch.h"
#include "lake/finding.h"

namespace tidemark::scan {

/// Looks through the visible columns of rows that are given out, nested strings too. Readers of
/// Hudi pass such bytes on; JSON and CSV cannot hold them, and Parquet and Arrow call them text.
/// Costs little where all is valid. Single-threaded.
class TextCheck {
 public:
  void Look(const columnar::Batch& batch);

  /// "invalid_text": how many values, and the first one's column and, where the rows have it,
  /// record key; nullopt: all were valid.
  std::optional<lake::Finding> Found(std::string place) const;

 private:
  uint64_t values_ = 0;
  std::string column_;  // of the first
  std::string key_;     // of its row; empty when it is not known
};

}  // namespace tidemark::scan
