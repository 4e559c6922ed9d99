/// Lists of JSON values spread over as many events as the limits ask for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/change_json.h"

namespace tidemark::api {

/// An entry is never split, so a list of one entry may be over the limit. No entries: no list.
class ListShards {
 public:
  explicit ListShards(const EventLimits& limits)
      : size_max_(limits.body_size_max > kFrameSize ? limits.body_size_max - kFrameSize : 0),
        count_max_(limits.partitions_max) {}

  void Add(const std::string& entry) {
    if (count_ == count_max_ || (count_ > 0 && list_.size() + entry.size() + 1 > size_max_))
      Close();
    if (count_ > 0) list_ += ',';
    list_ += entry;
    ++count_;
  }
  std::vector<std::string> Take() {
    if (count_ > 0) Close();
    return std::move(lists_);
  }

 private:
  /// Room for everything in a body but the list.
  static constexpr size_t kFrameSize = size_t{8} << 10;

  void Close() {
    lists_.push_back("[" + std::exchange(list_, {}) + "]");
    count_ = 0;
  }

  size_t size_max_;
  size_t count_max_;
  std::string list_;
  size_t count_ = 0;
  std::vector<std::string> lists_;
};

}  // namespace tidemark::api
