/// All versions of one key that the retained slices of a file group still hold, and the right
/// result over them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"

namespace tidemark::merge {

/// Which commit wrote the base file of a slice.
enum class BaseWriter : uint8_t {
  kNone,  ///< there is no base file
  kCompaction,
  /// A commit that merged new records into the file before and stored only the result:
  /// copy-on-write, or inserts packed into a small file. Its deletes are in no file.
  kWrite,
};

/// What one slice holds of a key.
struct SliceVersions {
  std::optional<Version> base;   ///< place.file is 0
  std::span<const Version> log;  ///< oldest first
  BaseWriter base_writer = BaseWriter::kNone;
  /// Rank of the instant that wrote the base file, which is not that of the rows it carried along.
  uint32_t base_commit = 0;
};

struct KeyVersions {
  SliceVersions slice;                     ///< the one that readers read
  std::span<const SliceVersions> older{};  ///< retained ones before it, oldest first
};

/// R1-R7 over every version of the key. A row that compactions carried along does not arrive again.
/// Where a kWrite base file no longer has a row that was right before, its commit deleted it (with
/// an unknown value, so as R5 has it). `event_time` is the profile of that name.
Merged MergeKey(const Profile& event_time, const KeyVersions& key);

/// What `profile` makes of the slice alone.
Merged MergeSlice(const Profile& profile, const SliceVersions& slice);

/// Collects the versions of many keys as files are read, and hands them out key by key; 56 bytes a
/// version and 8 a key, plus what their ordering values view. Whoever fills it looks at
/// byte_count() and takes fewer keys at a time when it is too much. Single-threaded.
class VersionStore {
 public:
  using KeyId = uint32_t;  ///< dense, from 0: the store has a slot for each id below the highest

  struct Slice {
    BaseWriter base_writer = BaseWriter::kNone;
    uint32_t base_commit = 0;
  };
  /// Oldest first; the last is the one that readers read. REQUIRES: 1 … 65535 slices.
  explicit VersionStore(std::vector<Slice> slices);

  /// A version with place.file 0 is the slice's base row. False, and not kept: the slice has a base
  /// row of this key already.
  [[nodiscard]] bool Add(KeyId key, size_t slice, const Version& version);

  size_t key_count() const { return heads_.size(); }
  size_t version_count() const { return entries_.size(); }
  size_t byte_count() const;

  /// Every version of the key in the order of slices and places. Valid until the next call.
  KeyVersions Of(KeyId key);

 private:
  struct Entry {
    Version version;
    uint32_t next = 0;
    uint16_t slice = 0;
  };
  struct Chain {
    uint32_t first = 0;  // index + 1; 0: none
    uint32_t last = 0;
  };

  std::vector<Slice> slices_;
  std::deque<Entry> entries_;  // grows without copying
  std::vector<Chain> heads_;
  std::vector<const Entry*> chain_;         // of the key asked for last, …
  std::vector<Version> versions_;           // … its log versions
  std::vector<SliceVersions> slice_views_;  // … and what Of() gives views of
};

}  // namespace tidemark::merge
