#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "kafka/wire/connection_internal.h"
#include "kafka/wire/messages_internal.h"
#include "support/result_matchers.h"

namespace tidemark::kafka::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Heard {
  int16_t key = 0;
  int16_t version = 0;
  int32_t correlation_id = 0;
  MonoTime at{};
};

template <class Response>
std::string Written(const Response& response, const Api& api, int16_t version) {
  std::string out;
  Encoder encoder(out, version, api.is_flexible(version));
  Response::Fields(encoder, response);
  encoder.PutTags();
  return out;
}

std::string Framed(int32_t correlation_id, std::string_view body, bool has_tags) {
  std::string frame(kFrameLengthSize, '\0');
  Encoder(frame, 0, false)(0, correlation_id);
  if (has_tags) frame.push_back('\0');
  frame += body;
  EndFrame(0, frame);
  return frame;
}

/// A broker of one connection at a time that answers by a script, in a thread of its own.
class ScriptedBroker {
 public:
  /// The bytes to send for a request; empty: nothing.
  using Script = std::function<std::string(const Heard&)>;

  explicit ScriptedBroker(Script script) : script_(std::move(script)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = {"127.0.0.1", ntohs(address.sin_port)};
    thread_ = std::jthread([this] { Serve(); });
  }
  ScriptedBroker(const ScriptedBroker&) = delete;
  ScriptedBroker& operator=(const ScriptedBroker&) = delete;
  ~ScriptedBroker() {
    shutdown(socket_, SHUT_RDWR);
    if (const int client = client_; client >= 0) shutdown(client, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }

  const BrokerAddress& address() const { return address_; }
  std::vector<int16_t> keys() const {
    const std::lock_guard lock(mutex_);
    std::vector<int16_t> keys;
    for (const Heard& heard : heard_) keys.push_back(heard.key);
    return keys;
  }
  std::vector<Heard> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void Serve() {
    while (true) {
      const int client = accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      client_ = client;
      std::string length(4, '\0');
      while (ReadWhole(client, &length)) {
        std::string request(static_cast<size_t>(*ByteCursor(length).TakeBig<int32_t>()), '\0');
        if (!ReadWhole(client, &request)) break;
        ByteCursor cursor(request);
        Heard heard{.key = *cursor.TakeBig<int16_t>(),
                    .version = *cursor.TakeBig<int16_t>(),
                    .correlation_id = *cursor.TakeBig<int32_t>(),
                    .at = std::chrono::steady_clock::now()};
        {
          const std::lock_guard lock(mutex_);
          heard_.push_back(heard);
        }
        // One byte at a time: frames come in pieces.
        for (const char byte : script_(heard)) send(client, &byte, 1, MSG_NOSIGNAL);
      }
      client_ = -1;
      close(client);
    }
  }

  static bool ReadWhole(int client, std::string* into) {
    for (size_t done = 0; done < into->size();) {
      const ssize_t count = recv(client, into->data() + done, into->size() - done, 0);
      if (count <= 0) return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }

  Script script_;
  int socket_ = -1;
  std::atomic<int> client_ = -1;
  BrokerAddress address_;
  mutable std::mutex mutex_;
  std::vector<Heard> heard_;
  std::jthread thread_;
};

ApiVersionsResponse AllVersions() {
  ApiVersionsResponse response;
  response.apis = {{.key = 2, .min = 1, .max = 5},
                   {.key = 17, .min = 0, .max = 1},
                   {.key = 18, .min = 0, .max = 2},
                   {.key = 36, .min = 0, .max = 1}};
  return response;
}

constexpr int16_t kVersions = ApiVersionsRequest::kApi.key;
constexpr int16_t kOffsets = ListOffsetsRequest::kApi.key;
constexpr int16_t kHandshake = SaslHandshakeRequest::kApi.key;
constexpr int16_t kAuthenticate = SaslAuthenticateRequest::kApi.key;

/// A broker from before the flexible versions, which refuses ours and names its own.
std::string OldBroker(const Heard& heard, int64_t session_ms = 0, int32_t throttle_ms = 0) {
  if (heard.key == kVersions) {
    ApiVersionsResponse response = AllVersions();
    if (heard.version > 2) response.error = 35;
    const int16_t version = heard.version > 2 ? int16_t{0} : heard.version;
    return Framed(heard.correlation_id, Written(response, ApiVersionsRequest::kApi, version),
                  false);
  }
  if (heard.key == kHandshake) {
    return Framed(heard.correlation_id,
                  Written(SaslHandshakeResponse{}, SaslHandshakeRequest::kApi, 1), false);
  }
  if (heard.key == kAuthenticate) {
    const SaslAuthenticateResponse response{
        .error = 0, .error_message = {}, .token = {}, .session_lifetime_ms = session_ms};
    return Framed(heard.correlation_id, Written(response, SaslAuthenticateRequest::kApi, 1), false);
  }
  const ListOffsetsResponse response{.throttle_ms = throttle_ms, .topics = {}};
  return Framed(heard.correlation_id, Written(response, ListOffsetsRequest::kApi, heard.version),
                false);
}

class ConnectionTest : public ::testing::Test {
 protected:
  /// Lets the connection go on until `is_done`.
  void Drive(const std::function<bool()>& is_done) {
    const MonoTime end = std::chrono::steady_clock::now() + seconds(20);
    while (!is_done() && std::chrono::steady_clock::now() < end) {
      pollfd wish = connection_->Wish();
      poll(&wish, 1, 5);
      connection_->Advance(std::chrono::steady_clock::now());
    }
    EXPECT_TRUE(is_done());
  }
  void Open(const ScriptedBroker& broker) {
    connection_ = std::make_unique<Connection>(broker.address(), settings_);
    Drive([&] { return connection_->is_ready() || connection_->is_closed(); });
  }
  void AskOffsets(QuestionId question = 1) {
    connection_->Ask(question, ListOffsetsRequest{},
                     *connection_->VersionOf(ListOffsetsRequest::kApi),
                     [this](const Result<ListOffsetsResponse>& answer) {
                       answers_.push_back(answer ? "answered" : answer.error().message);
                     });
  }
  void AwaitAnswers(size_t count) {
    Drive([&] { return answers_.size() >= count; });
  }

  Settings settings_;
  std::unique_ptr<Connection> connection_;
  std::vector<std::string> answers_;
};

TEST_F(ConnectionTest, OldBrokersVersionsAreAskedForAgainInTheirOwn) {
  ScriptedBroker broker([](const Heard& heard) { return OldBroker(heard); });
  Open(broker);
  ASSERT_TRUE(connection_->is_ready());
  EXPECT_EQ(connection_->VersionOf(ListOffsetsRequest::kApi), 5);
  EXPECT_EQ(connection_->VersionOf(ListOffsetsRequest::kApi, 3), 3);
  EXPECT_EQ(connection_->VersionOf(MetadataRequest::kApi), std::nullopt);
  EXPECT_EQ(broker.heard().back().version, 2);
}

TEST_F(ConnectionTest, RefusalOfAVersionWithoutOthersMeansTheFirst) {
  // None, or not in a form that can be read.
  for (const std::string& refusal :
       {std::string("\0\x23\0\0\0\0", 6), std::string("\0\x23\1", 3)}) {
    ScriptedBroker broker([&](const Heard& heard) {
      return heard.version == 0 ? OldBroker(heard) : Framed(heard.correlation_id, refusal, false);
    });
    Open(broker);
    EXPECT_TRUE(connection_->is_ready());
    EXPECT_EQ(broker.heard().back().version, 0);
    connection_.reset();
  }
}

TEST_F(ConnectionTest, QuestionsMayBeUnderWayTogether) {
  ScriptedBroker broker([](const Heard& heard) { return OldBroker(heard); });
  Open(broker);
  for (int i = 0; i < 5; ++i) AskOffsets();
  AwaitAnswers(5);
  EXPECT_THAT(answers_, ::testing::Each("answered"));
}

TEST_F(ConnectionTest, ThrottledClientWaits) {
  ScriptedBroker broker([](const Heard& heard) { return OldBroker(heard, 0, 200); });
  Open(broker);
  AskOffsets();
  AwaitAnswers(1);
  AskOffsets();
  AwaitAnswers(2);
  const auto heard = broker.heard();
  EXPECT_GE(heard[heard.size() - 1].at - heard[heard.size() - 2].at, milliseconds(190));
}

TEST_F(ConnectionTest, LoginIsRenewedBeforeItsSessionEnds) {
  settings_.login = {.mechanism = Mechanism::kPlain,
                     .name = "PLAIN",
                     .username = "u",
                     .password = "p",
                     .token_words = ""};
  ScriptedBroker broker([](const Heard& heard) { return OldBroker(heard, 1); });
  Open(broker);
  AskOffsets();
  AwaitAnswers(1);
  AskOffsets();
  AskOffsets();
  AwaitAnswers(3);
  EXPECT_THAT(broker.keys(), ElementsAre(kVersions, kVersions, kHandshake, kAuthenticate, kOffsets,
                                         kHandshake, kAuthenticate, kOffsets, kOffsets));
}

TEST_F(ConnectionTest, RefusedLoginIsToldInTheBrokersWords) {
  settings_.login = {.mechanism = Mechanism::kPlain,
                     .name = "PLAIN",
                     .username = "u",
                     .password = "hunter2",
                     .token_words = ""};
  ScriptedBroker broker([](const Heard& heard) {
    if (heard.key != kAuthenticate) return OldBroker(heard);
    const SaslAuthenticateResponse response{.error = 58,
                                            .error_message = "Invalid username or password",
                                            .token = {},
                                            .session_lifetime_ms = 0};
    return Framed(heard.correlation_id, Written(response, SaslAuthenticateRequest::kApi, 1), false);
  });
  Open(broker);
  ASSERT_TRUE(connection_->is_closed());
  EXPECT_EQ(connection_->farewell().fault, ProbeFault::kAuthentication);
  EXPECT_EQ(connection_->farewell().reason,
            broker.address().text() + ": Invalid username or password");
}

TEST_F(ConnectionTest, LostConnectionAnswersWhatIsOpen) {
  ScriptedBroker broker([](const Heard& heard) {
    return heard.key == kVersions ? OldBroker(heard) : std::string("\0\0\0\4\0\0\0\0", 8);
  });
  Open(broker);
  AskOffsets();
  AskOffsets();
  AwaitAnswers(2);
  EXPECT_THAT(answers_, ::testing::Each(HasSubstr("an answer to what was not asked")));
  EXPECT_TRUE(connection_->is_closed());
  AskOffsets();
  EXPECT_EQ(answers_.size(), 3u);
}

TEST_F(ConnectionTest, AnswerOverTheLimitIsTooLarge) {
  settings_.response_bytes_max = 1000;
  ScriptedBroker broker([](const Heard& heard) {
    return heard.key == kVersions ? OldBroker(heard) : std::string("\0\0\x10\0\0\0\0\0", 8);
  });
  Open(broker);
  AskOffsets();
  AwaitAnswers(1);
  EXPECT_EQ(connection_->farewell().fault, ProbeFault::kTooLarge);
  EXPECT_THAT(connection_->farewell().reason, HasSubstr("receive.message.max.bytes bytes=4096"));
}

TEST_F(ConnectionTest, DamagedAnswerClosesTheConnection) {
  ScriptedBroker broker([](const Heard& heard) {
    return heard.key == kVersions ? OldBroker(heard) : Framed(heard.correlation_id, "?", false);
  });
  Open(broker);
  AskOffsets();
  AwaitAnswers(1);
  EXPECT_THAT(answers_, ElementsAre(HasSubstr("cut short")));
  EXPECT_THAT(connection_->farewell().reason, HasSubstr("request=ListOffsets version=5"));
}

TEST_F(ConnectionTest, OtherProtocolsAreNotTakenForKafka) {
  const std::pair<std::string, const char*> cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", kNotKafka},
      {std::string("\x15\x03\x03\0\2\2\x50", 7), kDisconnected},
      {std::string("\0\0\0\x02", 4), kNotKafka},
  };
  for (const auto& [bytes, words] : cases) {
    ScriptedBroker broker([&](const Heard&) { return bytes; });
    Open(broker);
    ASSERT_TRUE(connection_->is_closed());
    EXPECT_THAT(connection_->farewell().reason, HasSubstr(words));
    EXPECT_EQ(connection_->farewell().fault, ProbeFault::kBrokerUnreachable);
  }
}

TEST_F(ConnectionTest, ConnectionThatOwesAnAnswerEndsWithItsQuestion) {
  ScriptedBroker broker(
      [](const Heard& heard) { return heard.key == kVersions ? OldBroker(heard) : std::string(); });
  Open(broker);
  connection_->Abandon(1);
  EXPECT_TRUE(connection_->is_ready());
  AskOffsets(1);
  connection_->Abandon(2);
  EXPECT_TRUE(connection_->is_ready());
  connection_->Abandon(1);
  EXPECT_TRUE(connection_->is_closed());
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ConnectionTest, HostWithoutAnAddressIsNamed) {
  connection_ = std::make_unique<Connection>(BrokerAddress{"nowhere.invalid", 9092}, settings_);
  Drive([&] { return connection_->is_closed(); });
  EXPECT_THAT(connection_->farewell().reason,
              HasSubstr("nowhere.invalid:9092: the host's name is not resolved"));
}

TEST_F(ConnectionTest, NobodyListeningIsRefused) {
  connection_ = std::make_unique<Connection>(BrokerAddress{"127.0.0.1", 1}, settings_);
  Drive([&] { return connection_->is_closed(); });
  EXPECT_EQ(connection_->farewell().reason, "127.0.0.1:1: Connection refused");
}

TEST_F(ConnectionTest, WhoWaitsIsToldOfTheEndToo) {
  connection_ = std::make_unique<Connection>(BrokerAddress{"127.0.0.1", 1}, settings_);
  bool is_told = false;
  connection_->WhenReady(1, [&] { is_told = true; });
  Drive([&] { return is_told; });
  EXPECT_TRUE(connection_->is_closed());
}

}  // namespace
}  // namespace tidemark::kafka::wire
