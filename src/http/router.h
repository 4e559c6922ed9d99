/// Which code answers which request.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace tidemark::http {

/// The error of every resource: {"error":{"status":404,"message":"…"}}.
Response ErrorResponse(int status, std::string_view message);

/// Handlers are called from several threads at once.
class Router {
 public:
  /// `parameters` are the segments that stood for "{…}", in their order.
  using Handler =
      std::function<Response(const Request& request, const std::vector<std::string>& parameters)>;

  /// `pattern`: "/api/v1/pipelines/{name}". Of two that match, the first added counts.
  void Add(std::string method, std::string_view pattern, Handler handler);

  /// 404 where no pattern matches, 405 with the methods there are where one matches. HEAD is
  /// answered as GET.
  Response Handle(const Request& request) const;

  /// "GET /api/v1/pipelines/{name}", in the order they were added.
  std::vector<std::string> Patterns() const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;  // "{name}" stands for any one
    Handler handler;
  };
  std::vector<Route> routes_;
};

/// A handler that refuses parameters of the query that it does not know (400): a misspelt one must
/// not pass for none.
Router::Handler Knowing(std::initializer_list<std::string_view> known, Router::Handler handler);

}  // namespace tidemark::http
