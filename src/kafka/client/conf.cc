#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/log.h"
#include "kafka/client/conf_internal.h"
#include "kafka/client/misfit_internal.h"

namespace tidemark::kafka::client {

namespace {

// A fetch response in memory, per broker. Also the bound on what one request can cost.
constexpr int64_t kFetchResponseBytes = 4 << 20;
constexpr int64_t kQueuedKilobytes = 32 << 10;
constexpr size_t kErrorTextSize = 512;

// What a user may set: how to reach and to trust the cluster. Everything else either cannot matter
// to a probe or would break one of its promises.
constexpr std::array kAllowedPrefixes = {
    std::string_view("sasl."),     std::string_view("ssl."),
    std::string_view("socket."),   std::string_view("broker."),
    std::string_view("https.ca."), std::string_view("reconnect.backoff."),
    std::string_view("metadata."), std::string_view("retry.backoff."),
    std::string_view("api."),      std::string_view("connections."),
};
constexpr std::array kAllowedNames = {
    std::string_view("security.protocol"),
    std::string_view("client.id"),
    std::string_view("client.dns.lookup"),
    std::string_view("enable.ssl.certificate.verification"),
    std::string_view("enable.sasl.oauthbearer.unsecure.jwt"),
    std::string_view("receive.message.max.bytes"),
    std::string_view("check.crcs"),
    std::string_view("debug"),
    std::string_view("log_level"),
};
// Allowed prefixes would let these through.
constexpr std::array kRefusedNames = {std::string_view("metadata.broker.list")};

// Ours, but the user may know better. A probe has seconds, so a broker that comes back is to be
// found within one.
constexpr std::array<std::pair<const char*, const char*>, 4> kDefaults = {{
    {"client.id", "tidemark"},
    {"socket.keepalive.enable", "true"},
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "1000"},
}};

bool IsAllowed(std::string_view name) {
  if (std::ranges::find(kRefusedNames, name) != kRefusedNames.end()) return false;
  return std::ranges::find(kAllowedNames, name) != kAllowedNames.end() ||
         std::ranges::any_of(kAllowedPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Status Set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[kErrorTextSize] = "";
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text)) {
    case RD_KAFKA_CONF_OK: return {};
    case RD_KAFKA_CONF_UNKNOWN:
      return Fail(ErrorKind::kInvalidArgument, fmt::format("unknown kafka property name={}", name));
    case RD_KAFKA_CONF_INVALID: break;
  }
  if (IsSecretProperty(name)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("invalid value of a kafka property name={}", name));
  }
  return Fail(
      ErrorKind::kInvalidArgument,
      fmt::format("invalid value of a kafka property name={} value={}: {}", name, value, text));
}

Status CheckAllowed(const std::string& name) {
  if (IsAllowed(name)) return {};
  if (name == "bootstrap.servers" || name == "metadata.broker.list") {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("brokers are given by the bootstrap address, not as a kafka property "
                            "name={}",
                            name));
  }
  if (!IsKnownProperty(name)) {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("unknown kafka property name={}", name));
  }
  return Fail(
      ErrorKind::kInvalidArgument,
      fmt::format("this kafka property is set by tidemark and cannot be changed name={}", name));
}

void OnError(rd_kafka_t*, int code, const char* reason, void* opaque) {
  static_cast<Watch*>(opaque)->errors.Add(static_cast<rd_kafka_resp_err_t>(code), reason);
}

void OnLog(const rd_kafka_t* client, int, const char* facility, const char* text) {
  const std::string_view line(text);
  if (std::string_view(facility) == "FAIL" && client != nullptr) {
    static_cast<Watch*>(rd_kafka_opaque(client))->errors.AddLogLine(line);
  }
  Log(LogLevel::kDebug, fmt::format("kafka client {}: {}", facility, line));
}

int OnOpenSocket(int domain, int type, int protocol, void* opaque) {
  return static_cast<Watch*>(opaque)->meter.Open(domain, type, protocol);
}

int OnCloseSocket(int socket, void* opaque) {
  return static_cast<Watch*>(opaque)->meter.Close(socket);
}

}  // namespace

bool IsKnownProperty(const std::string& name) {
  // Setting tells an unknown name from a bad value; reading does not.
  const Owned<rd_kafka_conf_t> scratch(rd_kafka_conf_new());
  char text[kErrorTextSize];
  return rd_kafka_conf_set(scratch.get(), name.c_str(), "1", text, sizeof text) !=
         RD_KAFKA_CONF_UNKNOWN;
}

bool IsSecretProperty(std::string_view name) {
  constexpr std::array kWords = {std::string_view("password"),
                                 std::string_view("secret"),
                                 std::string_view("pem"),
                                 std::string_view("token"),
                                 std::string_view("assertion"),
                                 std::string_view("jaas"),
                                 std::string_view("oauthbearer.config"),
                                 std::string_view("credential")};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

Result<Owned<rd_kafka_conf_t>> MakeConf(Role role, const ClusterOptions& options,
                                        const Properties& ours) {
  if (options.bootstrap_servers.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "no kafka bootstrap address given");
  }
  Owned<rd_kafka_conf_t> conf(rd_kafka_conf_new());
  for (const auto& [name, value] : kDefaults) TRY(Set(conf.get(), name, value));
  for (const auto& [name, value] : options.properties) {
    if (role != Role::kProducer) TRY(CheckAllowed(name));
    TRY(Set(conf.get(), name, value));
  }
  if (role != Role::kReader) {
    TRY(Set(conf.get(), "bootstrap.servers", options.bootstrap_servers));
  }
  for (const auto& [name, value] : ours) TRY(Set(conf.get(), name, value));
  TRY(CheckTokenSource(options.properties));
  return conf;
}

Properties ProbeSettings() {
  return {
      {"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
      {"allow.auto.create.topics", "false"}, {"auto.offset.reset", "error"},
      {"enable.metrics.push", "false"},      {"topic.metadata.propagation.max.ms", "0"},
  };
}

Properties ReaderSettings(IsolationLevel isolation, int64_t fetch_partition_bytes) {
  const bool is_committed = isolation == IsolationLevel::kReadCommitted;
  Properties settings = ProbeSettings();
  const Properties more = {
      // An end of the log is an answer.
      {"enable.partition.eof", "true"},
      {"isolation.level", is_committed ? "read_committed" : "read_uncommitted"},
      // Data is there already; waiting matters only at the end of the log.
      {"fetch.wait.max.ms", "50"},
      {"fetch.min.bytes", "1"},
      {"fetch.message.max.bytes", fmt::format("{}", fetch_partition_bytes)},
      {"fetch.max.bytes", fmt::format("{}", kFetchResponseBytes)},
      {"fetch.error.backoff.ms", "50"},
      // One record is enough: nothing is fetched on stock while an answer waits to be looked at.
      {"queued.min.messages", "1"},
      {"fetch.queue.backoff.ms", "10"},
      {"queued.max.messages.kbytes", fmt::format("{}", kQueuedKilobytes)},
  };
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Result<Owned<rd_kafka_t>> OpenClient(Role role, Owned<rd_kafka_conf_t> conf,
                                     const Properties& properties, Watch* watch) {
  rd_kafka_conf_set_opaque(conf.get(), watch);
  rd_kafka_conf_set_socket_cb(conf.get(), OnOpenSocket);
  rd_kafka_conf_set_closesocket_cb(conf.get(), OnCloseSocket);
  rd_kafka_conf_set_error_cb(conf.get(), OnError);
  rd_kafka_conf_set_log_cb(conf.get(), OnLog);
  char text[kErrorTextSize] = "";
  const auto type = role == Role::kProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
  Owned<rd_kafka_t> client(rd_kafka_new(type, conf.get(), text, sizeof text));
  if (!client) return std::unexpected(Misfit(properties, text));
  static_cast<void>(conf.release());  // owned by the client from here on
  return client;
}

}  // namespace tidemark::kafka::client
