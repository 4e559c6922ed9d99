/// What shows that files were changed since they were read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tidemark::app {

/// Files by path and what patterns match, each as it was when it was added. A value.
class FileStamps {
 public:
  /// Looks at the file as it is now. Call it before reading, so that what is written meanwhile
  /// shows. One that is not there is remembered as that; one that was added already stays as it
  /// was.
  void Add(const std::string& path);

  /// Names in a folder.
  struct Listing {
    std::error_code error{};
    std::vector<std::string> names{};  ///< sorted; none when there is an error

    friend bool operator==(const Listing&, const Listing&) = default;
  };
  /// What is in the folder now and of the pattern (base/glob.h): what comes to it or leaves shows
  /// from now on. The files themselves are not added. Asked again, the same as at first.
  Listing AddMatches(const std::string& folder, const std::string& pattern);

  /// The same, as all is now. Costs a stat(2) a file, and a listing a pattern.
  FileStamps Now() const;

  bool empty() const { return files_.empty() && matches_.empty(); }

  friend bool operator==(const FileStamps&, const FileStamps&) = default;

 private:
  /// As stat(2) gives it. The time of the status tells of files that were put in place with an
  /// older time, and of rights; the inode, of those that came by a rename.
  struct Stamp {
    int error = 0;
    int64_t modified_ns = 0;
    int64_t status_changed_ns = 0;
    int64_t size = 0;
    uint64_t device = 0;
    uint64_t inode = 0;

    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static Stamp StampOf(const std::string& path);

  static Listing ListingOf(const std::string& folder, const std::string& pattern);

  std::map<std::string, Stamp> files_;
  std::map<std::pair<std::string, std::string>, Listing> matches_;  // by folder and pattern
};

/// Says when files that changed have come to rest: half of a file that is being written may be
/// right, too. Single-threaded; the time between two looks is its caller's.
class SettledChange {
 public:
  /// `read`: as they were before they were read.
  explicit SettledChange(FileStamps read) : read_(std::move(read)) {}

  /// Whether the files differ from what was read, and are as the look before found them.
  bool Look();

  /// They were read again, or others are read now.
  void Set(FileStamps read);

 private:
  FileStamps read_;
  std::optional<FileStamps> changing_;
};

}  // namespace tidemark::app
