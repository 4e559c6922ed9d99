#include "kafka/client/error_log_internal.h"

namespace tidemark::kafka::client {

void ErrorLog::Add(rd_kafka_resp_err_t code, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [&](ProbeFault fault) {
    const MonoTime since = refusal_ ? refusal_->since : std::chrono::steady_clock::now();
    refusal_ = Entry{.fault = fault, .reason = std::string(reason), .since = since};
  };
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED: refuse(ProbeFault::kAuthentication); return;
    case RD_KAFKA_RESP_ERR__SSL: refuse(ProbeFault::kTls); return;
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      if (!all_down_since_) all_down_since_ = std::chrono::steady_clock::now();
      return;
    default:
      transport_ = reason;
      is_transport_from_log_ = false;
      return;
  }
}

void ErrorLog::AddLogLine(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!transport_.empty() && !is_transport_from_log_) return;
  transport_ = line;
  is_transport_from_log_ = true;
}

std::optional<ErrorLog::Entry> ErrorLog::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::optional<MonoTime> ErrorLog::all_down_since() const {
  const std::lock_guard lock(mutex_);
  return all_down_since_;
}

std::string ErrorLog::transport() const {
  const std::lock_guard lock(mutex_);
  return transport_;
}

void ErrorLog::Clear() {
  const std::lock_guard lock(mutex_);
  refusal_.reset();
  all_down_since_.reset();
  transport_.clear();
}

}  // namespace tidemark::kafka::client
