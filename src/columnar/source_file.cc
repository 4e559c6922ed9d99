#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <algorithm>
#include <utility>

#include "columnar/source_file_internal.h"

namespace tidemark::columnar {

namespace {

class SourceFile final : public arrow::io::RandomAccessFile {
 public:
  SourceFile(std::shared_ptr<const ByteSource> source, std::shared_ptr<SourceFailure> failure)
      : source_(std::move(source)), failure_(std::move(failure)) {}

  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(source_->size()); }
  using RandomAccessFile::ReadAt;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override;

  arrow::Result<int64_t> Read(int64_t size, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override;
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }

 private:
  std::shared_ptr<const ByteSource> source_;
  int64_t position_ = 0;
  bool is_closed_ = false;
  std::shared_ptr<SourceFailure> failure_;
};

arrow::Result<int64_t> SourceFile::ReadAt(int64_t position, int64_t size, void* out) {
  const auto end = static_cast<int64_t>(source_->size());
  if (position < 0 || size < 0 || position > end) {
    return arrow::Status::Invalid("bytes asked for lie outside of the file");
  }
  size = std::min(size, end - position);
  const auto done = source_->ReadAt(static_cast<uint64_t>(position),
                                    std::span(static_cast<char*>(out), static_cast<size_t>(size)));
  if (done) return size;
  failure_->Keep(done.error());
  return arrow::Status::IOError(done.error().message);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::ReadAt(int64_t position, int64_t size) {
  // A damaged file asks for any size: no more is taken than there is.
  const auto end = static_cast<int64_t>(source_->size());
  if (position < 0 || size < 0 || position > end) {
    return arrow::Status::Invalid("bytes asked for lie outside of the file");
  }
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateResizableBuffer(std::min(size, end - position)));
  ARROW_RETURN_NOT_OK(ReadAt(position, buffer->size(), buffer->mutable_data()));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> SourceFile::Read(int64_t size, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t taken, ReadAt(position_, size, out));
  position_ += taken;
  return taken;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::Read(int64_t size) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size));
  position_ += buffer->size();
  return buffer;
}

arrow::Status SourceFile::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("seek before the file");
  position_ = position;
  return arrow::Status::OK();
}

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> MakeSourceFile(
    std::shared_ptr<const ByteSource> source, std::shared_ptr<SourceFailure> failure) {
  return std::make_shared<SourceFile>(std::move(source), std::move(failure));
}

}  // namespace tidemark::columnar
