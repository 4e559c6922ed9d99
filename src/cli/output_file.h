/// Where the rows of a command go: stdout, or a file that appears only when it is whole.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::cli {

/// kInvalidArgument when the output would lie in the table, a local one, which is read only: a
/// slip would replace its files. Links are followed.
Status CheckOutsideTable(const std::string& output, const std::string& table);

/// Single-threaded. Without Finish() a file is removed again.
class OutputFile {
 public:
  /// Empty `path`: stdout. Otherwise a file beside it is written and renamed at the end; a device
  /// or a pipe is written to as it is. Links are followed, to what is not there yet as well.
  /// kUnavailable: it cannot be made. `stop` ends the waiting for a reader that does not read
  /// (kCancelled).
  static Result<OutputFile> Open(const std::string& path, std::stop_token stop = {});
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// kUnavailable: the disk is full, the descriptor closed, …
  Status Write(std::string_view bytes);
  /// A reader of stdout that went away (`| head`): nothing more is wanted, which is no failure.
  bool is_reader_gone() const { return is_reader_gone_; }
  /// Writes what is held, and gives the file its name.
  Status Finish();

 private:
  OutputFile(std::string path, std::string partial, int descriptor, std::stop_token stop)
      : path_(std::move(path)),
        partial_(std::move(partial)),
        descriptor_(descriptor),
        stop_(std::move(stop)) {}
  Status Flush();
  Status Send(std::string_view left);
  Status WaitForReader() const;

  std::string path_;
  std::string partial_;  // empty for stdout
  int descriptor_ = -1;
  std::stop_token stop_;
  std::string held_;
  bool is_reader_gone_ = false;
};

}  // namespace tidemark::cli
