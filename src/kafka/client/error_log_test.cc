#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kafka/client/error_log_internal.h"

namespace tidemark::kafka::client {
namespace {

TEST(CauseOfTest, WhatTheClientAddsAboutItselfIsDropped) {
  const std::pair<const char*, const char*> cases[] = {
      {"a:9/1: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)",
       "a:9/1: Connect to ipv4#127.0.0.1:9 failed: Connection refused"},
      {"a:9/1: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT, "
       "1 "
       "identical error(s) suppressed)",
       "a:9/1: Connect to ipv4#127.0.0.1:9 failed: Connection refused"},
      {"a:9/1: Disconnected: might be caused by incorrect security.protocol configuration "
       "(connecting to a SSL listener?) or broker version is < 0.10 (see api.version.request) "
       "(after 3ms in state APIVERSION_QUERY)",
       "a:9/1: Disconnected: might be caused by incorrect security.protocol configuration "
       "(connecting to a SSL listener?) or broker version is < 0.10 (see api.version.request)"},
      {"1 request(s) timed out: disconnect (average rtt 1.000ms) (after 1020ms in state UP)",
       "1 request(s) timed out: disconnect (average rtt 1.000ms)"},
      {"a:9/1: Disconnected: connection closed by peer: receive 0 after POLLIN (after 3ms in state "
       "UP)",
       "a:9/1: Disconnected: connection closed by peer"},
      // Nothing to drop.
      {"", ""},
      {"Disconnected", "Disconnected"},
      {"Disconnected (after 3 tries)", "Disconnected (after 3 tries)"},
      {"Disconnected (after ", "Disconnected (after "},
      {"Disconnected (after 12", "Disconnected (after 12"},
      {"Disconnected (after 0ms in state UP) at last",
       "Disconnected (after 0ms in state UP) at last"},
      {"see (the manual)", "see (the manual)"},
  };
  for (const auto& [complaint, cause] : cases) EXPECT_EQ(CauseOf(complaint), cause);
}

TEST(ErrorLogTest, CausesOnlyAreKept) {
  ErrorLog log;
  log.Add(RD_KAFKA_RESP_ERR__TRANSPORT, "a:9/1: refused (after 0ms in state CONNECT)");
  log.AddLogLine("[thrd:b:9/2]: b:9/2: Disconnected (after 7ms in state UP)");
  log.Add(RD_KAFKA_RESP_ERR__SSL, "a:9/1: SSL handshake failed (after 1ms in state SSL_HANDSHAKE)");
  EXPECT_EQ(log.transport(), "a:9/1: refused");
  EXPECT_EQ(log.transport_of("a:9"), "a:9/1: refused");
  EXPECT_EQ(log.transport_of("b:9"), "b:9/2: Disconnected");
  ASSERT_TRUE(log.refusal());
  EXPECT_EQ(log.refusal()->reason, "a:9/1: SSL handshake failed");
}

}  // namespace
}  // namespace tidemark::kafka::client
