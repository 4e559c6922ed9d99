// What past compactions made of the slices before them.
#include <fmt/format.h>

#include <algorithm>

#include "merge/explain_internal.h"

namespace tidemark::merge {
namespace {

const SliceVersions& SliceAt(const KeyVersions& key, size_t index) {
  return index < key.older.size() ? key.older[index] : key.slice;
}

bool Holds(const SliceVersions& slice, const Version& version) {
  return (slice.base && IsSameRecord(*slice.base, version)) ||
         std::any_of(slice.log.begin(), slice.log.end(),
                     [&](const Version& logged) { return IsSameRecord(logged, version); });
}

/// A base row as a result, which is what a compaction left of all layers.
Merged ResultOf(const Profile& event_time, const std::optional<Version>& base) {
  return MergeSlice(event_time.read, base ? &*base : nullptr, {});
}

bool IsSameRow(const std::optional<Version>& a, const std::optional<Version>& b) {
  return a.has_value() == b.has_value() && (!a || IsSameRecord(*a, *b));
}

/// Of the readers the one whose compaction of `before` gives `base`.
const Profile* FindCompactor(std::span<const Profile> readers, const SliceVersions& before,
                             const std::optional<Version>& base) {
  for (const Profile& reader : readers) {
    const Version* row = before.base ? &*before.base : nullptr;
    if (IsSameRow(CompactSlice(reader.read, row, before.log), base)) return &reader;
  }
  return nullptr;
}

/// All that lies before slice `index`.
KeyVersions Before(const KeyVersions& key, size_t index) {
  return {key.older[index - 1], key.older.first(index - 1)};
}

MergeFinding PastFinding(const PastFault& fault, const Merged& right, const Merged& written) {
  MergeFinding finding;
  finding.kind = FindingKind::kPastCompaction;
  finding.severity = SeverityOf(finding.kind);
  finding.evidence = {right.winner};
  if (fault.version) finding.evidence.push_back(*fault.version);
  if (written.is_live() && !(fault.version && IsSameRecord(written.winner, *fault.version))) {
    finding.evidence.push_back(written.winner);
  }
  finding.right = right;
  finding.shown = written;
  finding.rests_on_history = true;
  finding.past_commit = fault.written->base_commit;
  finding.explanation = fmt::format("{}; newer versions have come since", fault.text);
  return finding;
}

}  // namespace

std::optional<size_t> FindPast(const KeyVersions& key, const Version& right) {
  for (size_t i = key.older.size(); i > 0; --i) {
    if (Holds(key.older[i - 1], right)) return i;
  }
  return std::nullopt;
}

std::optional<LostVersion> FindLost(const Rules& event_time, const KeyVersions& key,
                                    const Version& right) {
  std::optional<Version> lost;
  if (!Holds(key.slice, right)) {
    lost = right;
  } else {
    for (const SliceVersions& slice : key.older) {
      for (const Version& version : slice.log) {
        if (IsSentinelDelete(event_time, version)) lost = version;
      }
    }
  }
  const auto index = lost ? FindPast(key, *lost) : std::nullopt;
  return index ? std::optional(LostVersion{*lost, *index}) : std::nullopt;
}

PastFault ExplainPast(const Profile& event_time, std::span<const Profile> readers,
                      const KeyVersions& key, size_t index, const Version& right) {
  const SliceVersions& written = SliceAt(key, index);
  const SliceVersions& before = SliceAt(key, index - 1);
  PastFault fault{&written, std::nullopt, {}};
  const bool is_write = written.base_writer == BaseWriter::kWrite;
  const std::string dropped =
      fmt::format("a past {} dropped the {}", is_write ? "write of the base file" : "compaction",
                  VersionText(right));
  if (IsDelete(event_time.read, right.op) && !written.base) {
    fault.text = dropped + ": base files keep no deletes, so older data that comes later lives";
    return fault;
  }
  if (is_write) {
    fault.version = written.base;
    fault.text = dropped;
    return fault;
  }
  const Profile* compactor = FindCompactor(readers, before, written.base);
  if (compactor == nullptr) {
    fault.version = written.base;
    fault.text = dropped + ", and none of the readers asked about does so";
    return fault;
  }
  const Culprit culprit = FindCulprit(compactor->read, before, right);
  fault.version = culprit.version;
  fault.text =
      fmt::format("{}: {}", dropped, RuleText(*compactor, event_time, before, culprit, right));
  return fault;
}

std::vector<MergeFinding> ReplayCompactions(const Profile& event_time,
                                            std::span<const Profile> readers,
                                            const KeyVersions& key) {
  std::vector<MergeFinding> findings;
  const Merged now = MergeKey(event_time, key);
  std::optional<Version> reported;
  for (size_t i = 1; i <= key.older.size(); ++i) {
    const SliceVersions& slice = SliceAt(key, i);
    if (slice.base_writer != BaseWriter::kCompaction) continue;
    const Merged right = MergeKey(event_time, Before(key, i));
    Merged written = ResultOf(event_time, slice.base);
    written.layers = right.layers;  // put together into one row
    const auto kind = CompareResults(right, written);
    const bool is_told = reported && IsSameRecord(*reported, right.winner);
    // What is wrong to this day is the difference of the current results.
    if (!kind || is_told || IsSameRecord(right.winner, now.winner)) continue;
    reported = right.winner;
    if (findings.size() == kEvidenceMax) break;
    // The right version may have been lost further back than here.
    const auto past = FindPast(Before(key, i), right.winner);
    const bool is_before = past && !Holds(SliceAt(key, i - 1), right.winner);
    const PastFault fault =
        ExplainPast(event_time, readers, key, is_before ? *past : i, right.winner);
    findings.push_back(PastFinding(fault, right, written));
  }
  return findings;
}

}  // namespace tidemark::merge
