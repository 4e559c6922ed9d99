#include "scan/file_columns.h"

#include <optional>

#include "storage/object_key.h"

namespace tidemark::scan {
namespace {

using storage::FolderOf;

}  // namespace

columnar::DecodeOptions FileColumns::OfBase(std::string_view key, std::string_view instant) const {
  columnar::DecodeOptions options;
  if (names_at) options.names = names_at(instant);
  if (constants_in) options.constants = constants_in(FolderOf(key));
  return options;
}

columnar::DecodeOptions FileColumns::OfLog(std::string_view key, std::string_view instant) const {
  columnar::DecodeOptions options = OfBase(key, instant);
  if (!fills_logs) options.constants.clear();
  for (auto& renamed : options.names)
    if (!finds_nested_in_logs && renamed.path.contains('.')) renamed.name = std::nullopt;
  return options;
}

}  // namespace tidemark::scan
