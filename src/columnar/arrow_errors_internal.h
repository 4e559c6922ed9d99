/// What Arrow reports and throws, as our errors.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace arrow {
class Status;
}  // namespace arrow

namespace tidemark::columnar {

/// `name`: the file's, for the message. REQUIRES: not ok.
Error ToError(const arrow::Status& status, std::string_view name);

/// Runs `work`; exceptions end here.
Status Guarded(std::string_view name, const std::function<Status()>& work);

}  // namespace tidemark::columnar

/// As TRY_ASSIGN, of an arrow::Result.
#define TIDEMARK_ARROW_ASSIGN_(tmp, lhs, expr, name)                             \
  auto tmp = (expr);                                                             \
  if (!tmp.ok()) {                                                               \
    return std::unexpected(::tidemark::columnar::ToError(tmp.status(), (name))); \
  }                                                                              \
  lhs = std::move(tmp).ValueUnsafe()
#define ARROW_TRY_ASSIGN(lhs, expr, name) \
  TIDEMARK_ARROW_ASSIGN_(TIDEMARK_CONCAT(arrow_tmp_, __COUNTER__), lhs, expr, name)
/// As TRY, of an arrow::Status.
#define TIDEMARK_ARROW_TRY_(tmp, expr, name)                                           \
  do {                                                                                 \
    const ::arrow::Status tmp = (expr);                                                \
    if (!tmp.ok()) return std::unexpected(::tidemark::columnar::ToError(tmp, (name))); \
  } while (false)
#define ARROW_TRY(expr, name) \
  TIDEMARK_ARROW_TRY_(TIDEMARK_CONCAT(arrow_tmp_, __COUNTER__), expr, name)
