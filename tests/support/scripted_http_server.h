/// An HTTP server in the test's own process that answers as it is told, also wrongly, late and in
/// part.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::support {

struct ScriptedRequest {
  std::string method;
  std::string target;                          ///< path and query as sent
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct ScriptedReply {
  std::string bytes;  ///< the whole answer with its head; see HttpReply
  std::chrono::milliseconds wait_before{0};
  /// Bytes are sent in pieces of this size with `wait_between` after each. 0: at once.
  size_t piece_bytes = 0;
  std::chrono::milliseconds wait_between{0};
  bool closes = false;  ///< ends the connection after the bytes
};

/// A well-formed answer with Content-Length. `head` are further header lines, each with "\r\n".
ScriptedReply HttpReply(int status, const std::string& body, const std::string& head = "");

/// Listens on a free port of 127.0.0.1. Any thread.
class ScriptedHttpServer {
 public:
  using Script = std::function<ScriptedReply(const ScriptedRequest& request, int number)>;

  /// `script` is asked for every request, by one thread a connection; `number` counts from 1.
  explicit ScriptedHttpServer(Script script);
  ScriptedHttpServer(const ScriptedHttpServer&) = delete;
  ScriptedHttpServer& operator=(const ScriptedHttpServer&) = delete;
  ~ScriptedHttpServer();

  std::string endpoint() const;  ///< "http://127.0.0.1:PORT"
  int port() const { return port_; }

  std::vector<ScriptedRequest> Requests() const;
  int connections() const;

 private:
  void Accept(const std::stop_token& stop);
  void Serve(int fd, const std::stop_token& stop);

  Script script_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<ScriptedRequest> requests_;  // guarded by mutex_
  int connections_ = 0;                    // guarded by mutex_
  std::list<std::jthread> serving_;        // touched by accepting_ only, until it has ended
  std::jthread accepting_;
};

}  // namespace tidemark::support
