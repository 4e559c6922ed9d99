/// Log records of one key told as a chain: Log().Row(3).Deleted(2).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"
#include "support/merge_events.h"

namespace tidemark::support {

inline merge::Profile GetProfile(std::string_view name, const merge::TableSettings& settings) {
  auto profile = merge::MakeProfile(name, settings);
  EXPECT_TRUE(profile.has_value()) << profile.error().message;
  return *std::move(profile);
}

inline merge::Profile EventTimeProfile() {
  return GetProfile("event-time", EventTimeSettings());
}
inline merge::Profile Hudi014(merge::Payload payload = merge::Payload::kEventTime) {
  return GetProfile("hudi-0.14", EventTimeSettings(payload));
}
inline merge::Profile Hudi11() {
  return GetProfile("hudi-1.1", EventTimeSettings(merge::Payload::kNone, 9));
}

/// Each record in a flush of its own unless told otherwise; its row handle is its position.
class Log {
 public:
  explicit Log(merge::ColumnType type = merge::ColumnType::kLong)
      : ordering_(std::make_shared<OrderingOf>(type)) {}

  Log& Row(int rank, uint32_t columns = 0) {
    return Add(merge::Op::kUpsert, ordering_->Data(rank), columns);
  }
  Log& Flagged(int rank, merge::Op op = merge::Op::kDeletedRow) {
    return Add(op, ordering_->Data(rank), 0);
  }
  Log& NullRow() { return Add(merge::Op::kUpsert, ordering_->Null(), 0); }
  Log& Deleted(int rank) { return Deleted(ordering_->Deleted(rank)); }
  Log& DeletedByAll() { return Deleted(ordering_->Sentinel()); }
  Log& Deleted(merge::OrderingValue value) { return Add(merge::Op::kDelete, value, 0); }
  /// The record added last lies in the flush of the one before it.
  Log& SameFlush() {
    merge::Version& last = versions_.back();
    const merge::Place& before = versions_[versions_.size() - 2].place;
    last.place = {before.commit, before.file, last.op == merge::Op::kDelete, last.place.position};
    return *this;
  }
  Log& PartialMode() {
    versions_.back().is_partial_mode = true;
    return *this;
  }

  const std::vector<merge::Version>& versions() const { return versions_; }
  merge::Merged Under(const merge::Profile& profile, const merge::Version* base = nullptr) const {
    return MergeSlice(profile.read, base, versions_);
  }
  /// The position of what is shown, "base", "gone", or "fails".
  std::string Shown(const merge::Profile& profile, const merge::Version* base = nullptr) const {
    const merge::Merged merged = Under(profile, base);
    if (merged.outcome == merge::Merged::Outcome::kReaderFails) return "fails";
    if (!merged.is_live()) return "gone";
    return merged.is_from_base ? "base" : std::to_string(merged.winner.row);
  }

 private:
  Log& Add(merge::Op op, merge::OrderingValue ordering, uint32_t columns) {
    merge::Version version;
    version.op = op;
    version.ordering = ordering;
    version.columns = columns;
    version.row = versions_.size();
    const auto number = static_cast<uint32_t>(versions_.size() + 2);
    version.place = {number, number, op == merge::Op::kDelete, number};
    versions_.push_back(version);
    return *this;
  }

  std::shared_ptr<OrderingOf> ordering_;  // the versions view its bytes
  std::vector<merge::Version> versions_;
};

/// A base row below all of a Log, with the handle 100.
inline merge::Version BaseRow(OrderingOf& ordering, int rank) {
  merge::Version base;
  base.ordering = ordering.Data(rank);
  base.row = 100;
  base.place = {1, 0, 0, 0};
  return base;
}

}  // namespace tidemark::support
