#include "audit/evidence.h"

#include <algorithm>
#include <optional>

namespace tidemark::audit {
namespace {

bool Holds(const merge::SliceVersions& slice, const merge::Version& version) {
  if (version.place.file == 0) return slice.base && slice.base->row == version.row;
  return std::ranges::any_of(slice.log, [&](const merge::Version& logged) {
    return logged.place == version.place && logged.row == version.row;
  });
}

/// Which slice of the group it stands in, from 0.
std::optional<size_t> SliceOf(const merge::Version& version, const merge::KeyVersions& key) {
  if (Holds(key.slice, version)) return key.older.size();
  for (size_t i = key.older.size(); i > 0; --i) {
    if (Holds(key.older[i - 1], version)) return i - 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> OrderingOrNull(const merge::OrderingValue& ordering) {
  if (ordering.is_null()) return std::nullopt;
  return OrderingText(ordering);
}

Evidence EvidenceOf(const merge::Version& version, const merge::KeyVersions& key,
                    const scan::GroupFiles& files, size_t group) {
  Evidence evidence;
  evidence.instant = files.ranks().NameOf(version.place.commit);
  evidence.op = version.op == merge::Op::kUpsert ? "upsert" : "delete";
  evidence.ordering = OrderingOrNull(version.ordering);
  evidence.ordering_type = OrderingTypeText(version.ordering);
  const auto at = SliceOf(version, key);
  if (!at) return evidence;
  const auto& slice = files.groups()[group][*at];
  evidence.position = version.place.position;
  if (version.place.file == 0) {
    if (slice.base) evidence.file = slice.base->key;
  } else if (version.place.file <= slice.logs.size()) {
    evidence.file = slice.logs[version.place.file - 1].key;
    evidence.block = version.place.block;
  }
  return evidence;
}

}  // namespace tidemark::audit
