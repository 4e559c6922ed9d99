#include <fmt/format.h>

#include <utility>

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

}  // namespace

Diagnosis DiagnoseDaemon(const Config& config) {
  Diagnosis diagnosis{std::string(kSubject), "", {}};
  if (!config.state && !config.http) return diagnosis;  // it is not run from this configuration
  bool is_held = false;
  diagnosis.checks.push_back(CheckOfState(config, is_held));
  if (!config.http) return diagnosis;
  if (!config.http->bearer_tokens_file.empty())
    diagnosis.checks.push_back(CheckOfTokens(config.http->bearer_tokens_file));
  diagnosis.checks.push_back(CheckOfListening(*config.http, is_held));
  return diagnosis;
}

}  // namespace tidemark::app
