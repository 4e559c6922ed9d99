#include "cli/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/utf8.h"

namespace tidemark::cli {

namespace {

std::string_view EscapeOf(Colour colour) {
  switch (colour) {
    case Colour::kPlain: return "";
    case Colour::kGreen: return "\x1b[32m";
    case Colour::kYellow: return "\x1b[33m";
    case Colour::kRed: return "\x1b[31m";
    case Colour::kMagenta: return "\x1b[35m";
    case Colour::kDim: return "\x1b[2m";
    case Colour::kBold: return "\x1b[1m";
  }
  std::unreachable();
}

/// Columns a UTF-8 text takes, one per code point: right for what tables and topics are named
/// after.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Widths between which a sentence reads well; the terminal's own where it lies between them.
constexpr int kLineWidthMin = 60;
constexpr int kLineWidthMax = 100;

/// The text in lines, broken at blanks; a word that is longer than a line stays whole.
std::vector<std::string> Wrapped(std::string_view text, const Terminal& terminal) {
  const int wished = terminal.width == 0 ? kLineWidthMax : terminal.width - 2;
  const auto width = static_cast<size_t>(std::clamp(wished, kLineWidthMin, kLineWidthMax));
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty() && WidthOf(lines.back()) + 1 + WidthOf(word) > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace

ExitCode ExitCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument: return kUsage;
    case ErrorKind::kNotFound:
    case ErrorKind::kCorrupt:
    case ErrorKind::kUnsupported:
    case ErrorKind::kExhausted: return kUnreadable;
    case ErrorKind::kDenied:
    case ErrorKind::kUnavailable:
    case ErrorKind::kConflict:
    case ErrorKind::kCancelled: return kUnreachable;
    case ErrorKind::kInternal: return kBug;
  }
  std::unreachable();
}

ExitCode Complain(const Error& error) {
  std::fflush(stdout);
  Warn(error.message);
  return ExitCodeOf(error.kind);
}

void Warn(std::string_view message) {
  Say(fmt::format("tidemark: {}", PrintableLines(message)));
}

Terminal Terminal::OfStdout() {
  Terminal terminal;
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool is_dumb = term == nullptr || std::string_view(term) == "dumb";
  terminal.has_colour = (no_colour == nullptr || *no_colour == '\0') && !is_dumb;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  return terminal;
}

std::string Paint(const Terminal& terminal, Colour colour, std::string_view text) {
  if (!terminal.has_colour || colour == Colour::kPlain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", EscapeOf(colour), text);
}

void TextTable::AddRow(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = Printable(cell.text);
  rows_.push_back({std::move(cells), {}});
}

void TextTable::AddNote(std::string_view note) {
  if (!rows_.empty()) rows_.back().notes.push_back(Printable(note));
}

std::string TextTable::Render(const Terminal& terminal) const {
  std::vector<size_t> widths;
  for (const std::string& title : header_) widths.push_back(WidthOf(title));
  for (const Row& row : rows_) {
    for (size_t i = 0; i < row.cells.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row.cells[i].text));
    }
  }
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    size_t pending = 0;  // blanks are written only before text: no trailing ones
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t gap = widths[i] - WidthOf(cells[i].text);
      if (cells[i].is_right_aligned) pending += gap;
      if (!cells[i].text.empty()) {
        line.append(pending, ' ');
        pending = 0;
        line += Paint(terminal, cells[i].colour, cells[i].text);
      }
      if (!cells[i].is_right_aligned) pending += gap;
      pending += 2;
    }
    out += line + "\n";
  };
  std::vector<Cell> titles;
  for (size_t i = 0; i < header_.size(); ++i) {
    const bool is_right =
        !rows_.empty() && i < rows_[0].cells.size() && rows_[0].cells[i].is_right_aligned;
    titles.push_back({header_[i], Colour::kBold, is_right});
  }
  add_line(titles);
  for (const Row& row : rows_) {
    add_line(row.cells);
    for (const std::string& note : row.notes) {
      for (const std::string& line : Wrapped(note, terminal)) {
        out += Paint(terminal, Colour::kDim, "  " + line) + "\n";
      }
    }
  }
  return out;
}

int Print(std::string_view text, int code) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return code;
    if (written <= 0) {
      return Complain({ErrorKind::kUnavailable,
                       fmt::format("the output cannot be written: {}", std::strerror(errno))});
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return code;
}

void HoldStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is taken, which is this one. Read only: writing stays an error.
    static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

}  // namespace tidemark::cli
