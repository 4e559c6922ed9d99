/// How far long work has come, on stderr: a line that is written over on a terminal, a new line
/// every ten seconds elsewhere.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "app/metered_store.h"
#include "base/clock.h"

namespace tidemark::cli {

/// "37%, 1.2 of 3.3 GB, 12 of 40 file groups, 310 MB/s, 8 s left": how much is done (rounded down)
/// of what will be read. No rate before a second has passed, no time left before anything is done
/// and when everything is; empty when there is nothing to read.
std::string ProgressText(const app::ReadProgress& progress, Milliseconds elapsed);

enum class ProgressStyle {
  kNone,
  kOverwritten,  ///< one line of a terminal
  kLines,        ///< for a file or a pipe; the last one is printed in any case
};

/// Overwritten on a terminal, unless what the command prints runs over the same one; nothing
/// elsewhere. `wanted` (--progress, --no-progress) outranks this.
ProgressStyle ProgressStyleOf(std::optional<bool> wanted, bool stderr_is_terminal,
                              bool rows_go_to_terminal);

/// Any thread.
class ProgressLine {
 public:
  using Print = std::function<void(std::string_view text)>;

  ProgressLine(const Clock& clock, ProgressStyle style, Print print);
  /// Takes the line away, or prints the last one.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Prints when the last print is long enough ago.
  void Update(const app::ReadProgress& progress);
  /// Takes the line away, so that something else can be printed. It comes back with an update.
  void Clear();
  /// For app/; empty when nothing is shown.
  app::ProgressSink sink();

 private:
  Milliseconds Elapsed() const;
  void ClearLine();

  const Clock& clock_;
  const ProgressStyle style_;
  const Print print_;
  const MonoTime begin_;

  std::mutex mutex_;
  // Guarded by mutex_.
  MonoTime last_;
  app::ReadProgress progress_;
  bool has_line_ = false;
  bool is_told_ = true;  // the progress was printed
};

/// Where the command's own output goes while it works.
enum class ProgressRows { kOnStdout, kElsewhere };

/// The style for this process' stderr.
ProgressStyle StyleOnStderr(std::optional<bool> wanted, ProgressRows rows);

/// Prints to stderr.
void PrintToStderr(std::string_view text);

}  // namespace tidemark::cli
