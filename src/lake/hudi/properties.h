/// `.hoodie/hoodie.properties`: what a table says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::lake::hudi {

/// Larger properties are refused unread; a schema of thousands of columns needs a megabyte.
inline constexpr uint64_t kPropertiesSizeMax = uint64_t{16} << 20;

enum class TableType { kCopyOnWrite, kMergeOnRead };

/// Which zone the table's instants are written in.
enum class TimelineZone { kLocal, kUtc };

struct TableProperties {
  std::string name;
  TableType type = TableType::kCopyOnWrite;
  int version = 0;  ///< hoodie.table.version, 0 when missing
  int layout = 1;   ///< hoodie.timeline.layout.version; when missing 2 from version 8 on, else 1
  TimelineZone zone = TimelineZone::kLocal;
  std::string timeline_folder;  ///< relative to the table: ".hoodie" or ".hoodie/timeline"
  std::string
      archive_folder;  ///< relative to the table: ".hoodie/archived" or ".hoodie/timeline/history"
  std::map<std::string, std::string> all;  ///< every property, unescaped
  /// The file begins as Hudi begins it and ends inside a line, which Hudi never does: properties
  /// behind its end may be lost.
  bool is_torn = false;

  /// A property's value; nullopt when absent.
  std::optional<std::string_view> Find(std::string_view key) const;
};

/// Java's .properties syntax (java.util.Properties.load): comments, continuation lines, `=`, `:` or
/// blank as separator, escapes, \uXXXX; bytes are ISO-8859-1 by the letter, but UTF-8 sequences are
/// kept as they are because real writers put them there. The last of equal keys wins. kCorrupt for
/// a broken \uXXXX escape (with its line).
Result<std::map<std::string, std::string>> ParseJavaProperties(std::string_view text);

/// The meaning of the properties. kCorrupt: no table name, an unknown table type, a version that is
/// no number, or a checksum that does not match `hoodie.table.checksum` (a torn write).
/// kUnsupported: a version over 9.
Result<TableProperties> ParseTableProperties(std::string_view text);

}  // namespace tidemark::lake::hudi
