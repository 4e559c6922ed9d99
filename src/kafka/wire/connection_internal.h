/// One connection to one broker: opened, greeted and logged in without blocking, then asked, with
/// as many questions under way as the caller likes.
#pragma once

#include <fmt/core.h>
#include <poll.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kafka/bootstrap.h"
#include "kafka/wire/faults_internal.h"
#include "kafka/wire/frame_internal.h"
#include "kafka/wire/login_messages_internal.h"
#include "kafka/wire/resolver_internal.h"
#include "kafka/wire/sasl_internal.h"
#include "kafka/wire/settings_internal.h"

namespace tidemark::kafka::wire {

/// Names what belongs together, so that it can be given up together.
using QuestionId = uint64_t;

/// Why a connection is no more.
struct Farewell {
  /// kAuthentication or kTls: the broker refused us, or we it. Else kBrokerUnreachable, or
  /// kTooLarge for a response over the limit.
  ProbeFault fault = ProbeFault::kBrokerUnreachable;
  std::string reason;  ///< "10.0.0.7:9092: Connection refused"

  bool is_refusal() const {
    return fault == ProbeFault::kAuthentication || fault == ProbeFault::kTls;
  }
};

/// Not moved: what is under way points into it. One caller. Closes itself on any fault; answers
/// that did not come by then are errors of their questions.
class Connection {
 public:
  /// Begins to connect. The settings outlive the connection.
  Connection(BrokerAddress address, const Settings& settings);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  const BrokerAddress& address() const { return address_; }
  bool is_ready() const { return state_ == State::kReady || state_ == State::kRenewing; }
  bool is_closed() const { return state_ == State::kClosed; }
  const Farewell& farewell() const { return farewell_; }  ///< when closed

  /// What to wait for; no descriptor while the host's name is looked up.
  pollfd Wish() const;
  /// When to call Advance() whatever the socket says; max: never.
  MonoTime wake_at() const;
  /// Goes on as far as it can, and calls whoever has waited for that.
  void Advance(MonoTime now);

  /// Calls `then` once it is ready, or closed; perhaps at once.
  void WhenReady(QuestionId question, std::move_only_function<void()> then);

  /// The newest version both sides know, up to `limit`; nullopt: none. Only when ready.
  std::optional<int16_t> VersionOf(const Api& api, int16_t limit) const;
  std::optional<int16_t> VersionOf(const Api& api) const { return VersionOf(api, api.max); }

  /// Sends a request when throttling and logins let it, and hands the answer to `take`, a
  /// Result<Request::Response> whose views are valid during the call; `take` may ask more. Only
  /// when ready.
  template <class Request, class Take>
  void Ask(QuestionId question, const Request& request, int16_t version, Take take);

  /// Drops the question's answers. A connection that still owes one is closed: what it sends next
  /// is late, if it comes at all.
  void Abandon(QuestionId question);

  /// When the broker last asked us to wait, until when.
  MonoTime throttled_until() const { return throttled_until_; }
  uint64_t received_bytes() const { return received_; }

 private:
  enum class State { kResolving, kConnecting, kHandshaking, kGreeting, kReady, kRenewing, kClosed };
  struct Pending {
    QuestionId question = 0;
    const Api* api = nullptr;
    int16_t version = 0;
    int32_t correlation_id = 0;
    /// nullopt: lost. False: not what was asked for.
    std::move_only_function<bool(std::optional<std::string_view> body)> take;
  };
  struct Waiting {
    QuestionId question = 0;
    std::move_only_function<void()> then;
  };

  void Close(ProbeFault fault, std::string_view reason);
  void Resolve();
  void TryNextAddress();
  void FinishConnect();
  void Shake();
  void Greet();
  void TakeVersions(std::string_view body, int16_t version);
  void AskVersions(int16_t version);
  void BeginLogin();
  void SendToken(std::string_view token);
  void TakeToken(const Result<SaslAuthenticateResponse>& answer);
  void BecomeReady(int64_t session_lifetime_ms);

  void Release(MonoTime now);
  void Write();
  void Read();
  bool TakeFrames();
  void TakeFrame(std::string_view frame);
  void MakeRoom(size_t wanted);
  void Throttle(int32_t ms);
  Error LostError() const;

  /// Encodes into `frames` and notes in `pending` who waits for the answer.
  template <class Request, class Take>
  void Put(QuestionId question, const Request& request, int16_t version, Take take,
           std::string& frames, std::deque<Pending>& pending);

  BrokerAddress address_;
  const Settings& settings_;
  State state_ = State::kResolving;
  Farewell farewell_;

  std::unique_ptr<NameLookup> lookup_;
  std::vector<SocketAddress> candidates_;  // not tried yet, last one first
  int socket_ = -1;
  std::unique_ptr<Channel> channel_;
  bool wants_write_ = false;

  std::vector<ApiVersionsResponse::Range> versions_;
  std::unique_ptr<SaslConversation> conversation_;
  MonoTime renew_at_ = MonoTime::max();
  bool is_login_fresh_ = false;  // nothing was asked since
  MonoTime throttled_until_{};

  int32_t next_correlation_id_ = 1;
  std::string held_;  // frames that may not go yet
  std::deque<Pending> held_pending_;
  std::string out_;  // from out_begin_ on not written yet
  size_t out_begin_ = 0;
  std::deque<Pending> pending_;
  std::vector<Waiting> waiting_;

  std::unique_ptr<char[]> in_;  // in_begin_ to in_end_ is unread
  size_t in_size_ = 0;
  size_t in_begin_ = 0;
  size_t in_end_ = 0;
  uint64_t received_ = 0;
  bool has_spoken_ = false;  // an answer has come
};

template <class Request, class Take>
void Connection::Put(QuestionId question, const Request& request, int16_t version, Take take,
                     std::string& frames, std::deque<Pending>& pending) {
  if (is_closed()) return take(Result<typename Request::Response>(std::unexpect, LostError()));
  const int32_t id = next_correlation_id_++;
  EncodeRequest(request, version, id, settings_.client_id, frames);
  auto decode = [this, version,
                 take = std::move(take)](std::optional<std::string_view> body) mutable -> bool {
    if (!body) {
      take(Result<typename Request::Response>(std::unexpect, LostError()));
      return true;
    }
    auto response = DecodeResponse<Request>(*body, version);
    if constexpr (requires { response->throttle_ms; }) {
      if (response) Throttle(response->throttle_ms);
    }
    const bool is_right = response.has_value();
    take(std::move(response));
    return is_right;
  };
  pending.push_back({question, &Request::kApi, version, id, std::move(decode)});
}

template <class Request, class Take>
void Connection::Ask(QuestionId question, const Request& request, int16_t version, Take take) {
  Put(question, request, version, std::move(take), held_, held_pending_);
  Release(std::chrono::steady_clock::now());
}

}  // namespace tidemark::kafka::wire
