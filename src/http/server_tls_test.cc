#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "http/server.h"
#include "support/plain_connection.h"
#include "support/result_matchers.h"
#include "support/throw_away_certificate.h"

namespace tidemark::http {
namespace {

using support::IsOk;
using support::PlainConnection;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class ServerTlsTest : public ::testing::Test {
 protected:
  void Start() {
    // OpenSSL writes to connections that the server has closed.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    options_.tls = TlsFiles{certificate_.certificate(), certificate_.key()};
    Router router;
    router.Add("GET", "/hello", [](const Request&, const std::vector<std::string>&) {
      return Response{.body = "hello", .headers = {}};
    });
    auto server = Server::Start(options_, std::move(router));
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
  }
  /// A whole answer; "" when the server does not speak.
  std::string Get(const std::string& path) {
    const PlainConnection connection(server_->port());
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
    SSL_set_fd(tls.get(), connection.socket());
    if (SSL_connect(tls.get()) != 1) return "";
    const std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
    std::string answer;
    char bytes[4096];
    for (int size = 0; (size = SSL_read(tls.get(), bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<size_t>(size));
    return answer;
  }

  const support::ThrowAwayCertificate certificate_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTlsTest, ARequestIsAnswered) {
  Start();
  const std::string answer = Get("/hello");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("hello"));
}

TEST_F(ServerTlsTest, ConnectionsThatSayNothingCountAndFurtherOnesAreClosedAtOnce) {
  options_.connections_max = 4;
  Start();
  std::vector<std::unique_ptr<PlainConnection>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<PlainConnection>(server_->port()));
  int closed = 0;
  // Which ones are further is in the order in which the server took them: that of the connects.
  for (size_t i = 4; i < silent.size(); ++i) {
    silent[i]->ReadUntil("never", 2s);
    closed += silent[i]->is_closed() ? 1 : 0;
  }
  EXPECT_EQ(closed, 16);
  silent[0]->ReadUntil("never", 50ms);
  EXPECT_FALSE(silent[0]->is_closed());
  EXPECT_EQ(Get("/hello"), "");
  silent.clear();
  // The places are free again as soon as the server has noticed.
  for (int i = 0; i < 1000; ++i)
    if (Get("/hello").starts_with("HTTP/1.1 200")) return;
  FAIL() << "the places of closed connections stay taken";
}

TEST_F(ServerTlsTest, AHandshakeThatNeverEndsIsCutOffAndItsPlaceIsFree) {
  options_.connections_max = 1;
  options_.request_deadline = 200ms;
  Start();
  PlainConnection silent(server_->port());
  silent.ReadToEnd();
  EXPECT_TRUE(silent.is_closed());
  for (int i = 0; i < 1000; ++i)
    if (Get("/hello").starts_with("HTTP/1.1 200")) return;
  FAIL() << "the place of a handshake that was cut off stays taken";
}

}  // namespace
}  // namespace tidemark::http
