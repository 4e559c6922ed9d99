/// A publisher in small for tests of subscribers: it holds a table, and tells of each change the
/// group that the feed would carry, and of the whole table a snapshot.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "change/event_part.h"
#include "change/group.h"
#include "change/schema.h"

namespace tidemark::support {

class ChangePublisher {
 public:
  using Parts = std::vector<change::EventPart>;

  /// Marks: "+p" adds the partition p, "~p" touches it, "-p" drops it.
  change::Group Commit(const std::vector<std::string>& marks) {
    change::Group group = NewGroup();
    group.instant = change::InstantKey{fmt::format("{}{:03}", epoch_, seq_), "commit"};
    group.time = WallTimeFromMillis(1'700'000'000'000 + seq_);
    for (const auto& mark : marks) {
      const std::string path = mark.substr(1);
      auto op = change::PartitionOp::kTouch;
      if (mark[0] == '+') {
        op = change::PartitionOp::kAdd;
        if (partitions_.insert(path).second) digest_ += change::HashOf(path);
      } else if (mark[0] == '-') {
        op = change::PartitionOp::kDrop;
        if (partitions_.erase(path) > 0) digest_ -= change::HashOf(path);
      }
      group.partitions.push_back({.path = path, .op = op});
    }
    group.commit = change::CommitChange{.type = change::CommitType::kCommit};
    return Close(std::move(group));
  }

  /// A commit that also brings a column.
  change::Group CommitSchema(const std::string& column) {
    change::Group group = NewGroup();
    group.instant = change::InstantKey{fmt::format("{}{:03}", epoch_, seq_), "commit"};
    SetColumn(column);
    group.schema = change::SchemaChange{.schema = schema_, .diff = {}};
    group.commit = change::CommitChange{.type = change::CommitType::kCommit};
    return Close(std::move(group));
  }

  change::Group Tell(change::TableReason reason) {
    change::Group group = NewGroup();
    group.table = change::TableChange{.reason = reason};
    return Close(std::move(group));
  }

  /// The table begins anew with these partitions.
  change::Group NextEpoch(change::TableReason reason, const std::set<std::string>& partitions) {
    ++epoch_;
    seq_ = 0;
    previous_.reset();
    partitions_ = partitions;
    digest_ = {};
    for (const auto& path : partitions_) digest_ += change::HashOf(path);
    return Tell(reason);
  }

  change::Snapshot Snapshot() const {
    return {.epoch = epoch_,
            .as_of_seq = seq_,
            .newest = previous_ ? previous_->instant : std::nullopt,
            .schema = schema_,
            .schema_version = schema_version_,
            .partitions = {partitions_.begin(), partitions_.end()},
            .partition_digest = digest_,
            .table_version = 8};
  }

  void SetColumn(const std::string& column) {
    schema_ = {};
    auto& added = schema_.columns.emplace_back();
    added.name = added.path = column;
    added.type = "int";
    added.is_nullable = true;
    schema_.fingerprint = HexOf(change::HashOf(CanonicalText(schema_.columns)));
    ++schema_version_;
  }

  int64_t epoch() const { return epoch_; }
  int64_t seq() const { return seq_; }
  const std::set<std::string>& partitions() const { return partitions_; }
  const change::Schema& schema() const { return schema_; }

 private:
  change::Group NewGroup() {
    return {.epoch = epoch_, .seq = ++seq_, .previous = previous_};
  }
  change::Group Close(change::Group group) {
    group.schema_fingerprint = schema_.fingerprint;
    group.schema_version = schema_version_;
    group.partition_count = static_cast<int64_t>(partitions_.size());
    group.partition_digest = digest_;
    group.table_version = 8;
    previous_ = change::Previous{.seq = group.seq, .instant = group.instant};
    return group;
  }

  int64_t epoch_ = 1;
  int64_t seq_ = 0;
  std::optional<change::Previous> previous_;
  std::set<std::string> partitions_;
  change::Digest digest_;
  change::Schema schema_;
  int64_t schema_version_ = 0;
};

/// The events of a group without their JSON: one part for the schema, one for each partition, one
/// for the rest. Texts of details are made up; digests and hashes fit them.
inline std::vector<change::EventPart> PartsOf(const change::Group& group,
                                              const std::string& uid = "u") {
  std::vector<change::EventPart> parts;
  change::Group frame = group;
  frame.retracted.clear();
  frame.schema.reset();
  frame.partitions.clear();
  frame.commit.reset();
  frame.table.reset();
  const auto add = [&](const std::string& detail) -> change::Group& {
    parts.push_back({.uid = uid, .table_id = "db.t", .base_path = "file:///t", .group = frame});
    parts.back().detail = fmt::format("{} {}", parts.size(), detail);
    return parts.back().group;
  };
  if (!group.retracted.empty()) add("retracted").retracted = group.retracted;
  if (group.schema) add("schema").schema = group.schema;
  for (const auto& partition : group.partitions)
    add(fmt::format("{}{}", PartitionOpName(partition.op), partition.path)).partitions = {
        partition};
  if (group.commit) add("commit").commit = group.commit;
  if (group.table) add("table").table = group.table;
  std::vector<std::string_view> details;
  for (const auto& part : parts) details.push_back(part.detail);
  const auto digest = change::DigestOfDetails(details);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].index = i;
    parts[i].count = parts.size();
    parts[i].group_digest = digest;
    parts[i].body_hash = std::hash<std::string>()(
        fmt::format("{}/{}/{}", group.epoch, group.seq, parts[i].detail));
    parts[i].body_size = 100;
  }
  return parts;
}

/// The pages of a snapshot, `page_size` partitions on each.
inline std::vector<change::EventPart> PagesOf(const change::Snapshot& snapshot, size_t page_size,
                                              const std::string& uid = "u") {
  std::vector<change::EventPart> pages;
  size_t next = 0;
  do {
    change::EventPart page{.uid = uid, .table_id = "db.t", .base_path = "file:///t"};
    page.group = {.epoch = snapshot.epoch,
                  .seq = snapshot.as_of_seq,
                  .source = snapshot.source,
                  .instant = snapshot.newest,
                  .time = snapshot.time,
                  .schema_fingerprint = snapshot.schema.fingerprint,
                  .schema_version = snapshot.schema_version,
                  .partition_count = static_cast<int64_t>(snapshot.partitions.size()),
                  .partition_digest = snapshot.partition_digest,
                  .table_version = snapshot.table_version};
    page.page.emplace();
    if (pages.empty()) page.page->schema = snapshot.schema;
    for (size_t i = 0; i < page_size && next < snapshot.partitions.size(); ++i)
      page.page->partitions.push_back(snapshot.partitions[next++]);
    page.detail = fmt::format("page {} of {}/{}", pages.size(), snapshot.epoch, snapshot.as_of_seq);
    page.body_size = 100;
    pages.push_back(std::move(page));
  } while (next < snapshot.partitions.size());
  std::vector<std::string_view> details;
  for (const auto& page : pages) details.push_back(page.detail);
  const auto digest = change::DigestOfDetails(details);
  for (size_t i = 0; i < pages.size(); ++i) {
    pages[i].index = i;
    pages[i].count = pages.size();
    pages[i].group_digest = digest;
    pages[i].body_hash = std::hash<std::string>()(pages[i].detail);
  }
  return pages;
}

}  // namespace tidemark::support
