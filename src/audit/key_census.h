/// Which keys more than one file group holds, found out while the groups are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"

namespace tidemark::audit {

/// What a census came to.
struct SharedKeys {
  /// Hashes of keys that several groups of one partition hold, or, when keys are unique in the
  /// whole table, any groups; ascending.
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> keys_of;    ///< by group: how many keys it holds …
  std::vector<uint64_t> shared_of;  ///< … and how many of them are in `hashes`
  /// Keys that several partitions show, where each partition has keys of its own.
  uint64_t shown_in_partitions = 0;
  struct Example {
    uint64_t hash = 0;
    size_t group = 0;
    size_t other = 0;
  };
  std::optional<Example> example;  ///< of these
};

/// Counts hashes instead of keys, eight bytes a key and group. What does not fit is counted in
/// further rounds, each over a range of hashes, for which the groups are read again. Any thread.
class KeyCensus {
 public:
  /// `partitions`: a number for each group. REQUIRES: bytes_max > 0.
  KeyCensus(std::vector<uint32_t> partitions, bool keys_are_global, uint64_t bytes_max);

  /// What stands for a key whose newest slice shows it, or not, by event time.
  static uint64_t EntryOf(uint64_t hash, bool is_shown) {
    return (hash & ~uint64_t{1}) | static_cast<uint64_t>(is_shown);
  }
  /// Some keys of a group, each once in a round.
  void Add(size_t group, std::vector<uint64_t> entries);

  /// Ends a round. False: there is more to count, in another round over all groups. kExhausted: too
  /// many rounds, or too many keys are shared.
  Result<bool> EndRound();
  const SharedKeys& shared() const { return shared_; }

 private:
  struct Run {
    size_t group = 0;
    std::vector<uint64_t> entries;  // ascending
  };

  struct Holder {
    uint32_t partition = 0;
    size_t group = 0;
    bool is_shown = false;

    friend auto operator<=>(const Holder&, const Holder&) = default;
  };

  void Narrow();
  void Tally();
  void TallyKey(uint64_t hash, std::vector<Holder>& holders);

  const std::vector<uint32_t> partitions_;
  const bool keys_are_global_;
  const uint64_t entries_max_;
  std::mutex mutex_;
  uint64_t first_ = 0;            // of the round's hashes …
  uint64_t last_ = ~uint64_t{0};  // … and the last of them
  std::vector<Run> runs_;
  uint64_t entries_ = 0;  // in all runs
  uint32_t rounds_ = 0;
  bool is_full_ = false;
  SharedKeys shared_;
};

}  // namespace tidemark::audit
