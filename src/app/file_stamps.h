/// What shows that files were changed since they were read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tidemark::app {

/// Files by path, each as it was when it was added. A value.
class FileStamps {
 public:
  /// Looks at the file as it is now. Call it before reading, so that what is written meanwhile
  /// shows. One that is not there is remembered as that; one that was added already stays as it
  /// was.
  void Add(const std::string& path);

  /// The same, as all is now. Costs a stat(2) a file.
  FileStamps Now() const;

  bool empty() const { return files_.empty(); }

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

  std::map<std::string, Stamp> files_;
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
