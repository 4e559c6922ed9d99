#include <fmt/format.h>

#include <utility>

#include "app/doctor.h"

namespace tidemark::app {

namespace {

std::string CureOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied: return "give the sink's user the right, or correct its password";
    case ErrorKind::kUnavailable:
      return "check the address, and that the target runs; the mirror goes on trying";
    default: return "correct the sink in the configuration (docs/sinks.md)";
  }
}

}  // namespace

Diagnosis DiagnoseSinks(const Config& config, Milliseconds limit, const std::stop_token& stop) {
  Diagnosis diagnosis{.subject = "(sinks)", .table = {}, .checks = {}};
  if (!config.mirror) return diagnosis;
  for (const auto& each : config.mirror->sinks.sinks) {
    const auto status = sink::MakeSink(each.target)->Check(Budget::For(limit, stop));
    if (status) {
      diagnosis.checks.push_back(
          {each.name, CheckOutcome::kOk, fmt::format("{} answers", each.kind), "", {}});
      continue;
    }
    const Error error = config.mirror->sinks.hidden.Hide(Error(status.error()));
    diagnosis.checks.push_back(
        {each.name, CheckOutcome::kFailed, error.message, CureOf(error.kind), error.kind});
  }
  return diagnosis;
}

}  // namespace tidemark::app
