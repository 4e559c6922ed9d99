/// Runs SQL statements on an engine, whichever protocol it speaks.
#pragma once

#include <string>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::sink {

/// Single-threaded.
class StatementRunner {
 public:
  virtual ~StatementRunner() = default;

  /// Until the engine has done it. kUnavailable, kDenied, kNotFound (it does not know the table or
  /// its schema), kInvalidArgument (it refuses the statement), kCancelled.
  virtual Status Run(const std::string& statement, const Budget& budget) = 0;
};

}  // namespace tidemark::sink
