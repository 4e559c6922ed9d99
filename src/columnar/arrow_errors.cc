#include <arrow/status.h>
#include <fmt/format.h>
#include <parquet/exception.h>

#include <string>

#include "columnar/arrow_errors_internal.h"

namespace tidemark::columnar {

Error ToError(const arrow::Status& status, std::string_view name) {
  const auto make = [&](ErrorKind kind, std::string_view what) {
    return Error{kind, fmt::format("{} file={} reason={}", what, name, status.message())};
  };
  if (status.IsOutOfMemory() || status.IsCapacityError()) {
    return make(ErrorKind::kExhausted, "columns take too much memory");
  }
  if (status.IsNotImplemented()) {
    return make(ErrorKind::kUnsupported, "columns cannot be read or written");
  }
  return make(ErrorKind::kCorrupt, "parquet file is damaged");
}

Status Guarded(std::string_view name, const std::function<Status()>& work) {
  std::string reason;
  try {
    return work();
  } catch (const parquet::ParquetStatusException& error) {
    return std::unexpected(ToError(error.status(), name));
  } catch (const std::bad_alloc&) {
    return std::unexpected(ToError(arrow::Status::OutOfMemory("no memory"), name));
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "unknown";
  }
  return Fail(ErrorKind::kCorrupt,
              fmt::format("parquet file is damaged file={} reason={}", name, reason));
}

}  // namespace tidemark::columnar
