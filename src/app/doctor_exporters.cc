#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "app/doctor.h"
#include "push/atomic_file.h"
#include "push/otlp.h"
#include "push/pushgateway.h"
#include "push/udp_sender.h"
#include "push/webhook.h"
#include "storage/http_client.h"

namespace tidemark::app {

namespace {

constexpr std::string_view kSubject = "(exporters)";

std::string CureOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied:
      return "correct the headers, or `tls`: whom to trust (ca), who we are (certificate, key)";
    case ErrorKind::kUnavailable: return "check that the receiver is up and its address is right";
    case ErrorKind::kInvalidArgument: return "correct the path of the URL, or the files of `tls`";
    case ErrorKind::kUnsupported: return "correct the path of the URL";
    default: return "check what answers at this address";
  }
}

/// One exporter; `name` is the user's.
class ReceiverDoctor {
 public:
  ReceiverDoctor(std::string_view name, const HiddenValues& hidden, const Budget& budget)
      : name_(name), hidden_(hidden), budget_(budget) {}

  DoctorCheck operator()(const TextfileOptions& options) const {
    return OfFile("textfile", options.path);
  }
  DoctorCheck operator()(const SourcesOptions& options) const {
    return OfFile("sources", options.path);
  }

  DoctorCheck operator()(const push::EmfOptions& options) const {
    if (options.path == "-") return Ok("emf", "goes to standard output");
    // It is added to, so that what is there must be a file of ours.
    struct stat found{};
    if (::stat(options.path.c_str(), &found) != 0) return OfFile("emf", options.path);
    if (S_ISREG(found.st_mode) && ::access(options.path.c_str(), W_OK) == 0)
      return Ok("emf", options.path + " can be added to");
    return Failed("emf", {ErrorKind::kDenied, "the file cannot be written: path=" + options.path},
                  kCureOfFile);
  }

  DoctorCheck operator()(const push::PushgatewayOptions& options) const {
    const Status status = push::PushgatewayExporter(options).Check(budget_);
    if (status) return Ok("pushgateway", Host(options.url) + " is ready");
    return Failed("pushgateway", status.error(), CureOf(status.error().kind));
  }

  DoctorCheck operator()(const push::OtlpOptions& options) const {
    const Status status = push::OtlpExporter(options).Check(budget_);
    if (status) return Ok("otlp", Host(options.endpoint) + " takes metrics");
    return Failed("otlp", status.error(), CureOf(status.error().kind));
  }

  DoctorCheck operator()(const push::StatsdOptions& options) const {
    const Status status = push::UdpSender(options.host, options.port).Check();
    if (!status) return Failed("statsd", status.error(), "correct the address");
    return Ok("statsd", fmt::format("{} port {} has an address; UDP does not tell whether anybody "
                                    "listens",
                                    options.host, options.port));
  }

  DoctorCheck operator()(const push::WebhookOptions& options) const {
    const auto status = push::Webhook(options).Check(budget_);
    if (!status) return Failed("webhook", status.error(), CureOf(status.error().kind));
    DoctorCheck check =
        Ok("webhook", fmt::format("{} answers (status {} to HEAD); whether it takes "
                                  "messages, only messages show",
                                  Host(options.url), *status));
    if (*status == 401 || *status == 403 || *status >= 500) {
      check.outcome = CheckOutcome::kWarning;
      check.cure = *status >= 500 ? "look at the receiver's own log"
                                  : "check the headers, unless it refuses HEAD alone";
    }
    return check;
  }

 private:
  static constexpr std::string_view kCureOfFile =
      "make the folder, and let the daemon's user write there";

  DoctorCheck OfFile(std::string_view kind, const std::string& path) const {
    const Status status = push::CheckReplaceable(path);
    if (status) return Ok(kind, path + " can be written");
    return Failed(kind, status.error(), kCureOfFile);
  }

  std::string Host(std::string_view url) const {
    return hidden_.Hide(std::string(storage::HostOfUrl(url)));
  }

  std::string Named(std::string_view kind, const std::string& text) const {
    return name_ == kind ? text : fmt::format("{}: {}", name_, text);
  }
  DoctorCheck Ok(std::string_view kind, const std::string& seen) const {
    return {std::string(kind), CheckOutcome::kOk, hidden_.Hide(Named(kind, seen)), "", {}};
  }
  DoctorCheck Failed(std::string_view kind, const Error& error, std::string_view cure) const {
    return {std::string(kind),
            CheckOutcome::kFailed,
            hidden_.Hide(Named(kind, error.message)),
            std::string(cure),
            {}};
  }

  std::string_view name_;
  const HiddenValues& hidden_;
  Budget budget_;
};

}  // namespace

Diagnosis DiagnoseExporters(const Config& config, Milliseconds timeout,
                            const std::stop_token& stop) {
  const auto& senders = config.exporters.senders;
  Diagnosis diagnosis{std::string(kSubject), "", std::vector<DoctorCheck>(senders.size())};
  const Budget budget = Budget::For(timeout, stop);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < senders.size(); ++i) {
    threads.emplace_back([&, i] {
      const ReceiverDoctor doctor(senders[i].name, config.exporters.hidden, budget);
      diagnosis.checks[i] = std::visit(doctor, senders[i].receiver);
    });
  }
  threads.clear();
  return diagnosis;
}

}  // namespace tidemark::app
