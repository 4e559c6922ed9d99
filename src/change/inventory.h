/// Which partitions of a table a reader sees, and why: the file groups that are alive in each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "change/digest.h"

namespace tidemark::change {

/// A partition exists as long as a file group lives in it. A group lives from the first commit that
/// writes to it until one replaces it, and never comes back: what a late commit writes to a
/// replaced group no reader sees (hudi-format, replacecommits). A value; cost of a change:
/// logarithmic in the partitions, linear in the groups of the one.
class Inventory {
 public:
  /// A commit wrote to the file groups; no change for those that live already or were replaced.
  void Write(std::string_view partition, std::span<const std::string> file_ids);
  /// A commit replaced the file groups, be they known or not.
  void Replace(std::string_view partition, std::span<const std::string> file_ids);

  bool Contains(std::string_view partition) const { return groups_.contains(partition); }
  size_t partition_count() const { return groups_.size(); }
  /// Sum of HashOf(path) over the partitions.
  const Digest& digest() const { return digest_; }
  /// Byte-wise ascending. The table without partitions has one, named "".
  std::vector<std::string> Partitions() const;

  /// Partitions of this one that `other` has not, ascending.
  std::vector<std::string> Beyond(const Inventory& other) const;

 private:
  // Hashes of file ids, ascending. A hash is enough: of a million groups in one partition, two
  // share one with a chance of 1 in 30 million.
  std::map<std::string, std::vector<uint64_t>, std::less<>> groups_;
  std::unordered_set<uint64_t> replaced_;  // hashes of partition and file id
  Digest digest_;
};

}  // namespace tidemark::change
