/// How one file's columns differ from the table's: renamed since, or left out by its writer.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "columnar/record_decoder.h"
#include "scan/dropped_columns.h"

namespace tidemark::scan {

/// What the file's writer called columns that were renamed since; empty: nothing was.
using ColumnNamesAt =
    std::function<std::vector<columnar::FileColumnName>(std::string_view instant)>;

/// A value; copies share. Any thread.
struct FileColumns {
  ColumnNamesAt names_at;
  ConstantsIn constants_in;
  /// false: rows of logs get null where their files lack a column, as readers up to 0.15 show them.
  bool fills_logs = true;
  /// false: a renamed field inside another is null in rows of logs that have its old name, as 1.0.2
  /// shows them.
  bool finds_nested_in_logs = true;

  /// Of a base file. `key`: relative to the table.
  columnar::DecodeOptions OfBase(std::string_view key, std::string_view instant) const;
  /// Of a block of a log file.
  columnar::DecodeOptions OfLog(std::string_view key, std::string_view instant) const;
};

}  // namespace tidemark::scan
