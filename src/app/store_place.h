/// What tables share the silence of.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace tidemark::app {

/// "s3://bucket" of a table in a bucket; of a local one "file:" and the mount it lies in, as the
/// system lists it now: a file server that hangs holds up its own tables only. Links in the path
/// are not followed, which might hang. Cost: reads /proc/self/mountinfo.
std::string StorePlaceOf(std::string_view uri);

/// The mount point that holds the absolute `path`, of those in `mountinfo` (proc(5)); "/" when none
/// is named.
std::string MountPointOf(std::string_view path, std::istream& mountinfo);

}  // namespace tidemark::app
