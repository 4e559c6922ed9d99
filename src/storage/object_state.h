/// Which object a key named when it was first read.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::storage {

/// What an object may do between two reads of it.
enum class ObjectChange {
  kNone,
  kGrow,  ///< a log that is appended to; on stores that cannot append, none either
};

/// Holds several ranged reads to one object (ObjectStore::ReadInto). Starts empty, or with the size
/// that a listing said. Any thread.
class ObjectState {
 public:
  explicit ObjectState(ObjectChange change = ObjectChange::kNone,
                       std::optional<uint64_t> size = std::nullopt)
      : change_(change), size_(size) {}

  ObjectChange change() const { return change_; }
  /// What the store called the object at the first read; empty before.
  std::string tag() const;
  /// The object is now called `tag` and has `size` bytes, where its store knows. kConflict: at the
  /// first read it was another. `name`: for the message.
  Status Hold(std::string_view tag, std::optional<uint64_t> size, std::string_view name);

  /// What a change is: kConflict.
  static Error Changed(std::string_view name);

 private:
  const ObjectChange change_;
  mutable std::mutex mutex_;
  std::optional<uint64_t> size_;  // guarded by mutex_
  std::string tag_;               // guarded by mutex_
};

}  // namespace tidemark::storage
