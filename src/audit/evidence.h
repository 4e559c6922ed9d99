/// Where a version that a finding rests on stands.
#pragma once

#include "audit/report.h"
#include "merge/key_versions.h"
#include "scan/group_versions.h"

namespace tidemark::audit {

/// As text; nullopt for null, which is no text.
std::optional<std::string> OrderingOrNull(const merge::OrderingValue& ordering);

/// `version` is one of `key`'s, or the delete that no file holds (an evidence without a file).
/// Its files are those of one group of `files`.
Evidence EvidenceOf(const merge::Version& version, const merge::KeyVersions& key,
                    const scan::GroupFiles& files, size_t group);

}  // namespace tidemark::audit
