/// A ByteSource as a file of Arrow's.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "columnar/batch_reader.h"

namespace arrow::io {
class RandomAccessFile;
}  // namespace arrow::io

namespace tidemark::columnar {

/// What a source said first when it could not read: Arrow keeps only text. Any thread.
class SourceFailure {
 public:
  void Keep(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;  // by mutex_
};

std::shared_ptr<arrow::io::RandomAccessFile> MakeSourceFile(
    std::shared_ptr<const ByteSource> source, std::shared_ptr<SourceFailure> failure);

}  // namespace tidemark::columnar
