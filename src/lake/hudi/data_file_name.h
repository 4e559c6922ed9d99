/// Names of the files in a table's partitions (hudi-log.md in docs/formats).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::lake::hudi {

/// From this table version on a log file belongs to one delta commit and is named by it; before, by
/// the base file it lies upon, and commits append to it.
inline constexpr int kOwnLogsVersion = 8;

/// Told from the end of the name. Only Parquet is read.
enum class BaseFileFormat { kParquet, kOrc, kHFile, kLance };

/// "parquet", "orc", "hfile", "lance": also the end of such a name.
std::string_view BaseFileFormatName(BaseFileFormat format);

/// `<fileId>_<writeToken>_<instant>.<format>`.
struct BaseFileName {
  std::string file_id;      ///< mostly a UUID and "-0"; never holds '_'
  std::string write_token;  ///< "0-161-129": task, stage, attempt
  std::string instant;      ///< requested time of the write that made the file
  BaseFileFormat format = BaseFileFormat::kParquet;

  friend bool operator==(const BaseFileName&, const BaseFileName&) = default;
};
/// nullopt for any other name. Names are parsed, not paths.
std::optional<BaseFileName> ParseBaseFileName(std::string_view name);

/// `.<fileId>_<instant>.log.<version>[_<writeToken>[.cdc]]`.
struct LogFileName {
  std::string file_id;  ///< may hold '_'
  /// Below table version 8 the base file's instant (of the first delta commit where there is no
  /// base file); from version 8 on the requested time of the delta commit that wrote the file.
  std::string instant;
  uint64_t version = 0;
  std::string write_token;  ///< empty in very old names, which have none
  bool is_cdc = false;      ///< change data beside the table's own; never part of its rows

  friend bool operator==(const LogFileName&, const LogFileName&) = default;
};
/// nullopt for any other name, an archive's included.
std::optional<LogFileName> ParseLogFileName(std::string_view name);

}  // namespace tidemark::lake::hudi
