#include <fmt/format.h>

#include <utility>

#include "app/doctor.h"
#include "storage/sqs_queue.h"

namespace tidemark::app {

namespace {

std::string CureOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied:
      return "grant sqs:ReceiveMessage, sqs:DeleteMessage and, for this check, "
             "sqs:GetQueueAttributes on the queue, or correct the credentials";
    case ErrorKind::kNotFound: return "correct queue_url or region, or make the queue";
    case ErrorKind::kUnavailable:
      return "check the address; the queue is asked again and again, and until it answers tables "
             "are looked at when they are due";
    default: return "correct the queue in the configuration (docs/serve.md)";
  }
}

Result<uint64_t> CountWaiting(const QueueConfig& queue, const Budget& budget) {
  TRY_ASSIGN(const auto opened, storage::SqsQueue::Make(queue.sqs));
  return opened->CountWaiting(budget);
}

}  // namespace

Diagnosis DiagnoseQueues(const Config& config, Milliseconds limit, const std::stop_token& stop) {
  Diagnosis diagnosis{.subject = "(wake-ups)", .table = {}, .checks = {}};
  for (const auto& queue : config.wake_ups.queues) {
    const auto waiting = CountWaiting(queue, Budget::For(limit, stop));
    if (waiting) {
      diagnosis.checks.push_back(
          {queue.name,
           CheckOutcome::kOk,
           fmt::format("the queue answers; messages that wait: about {}", *waiting),
           "",
           {}});
      continue;
    }
    // What is watched can be watched all the same.
    const Error error = config.wake_ups.hidden.Hide(Error(waiting.error()));
    diagnosis.checks.push_back(
        {queue.name, CheckOutcome::kFailed, error.message, CureOf(error.kind), {}});
  }
  return diagnosis;
}

}  // namespace tidemark::app
