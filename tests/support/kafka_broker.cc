#include "support/kafka_broker.h"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <vector>

namespace tidemark::support {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Where scripts/bootstrap --tests has put the broker's jars.
constexpr const char* kJars = TIDEMARK_DEPS "/kafka-4.4.0/*";
constexpr milliseconds kStepLimit = seconds(120);
constexpr milliseconds kStartLimit = seconds(240);
// A port may be taken between choosing it and listening on it.
constexpr int kStartsMax = 3;

constexpr const char* kLogging = R"(Configuration:
  status: error
  Appenders:
    Console:
      name: OUT
      PatternLayout:
        pattern: "%d %p %m (%c)%n"
  Loggers:
    Root:
      level: info
      AppenderRef:
        - ref: OUT
)";

// Index files are mapped into memory and large by default; group and transaction topics are to be
// small; what time does is to happen soon, but records with stamps of long ago stay.
constexpr const char* kProperties = R"(process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL
auto.create.topics.enable=true
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=16777216
log.initial.task.delay.ms=200
log.retention.ms=-1
log.retention.check.interval.ms=500
log.cleaner.backoff.ms=200
log.message.timestamp.after.max.ms=9223372036854775807
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
allow.everyone.if.no.acl.found=false
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.truststore.type=PEM
)";

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Status RunToEnd(std::vector<std::string> command, const std::string& folder) {
  TRY_ASSIGN(const auto child,
             ChildProcess::Start({.command = command, .added = {}, .folder = folder}));
  TRY_ASSIGN(const int code, child->WaitForExit(kStepLimit));
  if (code == 0) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("child ended command={} code={}: {}", command[0], code, child->Output()));
}

std::vector<std::string> Java(const std::string& folder, const std::string& main_class) {
  return {"java",
          "-Xms64m",
          "-Xmx320m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Xshare:auto",
          "-Dlog4j2.configurationFile=" + folder + "/log4j2.yaml",
          "-cp",
          kJars,
          main_class};
}

}  // namespace

Result<std::unique_ptr<KafkaBroker>> KafkaBroker::Start() {
  for (int start = 1;; ++start) {
    auto broker = std::make_unique<KafkaBroker>(OnlyStart{});
    TRY(broker->MakeCertificates());
    broker->WriteProperties();
    TRY(broker->Format());
    Status status = broker->Run();
    if (status) return broker;
    if (start == kStartsMax) return std::unexpected<Error>(status.error());
  }
}

Status KafkaBroker::MakeCertificates() {
  const std::string& folder = folder_.path();
  for (const char* name : {"ca", "other-ca"}) {
    TRY(RunToEnd({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                  fmt::format("/CN={}", name), "-keyout", fmt::format("{}.key", name), "-out",
                  fmt::format("{}.pem", name)},
                 folder));
  }
  TRY(RunToEnd({"openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=broker", "-keyout",
                "broker.key", "-out", "broker.csr"},
               folder));
  Write(folder + "/names", "subjectAltName=IP:127.0.0.1\n");
  TRY(RunToEnd({"openssl", "x509", "-req", "-in", "broker.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "broker.pem"},
               folder));
  Write(folder + "/keystore.pem",
        ReadWhole(folder + "/broker.key") + ReadWhole(folder + "/broker.pem"));
  return {};
}

void KafkaBroker::WriteProperties() {
  const std::string& folder = folder_.path();
  plain_port_ = FreePort();
  controller_port_ = FreePort();
  sasl_port_ = FreePort();
  tls_port_ = FreePort();
  const std::string listeners =
      fmt::format("PLAINTEXT://127.0.0.1:{},SASL_PLAINTEXT://127.0.0.1:{},SSL://127.0.0.1:{}",
                  plain_port_, sasl_port_, tls_port_);
  std::string text = kProperties;
  text += fmt::format("listeners={},CONTROLLER://127.0.0.1:{}\n", listeners, controller_port_);
  text += fmt::format("advertised.listeners={}\n", listeners);
  text += fmt::format("controller.quorum.voters=1@127.0.0.1:{}\n", controller_port_);
  text += fmt::format("log.dirs={}/data\n", folder);
  text += fmt::format("ssl.keystore.location={}/keystore.pem\n", folder);
  text += fmt::format("ssl.truststore.location={}/ca.pem\n", folder);
  text += fmt::format(
      "listener.name.sasl_plaintext.plain.sasl.jaas.config="
      "org.apache.kafka.common.security.plain.PlainLoginModule required user_{}=\"{}\";\n",
      kUser, kPassword);
  Write(folder + "/server.properties", text);
  Write(folder + "/log4j2.yaml", kLogging);
}

Status KafkaBroker::Format() {
  const std::string& folder = folder_.path();
  std::vector<std::string> command = Java(folder, "kafka.tools.StorageTool");
  for (const char* word : {"format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c"}) command.push_back(word);
  command.push_back(folder + "/server.properties");
  for (const char* mechanism : {"SCRAM-SHA-256", "SCRAM-SHA-512"}) {
    command.push_back("--add-scram");
    command.push_back(fmt::format("{}=[name={},password={}]", mechanism, kUser, kPassword));
  }
  return RunToEnd(command, folder);
}

Status KafkaBroker::Run() {
  const std::string& folder = folder_.path();
  std::vector<std::string> command = Java(folder, "kafka.Kafka");
  command.push_back(folder + "/server.properties");
  TRY_ASSIGN(process_, ChildProcess::Start({.command = command, .added = {}, .folder = folder}));
  for (const int port : {plain_port_, sasl_port_, tls_port_}) {
    TRY(process_->WaitForPort(port, kStartLimit));
  }
  return {};
}

kafka::ClusterOptions KafkaBroker::plain() const {
  return {.bootstrap_servers = fmt::format("127.0.0.1:{}", plain_port_), .properties = {}};
}

kafka::ClusterOptions KafkaBroker::sasl(const std::string& mechanism,
                                        const std::string& password) const {
  const std::string address = fmt::format("127.0.0.1:{}", sasl_port_);
  if (mechanism == "OAUTHBEARER") {
    // A token that nobody has signed; the broker takes those by default. It has no password.
    return {.bootstrap_servers = address,
            .properties = {{"security.protocol", "SASL_PLAINTEXT"},
                           {"sasl.mechanisms", mechanism},
                           {"enable.sasl.oauthbearer.unsecure.jwt", "true"},
                           {"sasl.oauthbearer.config", fmt::format("principal={}", kUser)}}};
  }
  return {.bootstrap_servers = address,
          .properties = {{"security.protocol", "SASL_PLAINTEXT"},
                         {"sasl.mechanisms", mechanism},
                         {"sasl.username", kUser},
                         {"sasl.password", password}}};
}

kafka::ClusterOptions KafkaBroker::tls(const std::string& ca_file) const {
  return {.bootstrap_servers = tls_address(),
          .properties = {{"security.protocol", "SSL"}, {"ssl.ca.location", ca_file}}};
}

std::string KafkaBroker::tls_address() const {
  return fmt::format("127.0.0.1:{}", tls_port_);
}

}  // namespace tidemark::support
