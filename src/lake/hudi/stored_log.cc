#include "lake/hudi/stored_log.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tidemark::lake::hudi {

Result<std::string> ReadStretch(const storage::ObjectStore& store, std::string_view key,
                                uint64_t offset, uint64_t size, storage::ObjectState& state,
                                const Budget& budget) {
  std::string bytes;
  Result<size_t> done = size_t{0};
  bytes.resize_and_overwrite(static_cast<size_t>(size), [&](char* into, size_t room) {
    done = store.ReadInto(key, offset, std::span(into, room), state, budget);
    return done.value_or(0);
  });
  if (!done && done.error().kind == ErrorKind::kNotFound) {
    return std::unexpected(storage::ObjectState::Changed(key));
  }
  if (!done) return internal::Pass(done);
  if (*done < size) return std::unexpected(storage::ObjectState::Changed(key));
  return bytes;
}

StoredLog::StoredLog(const storage::ObjectStore& store, std::string key,
                     const StoredLogOptions& options, storage::ObjectState& state,
                     const Budget& budget)
    : store_(store), key_(std::move(key)), options_(options), state_(state), budget_(budget) {
  options_.block_bytes_max = std::max(options.block_bytes_max, options.stretch_bytes);
}

Result<std::string_view> StoredLog::At(uint64_t offset, uint64_t count) {
  if (offset >= size()) return std::string_view();
  count = std::min(count, size() - offset);
  const bool is_inside = offset >= begin_ && offset - begin_ <= stretch_.size();
  std::string_view there;
  if (is_inside) there = std::string_view(stretch_).substr(static_cast<size_t>(offset - begin_));
  if (is_inside && there.size() >= count) return there;
  TRY(budget_.Check());
  const uint64_t more = std::min(std::max(count, options_.stretch_bytes), size() - offset);
  TRY_ASSIGN(stretch_, ReadStretch(store_, key_, offset, more, state_, budget_));
  begin_ = offset;
  bytes_read_ += more;
  return std::string_view(stretch_);
}

}  // namespace tidemark::lake::hudi
