#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/time_text.h"

namespace tidemark::cli {
namespace {

constexpr Milliseconds kTerminalEvery{300};
constexpr Milliseconds kLineEvery = std::chrono::seconds(10);
constexpr Milliseconds kRateFrom = std::chrono::seconds(1);
/// Beyond it nobody waits, and a duration would not hold what a stuck store comes to.
constexpr double kSecondsLeftMax = 1e9;

struct SizeUnit {
  double bytes;
  std::string_view name;
};

SizeUnit UnitOf(double bytes) {
  if (bytes >= 1e12) return {1e12, "TB"};
  if (bytes >= 1e9) return {1e9, "GB"};
  if (bytes >= 1e6) return {1e6, "MB"};
  return {1e3, "kB"};
}

}  // namespace

std::string ProgressText(const app::ReadProgress& progress, Milliseconds elapsed) {
  if (progress.bytes == 0) return "";
  const auto done = static_cast<double>(progress.bytes_done);
  const auto all = static_cast<double>(progress.bytes);
  const SizeUnit size = UnitOf(all);
  const bool is_over = progress.bytes_done >= progress.bytes;
  std::string text =
      fmt::format("{}%, {:.1f} of {:.1f} {}, {} of {} file groups",
                  is_over ? 100 : static_cast<int>(done / all * 100), done / size.bytes,
                  all / size.bytes, size.name, progress.groups_done, progress.groups);
  if (elapsed < kRateFrom) return text;
  const double rate = done / SecondsOf(elapsed);
  const SizeUnit a_second = UnitOf(rate);
  text += fmt::format(", {:.0f} {}/s", rate / a_second.bytes, a_second.name);
  if (is_over || rate <= 0) return text;
  const double left = (all - done) / rate;
  if (left > kSecondsLeftMax) return text;
  const std::chrono::seconds whole(static_cast<int64_t>(left + 0.5));
  return text + ", " + FormatDuration(whole) + " left";
}

ProgressStyle ProgressStyleOf(std::optional<bool> wanted, bool stderr_is_terminal,
                              bool rows_go_to_terminal) {
  if (wanted == false) return ProgressStyle::kNone;
  if (stderr_is_terminal && (wanted || !rows_go_to_terminal)) return ProgressStyle::kOverwritten;
  return wanted ? ProgressStyle::kLines : ProgressStyle::kNone;
}

ProgressLine::ProgressLine(const Clock& clock, ProgressStyle style, Print print)
    : clock_(clock), style_(style), print_(std::move(print)), begin_(clock.Mono()), last_(begin_) {}

ProgressLine::~ProgressLine() {
  const std::lock_guard lock(mutex_);
  ClearLine();
  if (style_ != ProgressStyle::kLines || is_told_) return;
  const std::string text = ProgressText(progress_, Elapsed());
  if (!text.empty()) print_(text + "\n");
}

void ProgressLine::Update(const app::ReadProgress& progress) {
  if (style_ == ProgressStyle::kNone) return;
  const std::lock_guard lock(mutex_);
  progress_ = progress;
  is_told_ = false;
  const MonoTime now = clock_.Mono();
  if (now - last_ < (style_ == ProgressStyle::kOverwritten ? kTerminalEvery : kLineEvery)) return;
  last_ = now;
  const std::string text = ProgressText(progress_, Elapsed());
  if (text.empty()) return;
  ClearLine();
  has_line_ = style_ == ProgressStyle::kOverwritten;
  is_told_ = true;
  print_(has_line_ ? text : text + "\n");
}

void ProgressLine::Clear() {
  const std::lock_guard lock(mutex_);
  ClearLine();
}

app::ProgressSink ProgressLine::sink() {
  if (style_ == ProgressStyle::kNone) return {};
  return [this](const app::ReadProgress& progress) { Update(progress); };
}

Milliseconds ProgressLine::Elapsed() const {
  return std::chrono::duration_cast<Milliseconds>(clock_.Mono() - begin_);
}

void ProgressLine::ClearLine() {
  if (!has_line_) return;
  print_("\r\x1b[K");
  has_line_ = false;
}

ProgressStyle StyleOnStderr(std::optional<bool> wanted, ProgressRows rows) {
  const bool rows_go_to_terminal = rows == ProgressRows::kOnStdout && isatty(STDOUT_FILENO) != 0;
  return ProgressStyleOf(wanted, isatty(STDERR_FILENO) != 0, rows_go_to_terminal);
}

void PrintToStderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tidemark::cli
