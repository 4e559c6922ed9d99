/// HTTP as the object stores need it: one request, one whole answer. The only place that includes
/// curl.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::storage {

/// Whom to trust, and who we are, in PEM. Empty: what the machine trusts, and nobody.
struct HttpTls {
  std::string ca_file;           ///< instead of the machine's authorities
  std::string certificate_file;  ///< with its chain
  std::string key_file;          ///< of the certificate; empty: in the same file

  friend bool operator==(const HttpTls&, const HttpTls&) = default;
};

struct HttpRequest {
  std::string method = "GET";        ///< GET, HEAD, PUT, POST or DELETE
  std::string url;                   ///< percent-encoded; sent as it is
  std::vector<std::string> headers;  ///< "name: value"
  std::string_view body;             ///< of PUT and POST; must outlive the call
  uint64_t answer_bytes_max = 0;     ///< a longer answer is kExhausted
  bool is_direct = false;            ///< never through a proxy
  HttpTls tls{};
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  /// Whole for 2xx. Of other statuses at most kErrorBodyBytesMax, the rest is dropped.
  std::string body;

  /// Empty when there is no such header.
  std::string_view Header(const std::string& name) const;
};

struct HttpExchange {
  /// Why there is no answer: kUnavailable, kCancelled, kExhausted, kInvalidArgument,
  /// kDenied (its certificate), kCorrupt (no HTTP). Names the
  /// host, never the query.
  std::optional<Error> error;
  HttpAnswer answer;
  /// With `error`: whether the server may have got the whole request and acted on it.
  bool may_have_arrived = false;
};

inline constexpr size_t kErrorBodyBytesMax = size_t{64} << 10;

/// Keeps connections open between requests, to the hosts of the last ones. Any thread; a request
/// blocks its caller only, and ends promptly when the budget is stopped or over.
class HttpClient {
 public:
  HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  /// One try: retrying is the caller's, who knows what may be repeated. An answer that is cut short
  /// is kUnavailable. Redirects are answers.
  HttpExchange Send(const HttpRequest& request, const Budget& budget);

 private:
  class Channel;

  std::unique_ptr<Channel> TakeChannel(std::string_view host);
  void GiveBack(std::unique_ptr<Channel> channel);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Channel>> idle_;  // guarded by mutex_; the longest idle first
};

/// The one of all stores of this process; lives until it ends. Any thread.
HttpClient& SharedHttpClient();

/// "host:port" of a URL, for messages.
std::string_view HostOfUrl(std::string_view url);

}  // namespace tidemark::storage
