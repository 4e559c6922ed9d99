/// gmock matchers for Result and Status; a failing one prints the error.
#pragma once

#include <gmock/gmock.h>

#include <ostream>

#include "base/error.h"

namespace tidemark {

/// gtest prints a failed Result through these.
inline void PrintTo(const Error& error, std::ostream* out) {
  *out << ErrorKindName(error.kind) << ": " << error.message;
}
template <class T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  if (result.has_value()) {
    *out << "a value";
  } else {
    PrintTo(result.error(), out);
  }
}

namespace support {

MATCHER(IsOk, negation ? "is an error" : "is ok") {
  if (arg.has_value()) return true;
  *result_listener << ErrorKindName(arg.error().kind) << ": " << arg.error().message;
  return false;
}

MATCHER_P(IsOkAnd, value, "is ok and its value " + ::testing::PrintToString(value)) {
  if (!arg.has_value()) {
    *result_listener << ErrorKindName(arg.error().kind) << ": " << arg.error().message;
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

MATCHER_P2(IsError, kind, message,
           "is " + std::string(ErrorKindName(kind)) + " with message " +
               ::testing::PrintToString(message)) {
  if (arg.has_value()) {
    *result_listener << "is ok";
    return false;
  }
  *result_listener << ErrorKindName(arg.error().kind) << ": " << arg.error().message;
  return arg.error().kind == kind &&
         ::testing::ExplainMatchResult(message, arg.error().message, result_listener);
}

/// `ASSERT_OK_ASSIGN(auto value, Make())`: declares `value`, or fails the test with the error.
#define ASSERT_OK_ASSIGN_(tmp, lhs, expr)                                             \
  auto tmp = (expr);                                                                  \
  ASSERT_TRUE(tmp.has_value()) << ::tidemark::ErrorKindName(tmp.error().kind) << ": " \
                               << tmp.error().message;                                \
  lhs = *std::move(tmp)
#define ASSERT_OK_ASSIGN(lhs, expr) \
  ASSERT_OK_ASSIGN_(TIDEMARK_CONCAT(ok_tmp_, __COUNTER__), lhs, expr)

}  // namespace support
}  // namespace tidemark
