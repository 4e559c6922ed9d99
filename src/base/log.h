/// What tidemark says about itself, on stderr. Results go to stdout, never through here.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tidemark {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Messages below `level` are dropped. Default: kWarning. Any thread.
void SetLogLevel(LogLevel level);

/// Every message passes through `filter` before it is written, so that it can take out what must
/// not be shown. Before other threads log.
void SetLogFilter(std::function<std::string(std::string)> filter);

/// Writes one line to stderr: time, level, message. Secrets never go into a message. Any thread.
/// Returns when it is written, but see QueuedLog.
void Log(LogLevel level, std::string_view message);

/// Writes `line` to stderr as it is, in order with what is logged. Any thread.
void Say(std::string_view line);

/// While it lives, nobody who logs waits for whoever reads stderr: lines wait for a thread of its
/// own, up to 4 MB of them; those for which there is no room are lost, and one line in their place
/// says how many. Its end waits at most a second for what is not written yet; when that is not
/// enough, nobody waits afterwards either. One at a time. A child made by fork() must exec before
/// it logs.
class QueuedLog {
 public:
  QueuedLog();
  ~QueuedLog();
  QueuedLog(const QueuedLog&) = delete;
  QueuedLog& operator=(const QueuedLog&) = delete;
};

}  // namespace tidemark
