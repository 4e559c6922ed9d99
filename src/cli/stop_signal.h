/// Ctrl-C and SIGTERM as a stop token.
#pragma once

#include <stop_token>
#include <thread>

namespace tidemark::cli {

/// While it lives, SIGINT and SIGTERM request a stop instead of ending the process; a second one
/// ends it at once. Create it before any other thread starts (they inherit the blocked signals).
/// One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool was_sent() const { return source_.stop_requested(); }

  /// What a process ended by Ctrl-C reports to its shell.
  static constexpr int kExitCode = 130;

 private:
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace tidemark::cli
