/// Lines added to what somebody else reads.
#pragma once

#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::push {

/// Adds `lines` to the end of a file, which is made when missing, for all to read whatever the
/// umask. All of them or, after an error, none.
Status AppendToFile(const std::string& path, std::string_view lines);

/// To standard output, as fast as its reader takes them; kUnavailable when the budget ends before.
/// A line that was begun then is ended by the next call's first byte, a line feed.
class StandardOutputLines {
 public:
  Status Write(std::string_view lines, const Budget& budget);

 private:
  bool is_in_line_ = false;
};

}  // namespace tidemark::push
