#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "http/answer_pool_internal.h"

namespace tidemark::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
/// A comment keeps proxies from closing a stream without events.
constexpr auto kHeartbeat = std::chrono::seconds(15);
/// How long accepting pauses when the process has no descriptor left.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
/// Seconds after which a request is worth another try for which there was no thread.
constexpr const char* kRetryAfter = "5";
constexpr std::string_view kBodyTooLarge = "the body is too large";
/// How long a client that was refused may go on sending.
constexpr auto kLingerMax = std::chrono::seconds(2);

using Parser = wire::request_parser<wire::string_body>;

/// A request of which the header is there.
struct Asked {
  Request request{};
  Router::Choice choice{};
  std::optional<Response> refusal{};  ///< instead of what is chosen, and of the body
};

/// What one stream of events has still to send.
struct EventQueue {
  explicit EventQueue(asio::any_io_executor executor) : wake(std::move(executor)) {}
  std::mutex mutex;
  std::deque<std::string> events;
  bool is_over = false;
  asio::steady_timer wake;  ///< of the session's strand
};

/// A request that a thread of the pool answers. Its session waits for `done`, which is of the
/// session's strand, and reads `response` only then; it may be gone by then, too.
struct Waiting {
  Waiting(asio::any_io_executor executor, Request it)
      : request(std::move(it)), done(std::move(executor), asio::steady_timer::time_point::max()) {}
  const Request request;
  Response response;
  asio::steady_timer done;
};

class BeastServer final : public Server {
 public:
  BeastServer(ServerOptions options, Router router)
      : options_(std::move(options)),
        router_(std::move(router)),
        pool_(options_.waiting_threads, options_.waiting_queue_max) {}

  ~BeastServer() override { Stop(Milliseconds(0)); }

  Status Listen() {
    error_code error;
    const auto address = asio::ip::make_address(options_.address, error);
    if (error) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("not an IP address to listen on address={}", options_.address));
    }
    if (options_.tls) TRY(UseTls());
    const Tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("cannot listen address={} port={} error={}", options_.address,
                              options_.port, error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    asio::co_spawn(context_, Accept(), asio::detached);
    for (unsigned i = 0; i < options_.threads; ++i)
      threads_.emplace_back([this] { context_.run(); });
    pool_.Start();
    return {};
  }

  uint16_t port() const override { return port_; }

  bool has_streams() const override {
    const std::lock_guard lock(streams_mutex_);
    return !streams_.empty();
  }

  void Publish(std::string_view event, std::string_view data) override {
    const std::string text = fmt::format("event: {}\ndata: {}\n\n", event, data);
    const std::lock_guard lock(streams_mutex_);
    for (const auto& stream : streams_) {
      const std::lock_guard stream_lock(stream->mutex);
      if (stream->events.size() >= options_.events_behind_max) {
        stream->is_over = true;
      } else {
        stream->events.push_back(text);
      }
      Wake(stream);
    }
  }

  void Stop(Milliseconds grace) override {
    if (threads_.empty()) return;
    asio::post(context_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    {
      const std::lock_guard lock(streams_mutex_);
      for (const auto& stream : streams_) End(stream);
    }
    {
      std::unique_lock lock(busy_mutex_);
      is_stopping_ = true;
      no_longer_busy_.wait_for(lock, grace, [this] { return busy_ == 0; });
    }
    context_.stop();
    threads_.clear();
    pool_.Stop();
    const std::lock_guard lock(streams_mutex_);
    streams_.clear();  // their timers must not outlive the context
  }

 private:
  Status UseTls() {
    try {
      tls_.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv3 |
                       asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
      tls_.use_certificate_chain_file(options_.tls->certificate);
      tls_.use_private_key_file(options_.tls->key, asio::ssl::context::pem);
    } catch (const boost::system::system_error& error) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("certificate or key cannot be used certificate={} key={} error={}",
                              options_.tls->certificate, options_.tls->key, error.what()));
    }
    return {};
  }

  /// One of the connections that are open, from the moment it was taken.
  class Place {
   public:
    explicit Place(std::atomic<size_t>& count) : count_(count), number_(++count) {}
    ~Place() { --count_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    size_t number() const { return number_; }

   private:
    std::atomic<size_t>& count_;
    size_t number_;
  };
  /// Sessions take it before their stream: it ends after it.
  using HeldPlace = std::unique_ptr<const Place>;

  asio::awaitable<void> Accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(asio::make_strand(context_), kAwait);
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
      if (error) {
        asio::steady_timer pause(context_, kAcceptPause);
        co_await pause.async_wait(kAwait);
        continue;
      }
      auto place = std::make_unique<const Place>(connections_);
      const bool is_over = place->number() > options_.connections_max;
      const auto strand = socket.get_executor();
      beast::tcp_stream stream(std::move(socket));
      if (!options_.tls) {
        asio::co_spawn(strand,
                       is_over ? Refuse(std::move(place), std::move(stream))
                               : Serve(std::move(place), std::move(stream)),
                       asio::detached);
      } else if (!is_over) {
        asio::co_spawn(strand, ServeTls(std::move(place), {std::move(stream), tls_}),
                       asio::detached);
      }
      // With TLS a word of refusal would cost a handshake, which is what there is no room for.
    }
  }

  asio::awaitable<void> Refuse(HeldPlace, beast::tcp_stream stream) {
    co_await Send(stream, ErrorResponse(503, "too many connections"), 11, false, false);
    Close(stream);
  }

  asio::awaitable<void> ServeTls(HeldPlace place, beast::ssl_stream<beast::tcp_stream> stream) {
    beast::get_lowest_layer(stream).expires_after(options_.request_deadline);
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
    if (!error) co_await Serve(std::move(place), std::move(stream));
  }

  /// One request that is being answered: Stop() waits for it.
  class Busy {
   public:
    explicit Busy(BeastServer& server) : server_(server) {
      const std::lock_guard lock(server_.busy_mutex_);
      ++server_.busy_;
    }
    ~Busy() {
      const std::lock_guard lock(server_.busy_mutex_);
      --server_.busy_;
      server_.no_longer_busy_.notify_all();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    BeastServer& server_;
  };

  template <class Stream>
  asio::awaitable<void> Serve(HeldPlace, Stream stream) {
    beast::flat_buffer buffer;
    for (bool is_first = true;; is_first = false) {
      // Waiting for the first byte may take longer than receiving the rest.
      if (!is_first && buffer.size() == 0 && !co_await AwaitBytes(stream, buffer)) break;
      Parser parser;
      parser.header_limit(static_cast<uint32_t>(options_.header_size_max));
      parser.body_limit(options_.body_size_max);
      beast::get_lowest_layer(stream).expires_after(options_.request_deadline);
      auto [error, size] = co_await wire::async_read_header(stream, buffer, parser, kAwait);
      std::optional<Asked> asked;
      if (!error) asked = Admit(parser);
      const bool has_body = !error && !asked->refusal && !parser.is_done();
      // Who asks whether the body is wanted waits for a word before it is sent.
      if (has_body && beast::iequals(parser.get()[wire::field::expect], "100-continue")) {
        static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        std::tie(error, size) = co_await asio::async_write(stream, asio::buffer(kContinue), kAwait);
      }
      if (has_body && !error) {
        std::tie(error, size) = co_await wire::async_read(stream, buffer, parser, kAwait);
        asked->request.body = std::move(parser.get().body());
      }
      if (error) {
        if (const auto response = ComplaintOf(error)) {
          co_await Send(stream, *response, 11, false, false);
          co_await Linger(stream);
        }
        break;
      }
      const Busy busy(*this);
      const auto& message = parser.get();
      // What is left of a refused body would be taken for the next request.
      const bool keeps_alive = message.keep_alive() && parser.is_done() && !is_stopping_;
      const Response response = co_await Answer(stream.get_executor(), *std::move(asked));
      const bool is_head = message.method() == wire::verb::head;
      if (response.is_event_stream && !is_head) {
        co_await SendEvents(stream);
        break;
      }
      if (!co_await Send(stream, response, message.version(), keeps_alive, is_head)) break;
      if (!parser.is_done()) co_await Linger(stream);
      if (!keeps_alive) break;
    }
    Close(stream);
  }

  /// Reads and forgets what a client still sends that was refused: closing before would reset the
  /// connection, and it would not read why.
  template <class Stream>
  asio::awaitable<void> Linger(Stream& stream) {
    auto& lowest = beast::get_lowest_layer(stream);
    error_code ignored;
    lowest.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    lowest.expires_after(kLingerMax);
    std::array<char, 16384> bytes{};
    for (size_t rest = options_.body_size_max; rest > 0;) {
      const auto [error, size] = co_await lowest.async_read_some(asio::buffer(bytes), kAwait);
      if (error) break;
      rest -= std::min(rest, size);
    }
  }

  template <class Stream>
  asio::awaitable<bool> AwaitBytes(Stream& stream, beast::flat_buffer& buffer) {
    beast::get_lowest_layer(stream).expires_after(options_.idle_limit);
    const auto [error, size] = co_await stream.async_read_some(buffer.prepare(4096), kAwait);
    buffer.commit(size);
    co_return !error;
  }

  static std::optional<Response> ComplaintOf(const error_code& error) {
    if (error == wire::error::body_limit) return ErrorResponse(413, kBodyTooLarge);
    if (error == wire::error::header_limit) return ErrorResponse(431, "the header is too large");
    if (error == wire::error::end_of_stream || error == beast::error::timeout ||
        error == wire::error::partial_message)
      return std::nullopt;
    // What else the parser refuses is no HTTP; errors of the connection have no reader.
    if (error.category() == make_error_code(wire::error::bad_method).category())
      return ErrorResponse(400, "this is not HTTP/1.1: " + error.message());
    return std::nullopt;
  }

  /// What a header asks for, or why its body is not read.
  Asked Admit(Parser& parser) const {
    const auto& message = parser.get();
    Asked asked;
    const auto target = ParseTarget(std::string_view(message.target()));
    if (!target) {
      asked.refusal = ErrorResponse(400, "the path cannot be read");
      return asked;
    }
    Request& request = asked.request;
    request.method = std::string(message.method_string());
    request.segments = target->segments;
    request.query = target->query;
    for (const auto& field : message) {
      std::string name(field.name_string());
      std::ranges::transform(name, name.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      });
      request.headers.insert_or_assign(std::move(name), std::string(field.value()));
    }
    if (options_.is_allowed && !options_.is_allowed(request)) {
      asked.refusal = ErrorResponse(401, "a bearer token is needed");
      asked.refusal->headers.emplace_back("WWW-Authenticate", "Bearer");
      return asked;
    }
    asked.choice = router_.Choose(request);
    if (asked.choice.is_refusal) {
      asked.refusal = asked.choice.answer(request);
      return asked;
    }
    // Probes need no token: what anybody may ask must not cost the memory of a large body.
    const size_t body_max =
        request.method == "POST" ? options_.body_size_max : options_.header_size_max;
    parser.body_limit(body_max);
    if (parser.content_length().value_or(0) > body_max)
      asked.refusal = ErrorResponse(413, kBodyTooLarge);
    return asked;
  }

  asio::awaitable<Response> Answer(asio::any_io_executor executor, Asked asked) {
    if (asked.refusal) co_return *std::move(asked.refusal);
    if (asked.choice.pace == Pace::kAtOnce) co_return asked.choice.answer(asked.request);
    asked.request.stop = pool_.stop();
    co_return co_await AnswerInPool(asked.choice, std::move(executor), std::move(asked.request));
  }

  asio::awaitable<Response> AnswerInPool(const Router::Choice& choice,
                                         asio::any_io_executor executor, Request request) {
    const auto waiting = std::make_shared<Waiting>(std::move(executor), std::move(request));
    const bool is_taken = pool_.Take([waiting, answer = choice.answer] {
      waiting->response = answer(waiting->request);
      // On the strand: not before the session waits for it.
      asio::post(waiting->done.get_executor(), [waiting] { waiting->done.cancel(); });
    });
    if (!is_taken) {
      Response refusal = ErrorResponse(
          503, "too many requests wait for tables, the state or commits: try again later");
      refusal.headers.emplace_back("Retry-After", kRetryAfter);
      co_return refusal;
    }
    co_await waiting->done.async_wait(kAwait);
    co_return std::move(waiting->response);
  }

  template <class Stream>
  asio::awaitable<bool> Send(Stream& stream, const Response& response, unsigned version,
                             bool keeps_alive, bool is_head) {
    wire::response<wire::string_body> message(static_cast<wire::status>(response.status), version);
    message.set(wire::field::content_type, response.content_type);
    message.set(wire::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.keep_alive(keeps_alive);
    message.content_length(response.body.size());
    if (!is_head) message.body() = response.body;
    beast::get_lowest_layer(stream).expires_after(options_.request_deadline);
    if (is_head) {
      wire::response_serializer<wire::string_body> header(message);
      const auto [error, size] = co_await wire::async_write_header(stream, header, kAwait);
      co_return !error;
    }
    const auto [error, size] = co_await wire::async_write(stream, message, kAwait);
    co_return !error;
  }

  template <class Stream>
  asio::awaitable<void> SendEvents(Stream& stream) {
    auto queue = std::make_shared<EventQueue>(stream.get_executor());
    if (!Join(queue)) {
      co_await Send(stream, ErrorResponse(503, "too many event streams"), 11, false, false);
      co_return;
    }
    // A client of events has nothing more to say: what can be read from it is that it left.
    beast::get_lowest_layer(stream).socket().async_wait(Tcp::socket::wait_read,
                                                        [queue](error_code) { End(queue); });
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n\r\n: tidemark\n\n";
    for (;;) {
      beast::get_lowest_layer(stream).expires_after(options_.request_deadline);
      const auto [error, size] = co_await asio::async_write(stream, asio::buffer(text), kAwait);
      if (error) break;
      text = TakeEvents(*queue);
      if (text.empty()) {
        if (IsOver(*queue)) break;
        queue->wake.expires_after(kHeartbeat);
        // Events that came before the timer was set did not wake it.
        text = TakeEvents(*queue);
        if (text.empty() && !IsOver(*queue)) {
          co_await queue->wake.async_wait(kAwait);
          text = TakeEvents(*queue);
          if (text.empty()) text = ": \n\n";
        }
      }
    }
    Leave(queue);
  }

  /// The timer belongs to the session's strand.
  static void Wake(const std::shared_ptr<EventQueue>& queue) {
    asio::post(queue->wake.get_executor(), [queue] { queue->wake.cancel(); });
  }

  static std::string TakeEvents(EventQueue& queue) {
    const std::lock_guard lock(queue.mutex);
    std::string text;
    for (const std::string& event : queue.events) text += event;
    queue.events.clear();
    return text;
  }
  static void End(const std::shared_ptr<EventQueue>& queue) {
    const std::lock_guard lock(queue->mutex);
    queue->is_over = true;
    Wake(queue);
  }
  static bool IsOver(EventQueue& queue) {
    const std::lock_guard lock(queue.mutex);
    return queue.is_over;
  }

  bool Join(const std::shared_ptr<EventQueue>& queue) {
    const std::lock_guard lock(streams_mutex_);
    if (streams_.size() >= options_.streams_max) return false;
    streams_.push_back(queue);
    return true;
  }
  void Leave(const std::shared_ptr<EventQueue>& queue) {
    const std::lock_guard lock(streams_mutex_);
    std::erase(streams_, queue);
  }

  template <class Stream>
  static void Close(Stream& stream) {
    error_code ignored;
    beast::get_lowest_layer(stream).socket().shutdown(Tcp::socket::shutdown_both, ignored);
  }

  const ServerOptions options_;
  const Router router_;
  uint16_t port_ = 0;
  std::atomic<size_t> connections_ = 0;

  std::mutex busy_mutex_;
  std::condition_variable no_longer_busy_;
  size_t busy_ = 0;
  std::atomic<bool> is_stopping_ = false;

  mutable std::mutex streams_mutex_;
  std::list<std::shared_ptr<EventQueue>> streams_;

  // Sessions end with the context and use what stands above it.
  asio::io_context context_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  Tcp::acceptor acceptor_{context_};
  std::vector<std::jthread> threads_;
  AnswerPool pool_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, Router router) {
  auto server = std::make_unique<BeastServer>(options, std::move(router));
  TRY(server->Listen());
  return server;
}

}  // namespace tidemark::http
