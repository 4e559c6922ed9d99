#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kafka/wire/connection_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr size_t kReadSizeMin = 64 << 10;
// What is left of a large response's room goes back once it is empty.
constexpr size_t kRoomKeptMax = 1 << 20;
constexpr QuestionId kOurselves = 0;
// A session is renewed when this share of it has passed, as other clients do.
constexpr int64_t kSessionShareNumerator = 85, kSessionShareDenominator = 100;
constexpr Milliseconds kSessionMax = std::chrono::hours(24 * 30);
// How long a name that is being looked up, and cannot be waited for by a descriptor, is let alone.
constexpr Milliseconds kLookupInterval{5};
// What a throttled client is made to wait at most before it asks again regardless.
constexpr Milliseconds kThrottleMax{60'000};

int FamilyOf(AddressFamily family) {
  switch (family) {
    case AddressFamily::kAny: return AF_UNSPEC;
    case AddressFamily::kIpv4: return AF_INET;
    case AddressFamily::kIpv6: return AF_INET6;
  }
  std::unreachable();
}

int OpenSocket(const SocketAddress& address, bool has_keepalive) {
  const int socket =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return socket;
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (has_keepalive) setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  return socket;
}

// The first bytes of an alert: whoever sends one wanted a TLS handshake.
bool IsTlsAlert(std::string_view bytes) {
  return bytes.starts_with("\x15\x03");
}

}  // namespace

Connection::Connection(BrokerAddress address, const Settings& settings)
    : address_(std::move(address)),
      settings_(settings),
      lookup_(std::make_unique<NameLookup>(address_, FamilyOf(settings.family))) {
  Resolve();
}

Connection::~Connection() {
  channel_.reset();
  if (socket_ >= 0) ::close(socket_);
}

pollfd Connection::Wish() const {
  if (state_ == State::kResolving || state_ == State::kClosed) return {-1, 0, 0};
  if (state_ == State::kConnecting) return {socket_, POLLOUT, 0};
  const bool has_output = out_begin_ < out_.size();
  const bool waits_to_write = wants_write_ || (state_ != State::kHandshaking && has_output);
  return {socket_, static_cast<short>(POLLIN | (waits_to_write ? POLLOUT : 0)), 0};
}

MonoTime Connection::wake_at() const {
  if (state_ == State::kResolving) return std::chrono::steady_clock::now() + kLookupInterval;
  if (is_closed() && !waiting_.empty()) return MonoTime{};
  const bool is_throttled = throttled_until_ > std::chrono::steady_clock::now();
  return !held_.empty() && is_throttled ? throttled_until_ : MonoTime::max();
}

void Connection::Advance(MonoTime now) {
  if (state_ == State::kResolving) Resolve();
  if (state_ == State::kConnecting) FinishConnect();
  if (state_ == State::kHandshaking) Shake();
  if (state_ == State::kGreeting || is_ready()) {
    Write();
    if (!is_closed()) Read();
  }
  if (state_ == State::kReady) Release(now);
  if (!is_ready() && !is_closed()) return;
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    if (waiting.then) waiting.then();
  }
}

void Connection::WhenReady(QuestionId question, std::move_only_function<void()> then) {
  if (is_ready() || is_closed()) {
    then();
  } else {
    waiting_.push_back({question, std::move(then)});
  }
}

std::optional<int16_t> Connection::VersionOf(const Api& api, int16_t limit) const {
  const auto known = std::ranges::find(versions_, api.key, &ApiVersionsResponse::Range::key);
  if (known == versions_.end()) return std::nullopt;
  const int16_t version = std::min({api.max, limit, known->max});
  if (version < std::max(api.min, known->min)) return std::nullopt;
  return version;
}

void Connection::Abandon(QuestionId question) {
  const auto concerns = [&](const auto& each) { return each.question == question; };
  std::erase_if(waiting_, concerns);
  const bool owes =
      std::ranges::any_of(pending_, concerns) || std::ranges::any_of(held_pending_, concerns);
  if (!owes) return;
  for (auto* list : {&pending_, &held_pending_}) {
    for (Pending& pending : *list) {
      if (concerns(pending)) pending.take = [](std::optional<std::string_view>) { return true; };
    }
  }
  Close(ProbeFault::kBrokerUnreachable, "given up while an answer was owed");
}

void Connection::Close(ProbeFault fault, std::string_view reason) {
  if (is_closed()) return;
  state_ = State::kClosed;
  farewell_ = {.fault = fault, .reason = fmt::format("{}: {}", address_.text(), reason)};
  lookup_.reset();
  channel_.reset();
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  // Those told now may look at the connection, and find it closed and empty.
  std::deque<Pending> lost = std::move(pending_);
  std::ranges::move(held_pending_, std::back_inserter(lost));
  pending_.clear();
  held_pending_.clear();
  for (Pending& pending : lost) pending.take(std::nullopt);
}

Error Connection::LostError() const {
  return {ErrorKind::kUnavailable, farewell_.reason};
}

// --- Coming about
// ---------------------------------------------------------------------------------

void Connection::Resolve() {
  auto answer = lookup_->Answer();
  if (!answer) return;
  lookup_.reset();
  if (!*answer || (*answer)->empty()) {
    const std::string words =
        *answer ? std::string("no address") : std::move(*answer).error().message;
    return Close(ProbeFault::kBrokerUnreachable,
                 fmt::format("the host's name is not resolved: {}", words));
  }
  candidates_ = **std::move(answer);
  std::ranges::reverse(candidates_);
  TryNextAddress();
}

void Connection::TryNextAddress() {
  int error = ECONNREFUSED;
  while (!candidates_.empty()) {
    const SocketAddress candidate = candidates_.back();
    candidates_.pop_back();
    socket_ = OpenSocket(candidate, settings_.has_keepalive);
    if (socket_ >= 0) {
      state_ = State::kConnecting;
      const auto* where = reinterpret_cast<const sockaddr*>(&candidate.storage);
      if (connect(socket_, where, candidate.size) == 0 || errno == EINPROGRESS) return;
    }
    error = errno;
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  Close(ProbeFault::kBrokerUnreachable, std::strerror(error));
}

void Connection::FinishConnect() {
  pollfd poll{socket_, POLLOUT, 0};
  if (::poll(&poll, 1, 0) == 0) return;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    ::close(std::exchange(socket_, -1));
    if (candidates_.empty()) return Close(ProbeFault::kBrokerUnreachable, std::strerror(error));
    return TryNextAddress();
  }
  channel_ = settings_.tls ? settings_.tls->MakeChannel(socket_, address_.host)
                           : MakePlainChannel(socket_);
  if (channel_ == nullptr) return Close(ProbeFault::kTls, "the host's name cannot be verified");
  state_ = State::kHandshaking;
}

void Connection::Shake() {
  const Channel::Progress progress = channel_->Handshake();
  wants_write_ = progress == Channel::Progress::kWantsWrite;
  switch (progress) {
    case Channel::Progress::kWantsRead:
    case Channel::Progress::kWantsWrite: return;
    case Channel::Progress::kEnded:
      return Close(ProbeFault::kBrokerUnreachable,
                   fmt::format("{} during the TLS handshake", kDisconnected));
    case Channel::Progress::kFailed:
      return Close(ProbeFault::kTls, fmt::format("TLS handshake: {}", channel_->complaint()));
    case Channel::Progress::kDone: break;
  }
  wants_write_ = false;
  state_ = State::kGreeting;
  AskVersions(ApiVersionsRequest::kApi.max);
}

void Connection::AskVersions(int16_t version) {
  Pending pending{kOurselves, &ApiVersionsRequest::kApi, version, next_correlation_id_++, nullptr};
  EncodeRequest(ApiVersionsRequest{}, version, pending.correlation_id, settings_.client_id, out_);
  pending.take = [this, version](std::optional<std::string_view> body) {
    if (body) TakeVersions(*body, version);
    return true;
  };
  pending_.push_back(std::move(pending));
}

void Connection::TakeVersions(std::string_view body, int16_t version) {
  auto response = DecodeResponse<ApiVersionsRequest>(body, version);
  const auto unsupported = static_cast<int16_t>(ErrorCode::kUnsupportedVersion);
  if (!response || response->error == unsupported) {
    // The refusal of a version is told in the first one, by brokers since 2.4 with those they know.
    // Some add more behind it.
    Decoder decoder(body, 0, false);
    ApiVersionsResponse refusal;
    ApiVersionsResponse::Fields(decoder, refusal);
    if (version == 0 || refusal.error != unsupported) {
      return Close(ProbeFault::kBrokerUnreachable, kNotKafka);
    }
    versions_.clear();
    if (!decoder.is_broken()) versions_ = std::move(refusal.apis);
    const auto known = VersionOf(ApiVersionsRequest::kApi);
    return AskVersions(known && *known < version ? *known : 0);
  }
  if (response->error != 0) {
    return Close(ProbeFault::kBrokerUnreachable, WordsOf(response->error));
  }
  versions_ = std::move(response->apis);
  if (settings_.login.mechanism == Mechanism::kNone) return BecomeReady(0);
  BeginLogin();
}

void Connection::BecomeReady(int64_t session_lifetime_ms) {
  state_ = State::kReady;
  is_login_fresh_ = true;
  conversation_.reset();
  renew_at_ = MonoTime::max();
  if (session_lifetime_ms <= 0) return;
  const Milliseconds lifetime = std::min(Milliseconds(session_lifetime_ms), kSessionMax);
  renew_at_ = std::chrono::steady_clock::now() +
              lifetime * kSessionShareNumerator / kSessionShareDenominator;
}

// --- Logging in
// -----------------------------------------------------------------------------------

void Connection::BeginLogin() {
  const auto now = std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  conversation_ = MakeConversation(settings_.login, MakeNonce(), now);
  // A broker that does not list it has no logins; its words say so better than we can.
  const int16_t version = VersionOf(SaslHandshakeRequest::kApi).value_or(1);
  const auto take = [this](const Result<SaslHandshakeResponse>& answer) {
    if (!answer || is_closed()) return;
    if (answer->error == 0) return SendToken(conversation_->First());
    std::string words = WordsOf(answer->error);
    if (answer->error == static_cast<int16_t>(ErrorCode::kUnsupportedSaslMechanism)) {
      words += fmt::format(" mechanism={} offered={}", settings_.login.name,
                           fmt::join(answer->mechanisms, ","));
    }
    Close(ProbeFault::kAuthentication, words);
  };
  Put(kOurselves, SaslHandshakeRequest{.mechanism = settings_.login.name}, version, take, out_,
      pending_);
  Write();
}

void Connection::SendToken(std::string_view token) {
  const auto version = VersionOf(SaslAuthenticateRequest::kApi);
  if (!version) {
    return Close(ProbeFault::kBrokerUnreachable, "the broker is older than Kafka 1.0");
  }
  Put(
      kOurselves, SaslAuthenticateRequest{.token = {token}}, *version,
      [this](const Result<SaslAuthenticateResponse>& answer) { TakeToken(answer); }, out_,
      pending_);
  Write();
}

void Connection::TakeToken(const Result<SaslAuthenticateResponse>& answer) {
  if (!answer || is_closed()) return;
  if (answer->error != 0) {
    const std::string words(answer->error_message.value_or(""));
    return Close(ProbeFault::kAuthentication, words.empty() ? WordsOf(answer->error) : words);
  }
  auto reply = conversation_->Answer(answer->token.bytes);
  if (!reply) return Close(ProbeFault::kAuthentication, reply.error().message);
  if (*reply) return SendToken(**reply);
  BecomeReady(answer->session_lifetime_ms);
}

// --- Asking and being answered
// --------------------------------------------------------------------

void Connection::Throttle(int32_t ms) {
  if (ms <= 0) return;
  const auto until = std::chrono::steady_clock::now() + std::min(Milliseconds(ms), kThrottleMax);
  throttled_until_ = std::max(throttled_until_, until);
}

void Connection::Release(MonoTime now) {
  if (state_ != State::kReady || held_.empty() || now < throttled_until_) return;
  // However short a session is, something is asked in it.
  if (now >= renew_at_ && !is_login_fresh_) {
    // Nothing else may stand between the words of a login.
    if (!pending_.empty()) return;
    state_ = State::kRenewing;
    return BeginLogin();
  }
  if (out_begin_ == out_.size()) {
    out_.clear();
    out_begin_ = 0;
    out_.swap(held_);
  } else {
    out_ += held_;
    held_.clear();
  }
  std::ranges::move(held_pending_, std::back_inserter(pending_));
  held_pending_.clear();
  is_login_fresh_ = false;
  Write();
}

void Connection::Write() {
  wants_write_ = false;
  while (channel_ != nullptr && out_begin_ < out_.size()) {
    size_t count = 0;
    switch (channel_->Write(std::string_view(out_).substr(out_begin_), &count)) {
      case Channel::Progress::kDone: out_begin_ += count; break;
      case Channel::Progress::kWantsRead: return;
      case Channel::Progress::kWantsWrite: wants_write_ = true; return;
      // What the broker had to say before it closed may still be there to read.
      case Channel::Progress::kEnded: out_begin_ = out_.size(); return;
      case Channel::Progress::kFailed:
        return Close(ProbeFault::kBrokerUnreachable, channel_->complaint());
    }
  }
}

void Connection::Read() {
  while (!is_closed()) {
    MakeRoom(kReadSizeMin);
    const size_t room = in_size_ - in_end_;
    size_t count = 0;
    switch (channel_->Read(in_.get() + in_end_, room, &count)) {
      case Channel::Progress::kDone: break;
      case Channel::Progress::kWantsRead: return;
      case Channel::Progress::kWantsWrite: wants_write_ = true; return;
      case Channel::Progress::kEnded: return Close(ProbeFault::kBrokerUnreachable, kDisconnected);
      case Channel::Progress::kFailed:
        return Close(state_ == State::kGreeting && settings_.tls ? ProbeFault::kTls
                                                                 : ProbeFault::kBrokerUnreachable,
                     channel_->complaint());
    }
    in_end_ += count;
    received_ += count;
    const bool is_drained = count < room && settings_.tls == nullptr;
    if (!TakeFrames() || is_drained) return;
  }
}

// False when the connection is closed.
bool Connection::TakeFrames() {
  while (in_end_ - in_begin_ >= kFrameLengthSize) {
    int32_t length = 0;
    std::memcpy(&length, in_.get() + in_begin_, sizeof length);
    length = FromBig(length);
    if (!has_spoken_ && (length < 4 || length > settings_.response_bytes_max)) {
      const bool is_tls = IsTlsAlert({in_.get() + in_begin_, in_end_ - in_begin_});
      Close(ProbeFault::kBrokerUnreachable,
            is_tls ? fmt::format("{} by a TLS alert", kDisconnected) : std::string(kNotKafka));
      return false;
    }
    if (length < 4 || length > settings_.response_bytes_max) {
      Close(ProbeFault::kTooLarge,
            fmt::format("a response over receive.message.max.bytes bytes={}", length));
      return false;
    }
    const auto size = static_cast<size_t>(length);
    if (in_end_ - in_begin_ - kFrameLengthSize < size) {
      MakeRoom(size + kFrameLengthSize - (in_end_ - in_begin_));
      return true;
    }
    has_spoken_ = true;
    in_begin_ += kFrameLengthSize + size;
    TakeFrame({in_.get() + in_begin_ - size, size});
    if (is_closed()) return false;
  }
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
    if (in_size_ > kRoomKeptMax && pending_.empty()) {
      in_.reset();
      in_size_ = 0;
    }
  }
  return true;
}

void Connection::TakeFrame(std::string_view frame) {
  int32_t id = 0;
  std::memcpy(&id, frame.data(), sizeof id);
  if (pending_.empty() || FromBig(id) != pending_.front().correlation_id) {
    return Close(ProbeFault::kBrokerUnreachable, "an answer to what was not asked");
  }
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  const auto body = BodyOf(frame, *pending.api, pending.version);
  if (!body || !pending.take(*body)) {
    Close(ProbeFault::kBrokerUnreachable,
          fmt::format("an answer that does not fit request={} version={}", pending.api->name,
                      pending.version));
  }
}

// Room for `wanted` more bytes behind in_end_.
void Connection::MakeRoom(size_t wanted) {
  if (in_size_ - in_end_ >= wanted) return;
  const size_t unread = in_end_ - in_begin_;
  if (in_size_ >= unread + wanted) {
    std::memmove(in_.get(), in_.get() + in_begin_, unread);
  } else {
    const size_t size = std::max(unread + wanted, 2 * kReadSizeMin);
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    if (unread > 0) std::memcpy(larger.get(), in_.get() + in_begin_, unread);
    in_ = std::move(larger);
    in_size_ = size;
  }
  in_begin_ = 0;
  in_end_ = unread;
}

}  // namespace tidemark::kafka::wire
