/// A request and its response as values.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::http {

/// Percent-decoding is done; names of headers are in lower case.
struct Request {
  std::string method;                        ///< "GET"
  std::vector<std::string> segments;         ///< of the path: "/a/b%2Fc" is {"a", "b/c"}
  std::map<std::string, std::string> query;  ///< of a name given twice the last value
  std::map<std::string, std::string> headers;
  std::string body;
  /// Asked to stop once the server ends and waits for no answer any more: whoever waits for
  /// something, gives up.
  std::stop_token stop{};
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// The response never ends: it carries the events that Server::Publish is given from now on
  /// (text/event-stream). `body` and `content_type` are left out.
  bool is_event_stream = false;
};

/// Splits and decodes what stands in the request line ("/a/b?x=1"). nullopt when it does not begin
/// with '/', or an escape is not "%" and two hex digits. A fragment is left out.
struct Target {
  std::vector<std::string> segments;
  std::map<std::string, std::string> query;
};
std::optional<Target> ParseTarget(std::string_view text);

}  // namespace tidemark::http
