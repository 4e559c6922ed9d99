/// What tables share the silence of.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::app {

/// Where stores begin and end, as the system has it at one moment. Immutable; any thread.
class StorePlaces {
 public:
  /// Reads /proc/self/mountinfo.
  StorePlaces();
  /// Of a text such as that (proc(5)).
  explicit StorePlaces(std::istream& mountinfo);

  /// "s3://bucket" of a table in a bucket; of a local one "file:" and the mount it lies in: a file
  /// server that hangs holds up its own tables only. Links in the path are not followed, which
  /// might hang.
  std::string Of(std::string_view uri) const;

  /// The mount point that holds the absolute `path`; "/" when none is named.
  std::string MountPointOf(std::string_view path) const;

 private:
  std::vector<std::string> mounts_;
};

}  // namespace tidemark::app
