#include "cli/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace tidemark::cli {

namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

/// How long after the end of its owner the waiting thread may notice.
constexpr long kPollNanoseconds = 20'000'000;

}  // namespace

StopSignal::StopSignal() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  waiter_ = std::jthread([this](const std::stop_token& end) {
    const sigset_t awaited = StopSignals();
    const timespec poll{0, kPollNanoseconds};
    while (!end.stop_requested()) {
      if (sigtimedwait(&awaited, nullptr, &poll) < 0) continue;
      if (!source_.request_stop()) _exit(kExitCode);
    }
  });
}

StopSignal::~StopSignal() {
  waiter_.request_stop();
  waiter_.join();
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace tidemark::cli
