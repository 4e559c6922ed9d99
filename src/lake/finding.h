/// A defect of the data that a reader met and could step over. Not an Error: the work goes on and
/// the report says so.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tidemark::lake {

struct Finding {
  std::string kind;  ///< closed set of snake_case words, e.g. "truncated_commit", "unknown_action",
                     ///< "stray_file"
  std::string
      place;  ///< the object, relative to the table, e.g. ".hoodie/20240101120000123.commit"
  std::string message;  ///< one sentence in the style of Error messages

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Whether a finding of this kind means that rows may be missing or wrong; the others are about the
/// table's state.
bool IsDamage(std::string_view kind);

/// Takes findings as they are met; may be empty (findings are then dropped by the caller's choice).
using FindingSink = std::function<void(Finding)>;

}  // namespace tidemark::lake
