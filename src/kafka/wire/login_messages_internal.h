/// What is said on a connection before anything is asked: versions and logins.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kafka/wire/codec_internal.h"

namespace tidemark::kafka::wire {

struct ApiVersionsResponse {
  struct Range {
    int16_t key = 0;
    int16_t min = 0;
    int16_t max = 0;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.key);
      c(0, m.min);
      c(0, m.max);
    }
  };
  int16_t error = 0;
  std::vector<Range> apis;
  int32_t throttle_ms = 0;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.error);
    c(0, m.apis);
    c(1, m.throttle_ms);
  }
};
/// Asked in the newest version; who does not know that one says so in version 0, with the versions
/// that he knows (KIP-511), or without them before Kafka 2.4.
struct ApiVersionsRequest {
  using Response = ApiVersionsResponse;
  static constexpr Api kApi{.key = 18, .name = "ApiVersions", .min = 0, .max = 4, .flexible = 3};

  std::string_view software = "tidemark";  ///< [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?
  std::string_view software_version = "1";
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(3, m.software);
    c(3, m.software_version);
  }
};

struct SaslHandshakeResponse {
  int16_t error = 0;
  std::vector<std::string_view> mechanisms;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.error);
    c(0, m.mechanisms);
  }
};
/// After version 0 the tokens would follow without a header; version 1 wraps them in
/// SaslAuthenticate.
struct SaslHandshakeRequest {
  using Response = SaslHandshakeResponse;
  static constexpr Api kApi{
      .key = 17, .name = "SaslHandshake", .min = 1, .max = 1, .flexible = kNeverFlexible};

  std::string_view mechanism;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.mechanism);
  }
};

struct SaslAuthenticateResponse {
  int16_t error = 0;
  std::optional<std::string_view> error_message;
  ByteField token;
  int64_t session_lifetime_ms = 0;  ///< 0: the session does not end
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.error);
    c(0, m.error_message);
    c(0, m.token);
    c(1, m.session_lifetime_ms);
  }
};
struct SaslAuthenticateRequest {
  using Response = SaslAuthenticateResponse;
  static constexpr Api kApi{
      .key = 36, .name = "SaslAuthenticate", .min = 0, .max = 2, .flexible = 2};

  ByteField token;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.token);
  }
};

}  // namespace tidemark::kafka::wire
