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

/// Whether a handler may wait for others: a store, a database, a commit.
enum class Pace { kAtOnce, kMayWait };

/// Handlers are called from several threads at once.
class Router {
 public:
  /// `parameters` are the segments that stood for "{…}", in their order.
  using Handler =
      std::function<Response(const Request& request, const std::vector<std::string>& parameters)>;

  /// `pattern`: "/api/v1/pipelines/{name}". Of two that match, the first added counts. A server
  /// answers what is kAtOnce on the threads that carry its connections: a handler that waits there
  /// holds up everybody.
  void Add(std::string method, std::string_view pattern, Handler handler,
           Pace pace = Pace::kAtOnce);

  /// What answers a request; not after the router.
  struct Choice {
    std::function<Response(const Request& request)> answer;
    Pace pace = Pace::kAtOnce;
    bool is_refusal = false;  ///< nothing is asked for that there is
  };
  /// By method and path alone, so before the body is there. 404 where no pattern matches, 405 with
  /// the methods there are where one matches. HEAD is answered as GET.
  Choice Choose(const Request& request) const;
  /// The answer of what is chosen.
  Response Handle(const Request& request) const { return Choose(request).answer(request); }

  /// "GET /api/v1/pipelines/{name}", in the order they were added.
  std::vector<std::string> Patterns() const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;  // "{name}" stands for any one
    Handler handler;
    Pace pace;
  };
  std::vector<Route> routes_;
};

/// A handler that refuses parameters of the query that it does not know (400): a misspelt one must
/// not pass for none.
Router::Handler Knowing(std::initializer_list<std::string_view> known, Router::Handler handler);

}  // namespace tidemark::http
