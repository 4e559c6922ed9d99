/// What tidemark says about itself, on stderr. Results go to stdout, never through here.
#pragma once

#include <string_view>

namespace tidemark {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Messages below `level` are dropped. Default: kWarning. Any thread.
void SetLogLevel(LogLevel level);

/// Writes one line to stderr: time, level, message. Secrets never go into a message. Any thread.
void Log(LogLevel level, std::string_view message);

}  // namespace tidemark
