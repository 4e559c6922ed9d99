/// Servers and tools of the tests, run as child processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::support {

struct ChildOptions {
  std::vector<std::string> command;          ///< the program, looked for in PATH, and its words
  std::map<std::string, std::string> added;  ///< environment on top of ours
  std::string folder;                        ///< working folder; empty: ours
};

/// One child in a process group of its own, so that its children end with it. Its stdout and stderr
/// go to a file that ends with the object. Single-threaded.
///
/// The child is ended by the kernel when the thread that started it ends: start it from the main
/// thread.
class ChildProcess {
  /// Only a factory of this class may construct it.
  class Private {
    friend class ChildProcess;
    Private() = default;
  };

 public:
  ChildProcess(Private tag, pid_t pid, std::string output_path);

  static Result<std::unique_ptr<ChildProcess>> Start(const ChildOptions& options);

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Stops it.
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// Everything it has printed so far.
  std::string Output() const;

  /// The first line of its output that begins with `beginning`. kUnavailable, with the end of the
  /// output, when it ends or the time passes before.
  Result<std::string> WaitForLine(std::string_view beginning, std::chrono::milliseconds timeout);

  /// Returns when something accepts connections on 127.0.0.1:`port`. Errors as of WaitForLine.
  Status WaitForPort(int port, std::chrono::milliseconds timeout);

  /// The exit code, or 128 + signal. kUnavailable when it still runs after `timeout`.
  Result<int> WaitForExit(std::chrono::milliseconds timeout);

  /// Sends `signal` to the child and its children.
  void Signal(int signal);

  /// Asks it to end, then makes it end. May be repeated.
  void Stop();

 private:
  bool HasEnded();
  std::unexpected<Error> Failed(std::string_view waited_for) const;

  pid_t pid_;
  std::string output_path_;
  bool has_ended_ = false;
  int exit_code_ = 0;
};

/// A TCP port of 127.0.0.1 that was free a moment ago.
int FreePort();

/// A new folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tidemark::support
