/// Ctrl-C, SIGTERM, SIGHUP and SIGQUIT as a stop token.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace tidemark::cli {

/// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the process with 128 + their number, as a
/// shell reports it, wherever it is. A signal that the caller chose to ignore (a job in the
/// background) stays ignored. Before anything else.
void EndOnSignals();

/// While it lives, they request a stop instead of ending the process; a second one ends it at once.
/// One that has got another handler by then is left alone. Create it before any other thread starts
/// (they inherit the blocked signals). One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal() { End(); }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool was_sent() const { return source_.stop_requested(); }
  /// What the process reports when it was sent: 130 for Ctrl-C.
  int exit_code() const { return 128 + signal_; }

  /// Signals end the process again. Before the output is written: a reader that does not read must
  /// not keep us from being ended.
  void End();

 private:
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::jthread waiter_;
};

}  // namespace tidemark::cli
