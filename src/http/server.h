/// An HTTP/1.1 server for few, small requests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "http/router.h"

namespace tidemark::http {

/// A certificate chain and its key, PEM.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  ///< numeric, IPv4 or IPv6
  uint16_t port = 0;                  ///< 0: any free one
  std::optional<TlsFiles> tls;
  /// Says whether a request may be answered; 401 otherwise. Asked before the body is read, so
  /// without it. Null: every one may.
  std::function<bool(const Request&)> is_allowed;
  unsigned threads = 2;  ///< that carry connections and answer what is Pace::kAtOnce
  /// That answer what may wait, and how many such requests wait for one of them; 503 over it.
  unsigned waiting_threads = 4;
  size_t waiting_queue_max = 16;
  /// Connections over the bound are answered 503 and closed; with TLS they are closed without a
  /// word. One counts from its first moment, before it has said anything.
  size_t connections_max = 256;
  size_t header_size_max = size_t{16} << 10U;
  size_t body_size_max = size_t{1} << 20U;  ///< of a POST; of others as much as a header
  /// For the handshake of TLS, for receiving a whole request once it has begun (the first one of a
  /// connection: once that is there), and for sending a whole response.
  Milliseconds request_deadline = std::chrono::seconds(10);
  /// How long a connection may wait for its next request.
  Milliseconds idle_limit = std::chrono::seconds(30);
  /// Open streams of events; 503 over it. One that is so many events behind is closed.
  size_t streams_max = 64;
  size_t events_behind_max = 256;
};

/// Answers until it ends. What is asked wrongly gets 400, 413, 414/431, 401, 404 or 405; a handler
/// never sees it.
class Server {
 public:
  virtual ~Server() = default;

  /// kUnavailable when the address cannot be listened on, kInvalidArgument for an address that is
  /// none and for a certificate or key that cannot be used; names them.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options, Router router);

  virtual uint16_t port() const = 0;

  /// Whether any stream is open: an event for nobody need not be made. Any thread.
  virtual bool has_streams() const = 0;

  /// Sends an event to every open stream: `event` its name, `data` one line. Any thread; never
  /// waits.
  virtual void Publish(std::string_view event, std::string_view data) = 0;

  /// Takes no more connections, ends streams, finishes requests that are being answered or wait for
  /// a thread for at most `grace`, asks handlers to stop by Request::stop, and ends once they have
  /// returned. The destructor does so without grace.
  virtual void Stop(Milliseconds grace) = 0;
};

}  // namespace tidemark::http
