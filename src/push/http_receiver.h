/// Requests to receivers over HTTP, and what their answers mean.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "storage/http_client.h"

namespace tidemark::push {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// kInvalidArgument for what is no http:// or https:// URL with a host, or holds blanks. Does not
/// repeat it.
Status CheckHttpUrl(std::string_view url);

/// kInvalidArgument for what cannot be a header (RFC 9110): a name that is no token, a value with
/// control characters. Does not repeat the value.
Status CheckHttpHeader(std::string_view name, std::string_view value);

/// `text` as one segment of a path: percent-encoded but for RFC 3986's unreserved characters.
std::string PathSegment(std::string_view text);

struct HttpMessage {
  std::string_view method;
  std::string url;
  std::string_view content_type;  ///< empty: no body
  std::string_view body;
};

/// One receiver and its connection. Single-threaded.
class HttpReceiver {
 public:
  /// `headers` go with every request; may be secret.
  explicit HttpReceiver(HttpHeaders headers, storage::HttpTls tls = {})
      : headers_(std::move(headers)), tls_(std::move(tls)) {}

  /// Whatever it answers. One try; an Error is why there is none.
  Result<storage::HttpAnswer> Ask(const HttpMessage& message, const Budget& budget);

  /// The body of the answer, cut off at storage::kErrorBodyBytesMax. One try. Not 2xx: kDenied
  /// (401, 403), kUnavailable (408, 425, 429, 5xx), else kInvalidArgument; redirects are not
  /// followed. Messages name the host, the status and the beginning of the answer.
  Result<std::string> Send(const HttpMessage& message, const Budget& budget);

  /// What such an answer means: an Error unless it is 2xx.
  Status Judge(const HttpMessage& message, const storage::HttpAnswer& answer) const;

 private:
  /// The beginning of an answer for people, without path and query of the URL and without headers.
  std::string Quoted(const HttpMessage& message, std::string_view body) const;

  HttpHeaders headers_;
  storage::HttpTls tls_;
  storage::HttpClient client_;
};

}  // namespace tidemark::push
