/// What every subcommand shares: how it is registered, how it ends, how it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

/// The process' answers (contracts §1).
enum ExitCode : int {
  kHealthy = 0,
  kWarning = 1,
  kBreach = 2,
  kUnknown = 3,
  kUsage = 64,
  kUnreadable = 65,
  kUnreachable = 69,
  kBug = 70,
};

/// The exit code of a command that could not do its work.
ExitCode ExitCodeOf(ErrorKind kind);

/// Prints "tidemark: message" to stderr and gives the exit code.
ExitCode Complain(const Error& error);

/// Prints "tidemark: message" to stderr for what the exit code does not tell.
void Warn(std::string_view message);

/// Colour and layout of what goes to stdout.
struct Terminal {
  bool has_colour = false;
  int width = 0;  ///< columns; 0 when stdout is no terminal

  /// From isatty(stdout), NO_COLOR and TERM.
  static Terminal OfStdout();
};

enum class Colour { kPlain, kGreen, kYellow, kRed, kMagenta, kDim, kBold };

/// `text` in `colour` when the terminal has any.
std::string Paint(const Terminal& terminal, Colour colour, std::string_view text);

/// An aligned table: two blanks between columns, no lines, header in bold. Cells and notes are made
/// printable here (base/utf8.h).
class TextTable {
 public:
  struct Cell {
    std::string text;
    Colour colour = Colour::kPlain;
    bool is_right_aligned = false;
  };

  explicit TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

  void AddRow(std::vector<Cell> cells);
  /// Lines below the newest row, across all columns.
  void AddNote(std::string_view note);

  std::string Render(const Terminal& terminal) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::vector<std::string> notes;
  };
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

/// Writes all of `text` to stdout and gives `code`. A reader that went away (`| head`) is no error;
/// output that cannot be written, to a full disk or a closed descriptor, is complained about and
/// gives kUnreachable, because half a report must not look like a whole one.
[[nodiscard]] int Print(std::string_view text, int code = kHealthy);

/// Opens the standard descriptors that the caller left closed, so that no socket or file of ours
/// becomes one of them and is written to. Before anything else is opened.
void HoldStandardDescriptors();

}  // namespace tidemark::cli
