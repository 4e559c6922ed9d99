/// What a table's settings alone say about rows it will lose.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/finding.h"
#include "merge/ordering_type.h"
#include "merge/profile.h"

namespace tidemark::merge {

struct SettingsFinding {
  std::string_view kind;  ///< "config_delete_class", "config_no_ordering_field", …
  Severity severity = Severity::kWarning;
  std::string explanation;  ///< one sentence, without a full stop
};

/// `columns` are the ordering fields' types, in their order; kUnknown where the table has no such
/// column. Fewer than fields: of the others nothing is known.
std::vector<SettingsFinding> LintSettings(const TableSettings& settings,
                                          std::span<const OrderingColumn> columns);

}  // namespace tidemark::merge
