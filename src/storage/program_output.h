/// Programs that the user's own files name as the source of a secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::storage {

/// The words of a command line, as a shell without variables, patterns or operators would split it:
/// at blanks, but not inside of quotes; a backslash takes the next character as it is, outside of
/// single quotes. kInvalidArgument for a quote that is not closed, or no word at all; the message
/// repeats nothing of it.
Result<std::vector<std::string>> SplitCommand(std::string_view line);

/// Runs the program without a shell, found in PATH, with our environment and nothing to read, and
/// gives what it writes to its standard output; what it writes elsewhere is dropped, since it may
/// hold secrets. kDenied when it cannot be started, fails or writes more than 64 KiB; kUnavailable
/// when the budget ends, kCancelled when it is stopped: it and its children are killed then.
/// Messages name the program and no other word.
Result<std::string> ProgramOutput(const std::vector<std::string>& words, const Budget& budget);

}  // namespace tidemark::storage
