#include "http/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace tidemark::http {

namespace {

std::vector<std::string> SegmentsOf(std::string_view pattern) {
  std::vector<std::string> segments;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the '/'
    if (pattern.empty()) break;
    segments.emplace_back(pattern.substr(0, pattern.find('/')));
    pattern.remove_prefix(segments.back().size());
  }
  return segments;
}

std::optional<std::vector<std::string>> Match(const std::vector<std::string>& pattern,
                                              const std::vector<std::string>& segments) {
  if (pattern.size() != segments.size()) return std::nullopt;
  std::vector<std::string> parameters;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].starts_with('{')) {
      parameters.push_back(segments[i]);
    } else if (pattern[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return parameters;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// `allowed`: the methods that the path answers to; "": there is no such path.
Response Refusal(const std::string& allowed) {
  if (allowed.empty()) return ErrorResponse(404, "there is nothing at this path");
  Response response =
      ErrorResponse(405, fmt::format("this path answers to other methods: {}", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

Response ErrorResponse(int status, std::string_view message) {
  return {.status = status,
          .body = fmt::format(R"({{"error":{{"status":{},"message":{}}}}})"
                              "\n",
                              status, Quoted(ToValidUtf8(message))),
          .headers = {}};
}

void Router::Add(std::string method, std::string_view pattern, Handler handler, Pace pace) {
  routes_.push_back({std::move(method), SegmentsOf(pattern), std::move(handler), pace});
}

Router::Choice Router::Choose(const Request& request) const {
  std::string_view method = request.method;
  if (method == "HEAD") method = "GET";
  std::string allowed;
  for (const Route& route : routes_) {
    auto parameters = Match(route.segments, request.segments);
    if (!parameters) continue;
    if (route.method == method) {
      return {.answer = [&handler = route.handler, parameters = *std::move(parameters)](
                            const Request& asked) { return handler(asked, parameters); },
              .pace = route.pace};
    }
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  return {.answer = [allowed = std::move(allowed)](const Request&) { return Refusal(allowed); },
          .is_refusal = true};
}

std::vector<std::string> Router::Patterns() const {
  std::vector<std::string> patterns;
  for (const Route& route : routes_)
    patterns.push_back(fmt::format("{} /{}", route.method, fmt::join(route.segments, "/")));
  return patterns;
}

Router::Handler Knowing(std::initializer_list<std::string_view> known, Router::Handler handler) {
  return
      [names = std::vector<std::string>(known.begin(), known.end()), handler = std::move(handler)](
          const Request& request, const std::vector<std::string>& parameters) {
        for (const auto& [name, value] : request.query) {
          if (std::ranges::find(names, name) == names.end())
            return ErrorResponse(400, fmt::format("there is no parameter '{}' here", name));
        }
        return handler(request, parameters);
      };
}

}  // namespace tidemark::http
