#include "base/error.h"

#include <utility>

namespace tidemark {

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kCorrupt: return "corrupt";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kInvalidArgument: return "invalid_argument";
    case ErrorKind::kDenied: return "denied";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kConflict: return "conflict";
    case ErrorKind::kCancelled: return "cancelled";
    case ErrorKind::kExhausted: return "exhausted";
    case ErrorKind::kInternal: return "internal";
  }
  std::unreachable();
}

Error Error::With(std::string_view context) && {
  std::string text(context);
  text += ": ";
  text += message;
  return Error{kind, std::move(text)};
}

std::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return std::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace tidemark
