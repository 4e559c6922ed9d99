#include "scan/base_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::scan {
namespace {

/// A reader needs a row group of packed columns and a batch, whatever the logs may hold.
constexpr uint64_t kReaderBytesMin = uint64_t{256} << 20;

class Source final : public columnar::ByteSource {
 public:
  Source(const storage::ObjectStore& store, std::string key, uint64_t size, Budget budget)
      : store_(store),
        key_(std::move(key)),
        size_(size),
        budget_(std::move(budget)),
        state_(storage::ObjectChange::kNone, size) {}

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, std::span<char> into) const override {
    TRY(budget_.Check());
    const auto read = store_.ReadInto(key_, offset, into, state_, budget_);
    if (!read && read.error().kind == ErrorKind::kNotFound) {
      return Fail(ErrorKind::kConflict,
                  fmt::format("file is gone since the table was listed, file={}", key_));
    }
    TRY_ASSIGN(const size_t size, read);
    if (size != into.size()) {
      return Fail(ErrorKind::kConflict,
                  fmt::format("file became shorter while it was read, file={} size={} offset={}",
                              key_, size_, offset));
    }
    return {};
  }

 private:
  const storage::ObjectStore& store_;
  std::string key_;
  uint64_t size_;
  Budget budget_;
  mutable storage::ObjectState state_;  // of one object, however often it is asked for bytes
};

}  // namespace

std::shared_ptr<const columnar::ByteSource> ObjectSource(const storage::ObjectStore& store,
                                                         std::string key, uint64_t size,
                                                         Budget budget) {
  return std::make_shared<Source>(store, std::move(key), size, std::move(budget));
}

Result<std::unique_ptr<columnar::BatchReader>> OpenBaseFile(const ScanTable& table,
                                                            const lake::hudi::BaseFile& file) {
  if (file.name.format != lake::hudi::BaseFileFormat::kParquet) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("base file of a format that is not read, file={} format={}", file.key,
                            BaseFileFormatName(file.name.format)));
  }
  if (file.is_skeleton) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("base file of a bootstrapped table holds Hudi's columns only, file={}",
                            file.key));
  }
  columnar::ReadOptions options;
  options.name = file.key;
  options.batch_rows = kBatchRows;
  options.is_remote = !table.store->is_local();
  options.memory_max = std::max(table.memory_max, kReaderBytesMin);
  options.columns = table.of_files.OfBase(file.key, file.name.instant);
  options.columns.floats = columnar::WidenedFloats::kAsPrinted;  // as every release's reader
  return columnar::OpenParquetSource(ObjectSource(*table.store, file.key, file.size, table.budget),
                                     table.type, std::move(options));
}

}  // namespace tidemark::scan
