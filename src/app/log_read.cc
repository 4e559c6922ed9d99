#include "app/log_read.h"

#include <fmt/core.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

/// Every record of a data block has it, unless the table keeps no such columns.
const std::string kCountedColumn = "_hoodie_record_key";

/// Root of the store, and the file in it.
struct Place {
  std::string root;
  std::string key;
};

Result<Place> PlaceOf(const std::string& file) {
  const size_t slash = file.rfind('/');
  Place place{slash == file.npos ? std::string(".") : file.substr(0, slash),
              slash == file.npos ? file : file.substr(slash + 1)};
  // A bucket alone, or a file in the root of the file system.
  if (place.root.empty()) place.root.push_back('/');
  if (place.key.empty() || place.root.ends_with(":/")) {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("this names no file: {}", file));
  }
  if (storage::SchemeOf(file) == "file") {
    TRY_ASSIGN(place.key, storage::PercentDecoded(place.key));
  }
  return place;
}

void CountParquetRows(const lake::ColumnReaderSource& columns, lake::hudi::LogListing& listing) {
  for (auto& entry : listing.entries) {
    if (!entry.block || entry.block->kind != lake::hudi::LogBlockKind::kParquetData) continue;
    const auto reader = columns ? columns() : Result<const lake::ColumnReader*>(nullptr);
    if (!reader || *reader == nullptr) return;
    uint64_t rows = 0;
    const auto count = [&rows](std::span<const std::optional<std::string_view>>) -> Status {
      ++rows;
      return {};
    };
    const auto done = (*reader)->ReadRows(entry.block->content, {&kCountedColumn, 1}, count);
    if (done) {
      entry.records = rows;
    } else if (done.error().kind == ErrorKind::kCorrupt) {
      entry.state = lake::hudi::LogEntryState::kDamaged;
      entry.reason = done.error().message;
    }
  }
}

}  // namespace

Result<LogReading> ReadLog(const std::string& file, const storage::StoreOptions& options,
                           const Budget& budget, const FreshnessEdges& edges) {
  TRY_ASSIGN(const Place place, PlaceOf(file));
  TRY_ASSIGN(const auto store, edges.open_store(place.root, options));
  TRY_ASSIGN(auto bytes, store->Read(place.key, budget));
  LogReading reading{file, std::make_unique<const std::string>(std::move(bytes)), {}};
  auto listing = lake::hudi::ListLog(*reading.bytes, budget);
  if (!listing) return std::unexpected(std::move(listing).error().With(file));
  reading.listing = *std::move(listing);
  CountParquetRows(edges.columns, reading.listing);
  return reading;
}

}  // namespace tidemark::app
