#include "scan/file_columns.h"

#include <optional>

namespace tidemark::scan {
namespace {

std::string_view FolderOf(std::string_view key) {
  const size_t slash = key.rfind('/');
  return slash == key.npos ? std::string_view() : key.substr(0, slash);
}

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
