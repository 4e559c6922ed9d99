#include <algorithm>

#include "kafka/client/error_log_internal.h"

namespace tidemark::kafka::client {

namespace {

// Brokers whose last complaint is kept. A cluster may have more, but not that many broken ones.
constexpr size_t kBrokersMax = 256;

// Log lines begin with "[thrd:…]: ".
std::string_view WithoutThread(std::string_view line) {
  constexpr std::string_view kEnd = "]: ";
  const size_t end = line.starts_with("[thrd:") ? line.find(kEnd) : std::string_view::npos;
  return end == std::string_view::npos ? line : line.substr(end + kEnd.size());
}

}  // namespace

std::string_view CauseOf(std::string_view complaint) {
  constexpr std::string_view kBegin = " (after ";
  constexpr std::string_view kState = "ms in state ";
  constexpr std::string_view kCall = ": receive 0 after POLLIN";
  const size_t begin = complaint.rfind(kBegin);
  if (begin != complaint.npos && complaint.ends_with(')')) {
    std::string_view added = complaint.substr(begin + kBegin.size());
    added.remove_prefix(std::min(added.find_first_not_of("0123456789"), added.size()));
    if (added.starts_with(kState)) complaint = complaint.substr(0, begin);
  }
  if (complaint.ends_with(kCall)) complaint.remove_suffix(kCall.size());
  return complaint;
}

void ErrorLog::Add(rd_kafka_resp_err_t code, std::string_view complaint) {
  const std::string_view reason = CauseOf(complaint);
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
      Keep(reason);
      return;
  }
}

void ErrorLog::AddLogLine(std::string_view line) {
  const std::string_view reason = CauseOf(WithoutThread(line));
  const std::lock_guard lock(mutex_);
  Keep(reason);
  if (!transport_.empty() && !is_transport_from_log_) return;
  transport_ = reason;
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

// A complaint begins with its broker: "[sasl_ssl://]host:port/id: …".
void ErrorLog::Keep(std::string_view reason) {
  const std::string_view broker = reason.substr(0, reason.find(": "));
  if (const auto known = by_broker_.find(broker); known != by_broker_.end()) {
    known->second = reason;
  } else if (by_broker_.size() < kBrokersMax) {
    by_broker_.emplace(broker, reason);
  }
}

std::string ErrorLog::transport_of(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [broker, reason] : by_broker_) {
    const size_t at = broker.find(address);
    if (at == std::string::npos) continue;
    const bool begins = at == 0 || broker[at - 1] == '/';
    const size_t end = at + address.size();
    if (begins && (end == broker.size() || broker[end] == '/')) return reason;
  }
  return {};
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
  by_broker_.clear();
}

}  // namespace tidemark::kafka::client
