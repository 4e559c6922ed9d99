#include "storage/object_state.h"

#include <fmt/format.h>

namespace tidemark::storage {

std::string ObjectState::tag() const {
  const std::scoped_lock lock(mutex_);
  return tag_;
}

Status ObjectState::Hold(std::string_view tag, std::optional<uint64_t> size,
                         std::string_view name) {
  const std::scoped_lock lock(mutex_);
  if (size && size_) {
    const bool is_fitting = change_ == ObjectChange::kGrow ? *size >= *size_ : *size == *size_;
    if (!is_fitting) return std::unexpected(Changed(name));
  }
  if (!tag.empty() && !tag_.empty() && tag != tag_) return std::unexpected(Changed(name));
  if (size) size_ = size;
  if (tag_.empty()) tag_ = tag;
  return {};
}

Error ObjectState::Changed(std::string_view name) {
  return {ErrorKind::kConflict,
          fmt::format("the object changed while it was read: object={}", name)};
}

}  // namespace tidemark::storage
