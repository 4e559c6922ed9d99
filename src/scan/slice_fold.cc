#include "scan/slice_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tidemark::scan {

using merge::Merged;
using merge::Version;

namespace {

/// What a release's reader throws, in words.
std::string_view FailureText(merge::Reason reason) {
  switch (reason) {
    case merge::Reason::kFailsOnClass:
      return "this release's reader throws on it: ordering values of two Java classes meet";
    case merge::Reason::kFailsOnNull:
      return "this release's reader throws on it: an ordering value is null";
    case merge::Reason::kFailsOnEventSeq:
      return "this release's reader throws on it: _event_seq is no file and position";
    case merge::Reason::kFailsOnDelete:
      return "this release's reader throws on it: a delete with no base row below it";
    default: return "this release's reader throws on it";
  }
}

/// A column that was float and is double now: in the logs up to 1.0.2 a float is the same number.
columnar::WidenedFloats FloatsInLogs(merge::Release release) {
  return release < merge::Release::k1_1 ? columnar::WidenedFloats::kNearest
                                        : columnar::WidenedFloats::kAsPrinted;
}

}  // namespace

SliceFold::SliceFold(const ScanTable& table, std::string place, KeyPass pass, const BatchSink& out)
    : table_(table),
      place_(std::move(place)),
      pass_(pass),
      out_(out),
      rows_(table.type),
      logs_(table.columns, rows_, table.of_files, FloatsInLogs(table.profile.read.release)),
      builder_(table.type) {}

void SliceFold::Report(lake::Finding finding) {
  if (is_first_pass()) table_.findings(std::move(finding));
}

Status SliceFold::Take(const MetVersion& met, bool bytes_live) {
  const uint64_t hash = KeyTable::Hash(met.key);
  if (!pass_.Has(hash)) return {};
  const uint32_t key = keys_.FindOrAdd(met.key, hash);
  if (key == states_.size()) {
    states_.emplace_back();
    fates_.push_back(Fate::kOpen);
    if (!bytes_live) keys_.Rebase(key, rows_.Copy(met.key));
  }
  const auto& rules = table_.profile.read;
  merge::KeyState& state = states_[key];
  const auto keep = [&](Version& version) {
    if (bytes_live) {
      version.row = met.Keep(rows_);
      return;
    }
    MetVersion copied = met;
    copied.record = rows_.Copy(met.record);
    version.row = copied.Keep(rows_);
    version.ordering = logs_.arena().Keep(version.ordering);
  };
  Version version = met.version;
  // Of several layers any may show; else only the winner does, and is kept once it has won.
  const bool has_layers =
      version.columns != 0 || state.layers != nullptr || rules.fill != merge::Fill::kNone;
  if (has_layers) keep(version);
  const merge::Decision decision = FoldLog(rules, state, version);
  if (!has_layers && decision.takes_later) {
    const bool forgets = state.winner.ordering.is_sentinel() && !version.ordering.is_sentinel();
    keep(version);
    state.winner.row = version.row;
    if (!forgets) state.winner.ordering = version.ordering;
  }
  return {};
}

bool SliceFold::IsGoneByItself(const columnar::Batch& batch, size_t row) const {
  const merge::Op op = table_.columns.OpOf(batch, table_.places, row);
  if (op == merge::Op::kUpsert) return false;
  Version base;
  base.op = op;
  return !MergeBase(table_.profile.read, &base, nullptr).is_live();
}

Status SliceFold::MeetBase(const columnar::Batch& batch) {
  stay_.clear();
  const bool asks_keys = has_keys() || pass_.count > 1;
  for (size_t row = 0; row < batch.rows(); row += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, batch.rows() - row);
    if (asks_keys) {
      TRY(MeetKeys(batch, row, count));
    } else {
      for (size_t i = 0; i < count; ++i) MeetNobody(batch, row + i);
    }
  }
  if (stay_.empty()) return {};
  if (stay_.size() == batch.rows()) return GiveOut(batch);
  TRY_ASSIGN(auto staying, Select(batch, stay_));
  return GiveOut(std::move(staying));
}

Status SliceFold::MeetKeys(const columnar::Batch& batch, size_t first, size_t count) {
  const auto lookups = std::span(lookups_).first(count);
  for (size_t i = 0; i < count; ++i) {
    TRY_ASSIGN(lookups[i].key,
               table_.columns.KeyOf(batch, table_.places, first + i, key_scratches_[i]));
    lookups[i].hash = KeyTable::Hash(lookups[i].key);
  }
  keys_.FindMany(lookups);
  for (const auto& lookup : lookups) {
    if (lookup.number) __builtin_prefetch(&states_[*lookup.number]);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!pass_.Has(lookups[i].hash)) continue;
    if (lookups[i].number) {
      TRY(MeetKey(*lookups[i].number, batch, first + i));
    } else {
      MeetNobody(batch, first + i);
    }
  }
  return {};
}

void SliceFold::MeetNobody(const columnar::Batch& batch, size_t row) {
  if (!IsGoneByItself(batch, row)) stay_.push_back(static_cast<uint32_t>(row));
}

Status SliceFold::MeetKey(uint32_t key, const columnar::Batch& batch, size_t row) {
  const auto& rules = table_.profile.read;
  // Of equal keys in a base file the releases merge the first and pass the others on.
  if (fates_[key] != Fate::kOpen && !rules.is_event_time) {
    stay_.push_back(static_cast<uint32_t>(row));
    return {};
  }
  Version base;
  TRY_ASSIGN(base.ordering,
             table_.columns.ordering().Read(batch, table_.places.ordering, row, ordering_scratch_));
  base.op = table_.columns.OpOf(batch, table_.places, row);
  base.row = kBaseRow;
  base.place.position = static_cast<uint32_t>(row);
  const Merged merged = MergeBase(rules, &base, &states_[key], logs_.is_partial_mode());
  if (merged.is_live() && merged.layers.empty() && merged.is_from_base) {
    stay_.push_back(static_cast<uint32_t>(row));
    if (fates_[key] == Fate::kOpen) fates_[key] = Fate::kSettled;
    return {};
  }
  if (fates_[key] != Fate::kOpen) return {};  // the logs' row goes out once
  return Settle(key, merged, {&batch, row});
}

Status SliceFold::Settle(uint32_t key, const Merged& merged, const BaseRow& base) {
  fates_[key] = Fate::kSettled;
  if (merged.outcome == Merged::Outcome::kReaderFails) {
    ReportFailure(keys_.key(key), merged.reason);
    return {};
  }
  if (!merged.is_live()) return {};
  if (!merged.layers.empty()) return Survive(EmitLayers(merged, base), keys_.key(key));
  if (base.batch != nullptr) {
    fates_[key] = Fate::kLogShows;
    return {};
  }
  return Survive(Emit(merged.winner.row), keys_.key(key));
}

Status SliceFold::Finish() {
  for (uint32_t key = 0; key < keys_.size(); ++key) {
    if (fates_[key] == Fate::kLogShows) {
      TRY(Survive(Emit(states_[key].winner.row), keys_.key(key)));
    } else if (fates_[key] == Fate::kOpen) {
      const Merged merged =
          MergeBase(table_.profile.read, nullptr, &states_[key], logs_.is_partial_mode());
      TRY(Settle(key, merged, {}));
    }
  }
  return Flush();
}

Status SliceFold::Emit(merge::RowHandle row) {
  Status done = rows_.Append(row, builder_);
  if (!done && done.error().kind == ErrorKind::kExhausted && builder_.rows() > 0) {
    TRY(Flush());
    done = rows_.Append(row, builder_);
  }
  TRY(done);
  return builder_.rows() < kBatchRows ? Status() : Flush();
}

Status SliceFold::EmitLayers(const Merged& merged, const BaseRow& base) {
  const auto append = [&] {
    return AppendLayers(merged, table_.columns.settings(), logs_, rows_, base, builder_);
  };
  Status done = append();
  if (!done && done.error().kind == ErrorKind::kExhausted && builder_.rows() > 0) {
    TRY(Flush());
    done = append();
  }
  TRY(done);
  return builder_.rows() < kBatchRows ? Status() : Flush();
}

Status SliceFold::Flush() {
  if (builder_.rows() == 0) return {};
  return GiveOut(builder_.Finish());
}

Status SliceFold::GiveOut(columnar::Batch batch) {
  TRY(table_.budget.Check());
  rows_out_ += batch.rows();
  return out_(std::move(batch));
}

Status SliceFold::Survive(Status done, std::string_view key) {
  if (done || done.error().kind != ErrorKind::kCorrupt) return done;
  table_.findings({"corrupt_record", place_,
                   fmt::format("the row that counts cannot be decoded and is missing, key={}: {}",
                               key, done.error().message)});
  return {};
}

void SliceFold::ReportFailure(std::string_view key, merge::Reason reason) {
  table_.findings(
      {"reader_fails", place_,
       fmt::format("{}, key={} profile={}", FailureText(reason), key, table_.profile.name)});
}

}  // namespace tidemark::scan
