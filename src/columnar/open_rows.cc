// The functions of batch_reader.h and batch_writer.h that lead into the module.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "columnar/batch_reader.h"
#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "columnar/module.h"
#include "columnar/text_writer_internal.h"

namespace tidemark::columnar {
namespace {

// A file of this machine, read with pread: a mapping would end the program when somebody cuts the
// file short.
class LocalSource final : public ByteSource {
 public:
  LocalSource(int descriptor, uint64_t size, std::string path)
      : descriptor_(descriptor), size_(size), path_(std::move(path)) {}
  ~LocalSource() override { close(descriptor_); }
  LocalSource(const LocalSource&) = delete;
  LocalSource& operator=(const LocalSource&) = delete;

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, std::span<char> into) const override {
    while (!into.empty()) {
      const ssize_t taken =
          pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
      if (taken < 0 && errno == EINTR) continue;
      if (taken < 0) {
        return Fail(ErrorKind::kUnavailable, fmt::format("file cannot be read path={} reason={}",
                                                         path_, std::strerror(errno)));
      }
      if (taken == 0) {
        return Fail(ErrorKind::kConflict,
                    fmt::format("file became shorter while it was read path={}", path_));
      }
      offset += static_cast<uint64_t>(taken);
      into = into.subspan(static_cast<size_t>(taken));
    }
    return {};
  }

 private:
  int descriptor_;
  uint64_t size_;
  std::string path_;
};

Result<std::shared_ptr<const ByteSource>> OpenLocal(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    const auto kind = reason == ENOENT || reason == ENOTDIR ? ErrorKind::kNotFound
                      : reason == EACCES                    ? ErrorKind::kDenied
                                                            : ErrorKind::kUnavailable;
    return Fail(
        kind, fmt::format("file cannot be opened path={} reason={}", path, std::strerror(reason)));
  }
  return std::make_shared<const LocalSource>(descriptor, static_cast<uint64_t>(status.st_size),
                                             path);
}

}  // namespace

std::optional<std::string> FileSchemaJson(const BatchReader& reader) {
  return reader.Metadata("parquet.avro.schema");
}

Result<std::unique_ptr<BatchReader>> OpenParquetFile(const std::string& path, const RowType& type,
                                                     ReadOptions options) {
  TRY_ASSIGN(auto source, OpenLocal(path));
  if (options.name.empty()) options.name = path;
  options.is_remote = false;
  return OpenParquetSource(std::move(source), type, std::move(options));
}

Result<std::unique_ptr<BatchReader>> OpenParquetBytes(std::string_view bytes,
                                                      std::shared_ptr<const void> owner,
                                                      const RowType& type, ReadOptions options) {
  TRY_ASSIGN(const Module* module, LoadModule());
  return module->OpenBytes(bytes, std::move(owner), type, options);
}

Result<std::unique_ptr<BatchReader>> OpenParquetSource(std::shared_ptr<const ByteSource> source,
                                                       const RowType& type, ReadOptions options) {
  TRY_ASSIGN(const Module* module, LoadModule());
  return module->OpenSource(std::move(source), type, options);
}

Result<std::unique_ptr<BatchWriter>> OpenBatchWriter(RowFormat format, const RowType& type,
                                                     ByteSink sink, WriteOptions options) {
  if (format == RowFormat::kJsonLines || format == RowFormat::kCsv) {
    return MakeTextWriter(format, type, std::move(sink));
  }
  TRY_ASSIGN(const Module* module, LoadModule());
  return module->OpenWriter(format, type, std::move(sink), options);
}

}  // namespace tidemark::columnar
