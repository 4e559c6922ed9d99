#include <utility>

#include "kafka/client/error_log_internal.h"

namespace tidemark::kafka::client {

void ErrorLog::Add(rd_kafka_resp_err_t code, std::string reason) {
  const std::lock_guard lock(mutex_);
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      refusal_ = Entry{ProbeFault::kAuthentication, std::move(reason)};
      return;
    case RD_KAFKA_RESP_ERR__SSL: refusal_ = Entry{ProbeFault::kTls, std::move(reason)}; return;
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: return;  // says less than the entry before it
    default: transport_ = std::move(reason); return;
  }
}

std::optional<ErrorLog::Entry> ErrorLog::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::string ErrorLog::transport() const {
  const std::lock_guard lock(mutex_);
  return transport_;
}

void ErrorLog::Clear() {
  const std::lock_guard lock(mutex_);
  refusal_.reset();
  transport_.clear();
}

}  // namespace tidemark::kafka::client
