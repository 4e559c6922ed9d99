#include <fmt/format.h>

#include <utility>

#include "app/coordination.h"
#include "app/doctor.h"
#include "app/serve_routes.h"
#include "http/router.h"
#include "http/server.h"
#include "state/state_store.h"

namespace tidemark::app {

namespace {

constexpr std::string_view kSubject = "(daemon)";

DoctorCheck Failed(std::string name, const Error& error, std::string cure) {
  return {std::move(name), CheckOutcome::kFailed, error.message, std::move(cure), error.kind};
}

std::string CureOfState(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied: return "let the daemon's user write there, or log in as one who may";
    case ErrorKind::kCorrupt:
      return "none is needed: `serve` puts the file aside and begins a new one; look at the disk";
    case ErrorKind::kUnsupported: return "use the release that wrote it, or another path";
    default: return "check that the disk or the database is there and its address is right";
  }
}

/// Also whether another process holds the state.
DoctorCheck CheckOfState(const Config& config, bool& is_held) {
  if (!config.state) {
    return {"state",
            CheckOutcome::kSkipped,
            "none is kept: a restart forgets topic ids, arrival bounds, incidents and history",
            "",
            {}};
  }
  const auto condition = state::CheckState(*config.state);
  if (!condition) {
    const Error error = config.state_hidden.Hide(Error(condition.error()));
    DoctorCheck check = Failed("state", error, CureOfState(error.kind));
    if (error.kind == ErrorKind::kCorrupt) {
      check.outcome = CheckOutcome::kWarning;
      check.error.reset();
    }
    return check;
  }
  is_held = *condition == state::StateCondition::kHeld;
  std::string where = config.state->url.empty() ? config.state->path : "the database";
  switch (*condition) {
    case state::StateCondition::kUsable: where += " can be used"; break;
    case state::StateCondition::kAbsent: where += " holds none yet, and one can be made"; break;
    case state::StateCondition::kHeld: where += " is in use: the daemon runs"; break;
  }
  return {"state", CheckOutcome::kOk, std::move(where), "", {}};
}

DoctorCheck CheckOfTokens(const std::string& file) {
  BearerTokens tokens;
  if (const auto read = tokens.Read(file); !read)
    return Failed("tokens", read.error(), "write one token a line into that file");
  return {"tokens", CheckOutcome::kOk, fmt::format("{} can be read", file), "", {}};
}

/// Listens for a moment: first anywhere, to see whether address, certificate and key are good at
/// all, then where the configuration says.
DoctorCheck CheckOfListening(const HttpConfig& http, bool is_held) {
  http::ServerOptions options;
  options.address = http.address;
  options.tls = http.tls;
  if (const auto started = http::Server::Start(options, http::Router()); !started) {
    return Failed("listen", started.error(),
                  "correct the address, the certificate or the key: the key must be that of the "
                  "certificate, both in PEM");
  }
  const std::string place = fmt::format("{} port {}", http.address, http.port);
  options.port = http.port;
  if (const auto started = http::Server::Start(options, http::Router()); !started) {
    if (is_held) return {"listen", CheckOutcome::kOk, place + " is in use by the daemon", "", {}};
    return {"listen",
            CheckOutcome::kWarning,
            started.error().message,
            "none when it is the daemon that answers there; else choose another port",
            {}};
  }
  return {
      "listen", CheckOutcome::kOk, place + (http.tls ? " with TLS is free" : " is free"), "", {}};
}

DoctorCheck CheckOfGroupTopic(const CoordinationConfig& shared,
                              const kafka::client::GroupCheck& found) {
  using Topic = kafka::client::GroupCheck::Topic;
  constexpr std::string_view kName = "group topic";
  switch (found.topic) {
    case Topic::kFits:
      return {std::string(kName),
              CheckOutcome::kOk,
              fmt::format("{} has {} partitions", shared.topic, found.partition_count),
              "",
              {}};
    case Topic::kAbsent:
      return {std::string(kName),
              CheckOutcome::kOk,
              fmt::format("{} is not there yet, and may be created", shared.topic),
              "",
              {}};
    case Topic::kTooSmall:
      return {std::string(kName),
              CheckOutcome::kFailed,
              fmt::format("{} has {} partitions", shared.topic, found.partition_count),
              fmt::format("give it {} partitions, or name another topic", kCoordinationParts),
              {}};
    case Topic::kNotPermitted: break;
  }
  return {std::string(kName), CheckOutcome::kFailed,
          fmt::format("{} is not there, or may not be seen: {}", shared.topic, found.words),
          fmt::format("grant DESCRIBE on it; grant CREATE too, or create it with {} partitions",
                      kCoordinationParts),
          ErrorKind::kDenied};
}

DoctorCheck CheckOfJoining(const CoordinationConfig& shared,
                           const kafka::client::GroupCheck& found) {
  using Join = kafka::client::GroupCheck::Join;
  switch (found.join) {
    case Join::kPermitted:
      return {"group", CheckOutcome::kOk, fmt::format("{} may be joined", shared.group), "", {}};
    case Join::kRefused:
      return {"group", CheckOutcome::kFailed,
              fmt::format("{} may not be joined: {}", shared.group, found.words),
              "grant READ on the group", ErrorKind::kDenied};
    case Join::kNotKnown: break;
  }
  return {"group",
          CheckOutcome::kSkipped,
          fmt::format("nobody is in {} yet, or its brokers are older than 2.3: whether it may be "
                      "joined shows when the first instance starts",
                      shared.group),
          "",
          {}};
}

void CheckCoordination(const Config& config, Milliseconds limit, Diagnosis& diagnosis) {
  const CoordinationConfig& shared = *config.coordination;
  const ClusterConfig& cluster = config.clusters.at(shared.cluster);
  auto found =
      kafka::client::CheckGroup(cluster.options, GroupOptionsOf(shared), Budget::For(limit));
  if (!found) {
    diagnosis.checks.push_back(
        Failed("group", cluster.hidden.Hide(std::move(found).error()),
               fmt::format("see the checks of the cluster '{}'", shared.cluster)));
    return;
  }
  found->words = cluster.hidden.Hide(std::move(found->words));
  diagnosis.checks.push_back(CheckOfGroupTopic(shared, *found));
  diagnosis.checks.push_back(CheckOfJoining(shared, *found));
  if (config.state && config.state->url.empty()) {
    diagnosis.checks.push_back(
        {"hand-over",
         CheckOutcome::kWarning,
         "each instance has a state of its own: pipelines that change hands begin anew",
         "use one PostgreSQL for all instances (state.url)",
         {}});
  }
}

}  // namespace

Diagnosis DiagnoseDaemon(const Config& config, Milliseconds limit) {
  Diagnosis diagnosis{std::string(kSubject), "", {}};
  // It is not run from this configuration.
  if (!config.state && !config.http && !config.coordination) return diagnosis;
  bool is_held = false;
  diagnosis.checks.push_back(CheckOfState(config, is_held));
  if (config.coordination) CheckCoordination(config, limit, diagnosis);
  if (!config.http) return diagnosis;
  if (!config.http->bearer_tokens_file.empty())
    diagnosis.checks.push_back(CheckOfTokens(config.http->bearer_tokens_file));
  diagnosis.checks.push_back(CheckOfListening(*config.http, is_held));
  return diagnosis;
}

}  // namespace tidemark::app
