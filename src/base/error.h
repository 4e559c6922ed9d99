/// How tidemark says that something could not be done: Error, Result, Status and the two macros
/// that pass them on.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark {

/// What the caller should do about an error. A kind exists only if some caller branches on it.
enum class ErrorKind {
  kNotFound,         ///< decide whether absence is normal here
  kCorrupt,          ///< the bytes are damaged: report, do not retry
  kUnsupported,      ///< a version or feature we do not read: report as such
  kInvalidArgument,  ///< the user's words are wrong: tell the user
  kDenied,           ///< credentials missing or refused: tell the user, do not retry
  kUnavailable,      ///< nobody answered, or not in time: retry within the budget
  kConflict,         ///< the thing moved under us: start over
  kCancelled,        ///< stop quietly
  kExhausted,        ///< a bound of ours was reached: say which
  kInternal,         ///< our bug
};

/// The word of a kind as it appears in logs and JSON, e.g. "not_found".
std::string_view ErrorKindName(ErrorKind kind);

/// Why something could not be done. `message` is fixed text, then `name=value` pairs: it names the
/// value and the place, in lower case, without a full stop.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  /// Puts what the caller knows in front ("table=s3://lake/orders: " + message): outermost first,
  /// once per layer.
  Error With(std::string_view context) &&;

  friend bool operator==(const Error&, const Error&) = default;
};

/// A value or the Error that prevented it. A derived class, not an alias: g++ 12 warns about a
/// dropped
/// [[nodiscard]] class, and says nothing about a dropped std::expected (docs/decisions/0002).
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

/// `return Fail(ErrorKind::kCorrupt, "…")` from any function that returns a Result.
[[nodiscard]] std::unexpected<Error> Fail(ErrorKind kind, std::string message);

namespace internal {
template <class R>
std::unexpected<Error> Pass(R& result) {
  return std::unexpected<Error>(std::move(result).error());
}
}  // namespace internal

}  // namespace tidemark

#define TIDEMARK_CONCAT_(a, b) a##b
#define TIDEMARK_CONCAT(a, b) TIDEMARK_CONCAT_(a, b)

#define TIDEMARK_TRY_(tmp, expr)                      \
  do {                                                \
    auto tmp = (expr);                                \
    if (!tmp) return ::tidemark::internal::Pass(tmp); \
  } while (false)
#define TIDEMARK_TRY_ASSIGN_(tmp, lhs, expr)        \
  auto tmp = (expr);                                \
  if (!tmp) return ::tidemark::internal::Pass(tmp); \
  lhs = *std::move(tmp)

/// Returns the error of `expr` (a Status, or a Result whose value is not wanted) from the enclosing
/// function.
#define TRY(expr) TIDEMARK_TRY_(TIDEMARK_CONCAT(try_tmp_, __COUNTER__), expr)
/// Declares or assigns `lhs` from the value of `expr`, or returns its error. Not usable as the body
/// of an unbraced if.
#define TRY_ASSIGN(lhs, expr) \
  TIDEMARK_TRY_ASSIGN_(TIDEMARK_CONCAT(try_tmp_, __COUNTER__), lhs, expr)
