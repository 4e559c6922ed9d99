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
void Log(LogLevel level, std::string_view message);

}  // namespace tidemark
