#include "merge/key_versions.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace tidemark::merge {
namespace {

void Append(const SliceVersions& slice, std::vector<Version>& all) {
  if (slice.base) all.push_back(*slice.base);
  all.insert(all.end(), slice.log.begin(), slice.log.end());
}

/// The delete that a commit did while it rewrote a base file, for which there is no record.
Version UnseenDelete(const SliceVersions& rewritten, const Version& deleted) {
  Version version;
  version.op = Op::kDelete;
  version.ordering = OrderingValue::NoneDeleted({deleted.ordering.column_type(), 0});
  version.place = {rewritten.base_commit, 0, 0, 0};
  return version;
}

}  // namespace

Merged MergeSlice(const Profile& profile, const SliceVersions& slice) {
  return MergeSlice(profile.read, slice.base ? &*slice.base : nullptr, slice.log);
}

Merged MergeKey(const Profile& event_time, const KeyVersions& key) {
  if (key.older.empty()) return MergeSlice(event_time, key.slice);
  std::vector<Version> all;
  const auto add = [&](const SliceVersions& slice) {
    if (slice.base_writer == BaseWriter::kWrite && !slice.base && !all.empty()) {
      const Merged before = MergeHistory(event_time.read, all);
      if (before.is_live()) all.push_back(UnseenDelete(slice, before.winner));
    }
    Append(slice, all);
  };
  for (const SliceVersions& slice : key.older) add(slice);
  add(key.slice);
  return MergeHistory(event_time.read, all);
}

VersionStore::VersionStore(std::vector<Slice> slices) : slices_(std::move(slices)) {
  CHECK(!slices_.empty() && slices_.size() <= std::numeric_limits<uint16_t>::max(),
        "slices of a version store");
}

bool VersionStore::Add(KeyId key, size_t slice, const Version& version) {
  CHECK(slice < slices_.size(), "slice of a version");
  CHECK(entries_.size() < std::numeric_limits<uint32_t>::max(), "versions of a version store");
  if (key >= heads_.size()) heads_.resize(size_t{key} + 1);
  Chain& chain = heads_[key];
  if (version.place.file == 0) {
    for (uint32_t i = chain.first; i != 0; i = entries_[i - 1].next) {
      if (entries_[i - 1].slice == slice && entries_[i - 1].version.place.file == 0) return false;
    }
  }
  entries_.push_back({version, 0, static_cast<uint16_t>(slice)});
  const auto number = static_cast<uint32_t>(entries_.size());
  if (chain.first == 0) {
    chain.first = number;
  } else {
    entries_[chain.last - 1].next = number;
  }
  chain.last = number;
  return true;
}

size_t VersionStore::byte_count() const {
  return entries_.size() * sizeof(Entry) + heads_.capacity() * sizeof(Chain);
}

KeyVersions VersionStore::Of(KeyId key) {
  chain_.clear();
  const uint32_t first = key < heads_.size() ? heads_[key].first : 0;
  for (uint32_t i = first; i != 0; i = entries_[i - 1].next) chain_.push_back(&entries_[i - 1]);
  const auto is_before = [](const Entry* a, const Entry* b) {
    const bool a_in_log = a->version.place.file != 0;
    const bool b_in_log = b->version.place.file != 0;
    return std::tie(a->slice, a_in_log, a->version.place) <
           std::tie(b->slice, b_in_log, b->version.place);
  };
  if (!std::is_sorted(chain_.begin(), chain_.end(), is_before)) {
    std::stable_sort(chain_.begin(), chain_.end(), is_before);
  }
  versions_.clear();
  versions_.reserve(chain_.size());  // the views below must not move
  slice_views_.clear();
  auto entry = chain_.begin();
  for (size_t i = 0; i < slices_.size(); ++i) {
    SliceVersions& slice = slice_views_.emplace_back();
    slice.base_writer = slices_[i].base_writer;
    slice.base_commit = slices_[i].base_commit;
    const size_t log_begin = versions_.size();
    for (; entry != chain_.end() && (*entry)->slice == i; ++entry) {
      if ((*entry)->version.place.file == 0) {
        slice.base = (*entry)->version;
      } else {
        versions_.push_back((*entry)->version);
      }
    }
    slice.log = std::span(versions_).subspan(log_begin);
  }
  return {slice_views_.back(), std::span(slice_views_).first(slice_views_.size() - 1)};
}

}  // namespace tidemark::merge
