/// Where a version that a finding rests on stands.
#pragma once

#include "audit/report.h"
#include "merge/key_versions.h"
#include "scan/group_versions.h"

namespace tidemark::audit {

/// `version` is one of `key`'s, or the delete that no file holds (an evidence without a file).
/// `files` are those of one group.
Evidence EvidenceOf(const merge::Version& version, const merge::KeyVersions& key,
                    const scan::GroupFiles& files);

}  // namespace tidemark::audit
