#include "lake/finding.h"

#include <algorithm>
#include <array>

namespace tidemark::lake {

bool IsDamage(std::string_view kind) {
  constexpr std::array<std::string_view, 24> kDamages = {
      "corrupt_block",          "torn_tail",
      "unknown_block",          "unsupported_block",
      "unknown_command",        "corrupt_record",
      "missing_file",           "wrong_size",
      "missing_commit",         "layout_mismatch",
      "torn_properties",        "empty_replacecommit",
      "unclaimed_block",        "unsupported_base_file",
      "unreadable_archive",     "planned_file_gone",
      "ambiguous_base_file",    "corrupt_file",
      "no_ordering_column",     "table_type_mismatch",
      "empty_commit",           "unreadable_commit",
      "contradicting_rollback", "repeated_partition"};
  return std::ranges::find(kDamages, kind) != kDamages.end();
}

}  // namespace tidemark::lake
