#include "cli/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace tidemark::cli {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void EndProcess(int signal) {
  _exit(128 + signal);
}

/// Whether nobody has another use for it, as the daemon has for SIGHUP.
bool IsOurs(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 &&
         (action.sa_handler == EndProcess || action.sa_handler == SIG_DFL);
}

/// Wakes the waiting thread for its end.
int WakeSignal() {
  return SIGRTMIN;
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals)
    if (IsOurs(signal)) sigaddset(&signals, signal);
  sigaddset(&signals, WakeSignal());
  return signals;
}

}  // namespace

void EndOnSignals() {
  for (const int signal : kSignals) {
    if (IsIgnored(signal)) continue;
    struct sigaction action = {};
    action.sa_handler = EndProcess;
    sigaction(signal, &action, nullptr);
  }
}

StopSignal::StopSignal() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  waiter_ = std::jthread([this](const std::stop_token& end) {
    const sigset_t awaited = StopSignals();
    while (true) {
      const int signal = sigwaitinfo(&awaited, nullptr);
      if (end.stop_requested()) return;
      if (signal < 0 || signal == WakeSignal()) continue;
      int none = 0;
      if (!signal_.compare_exchange_strong(none, signal)) EndProcess(signal);
      source_.request_stop();
    }
  });
}

void StopSignal::End() {
  if (!waiter_.joinable()) return;
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), WakeSignal());
  waiter_.join();
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace tidemark::cli
