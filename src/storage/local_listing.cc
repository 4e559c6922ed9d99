#include "storage/local_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "storage/local_file.h"
#include "storage/object_key.h"

namespace tidemark::storage {

namespace {

/// Each level holds one open folder.
constexpr size_t kFolderDepthMax = 128;
constexpr size_t kEntriesPerBudgetCheck = 1024;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// One walk. Single-threaded.
class Walk {
 public:
  Walk(std::string_view uri, const ListOptions& options, const Budget& budget)
      : uri_(uri), options_(options), budget_(budget) {}

  Status ReadFolder(FileDescriptor fd, const std::string& prefix) {
    struct stat stat = {};
    if (::fstat(fd.get(), &stat) != 0) return FailErrno(errno, "listing", NameOf(prefix));
    const Identity identity{stat.st_dev, stat.st_ino};
    if (std::ranges::find(parents_, identity) != parents_.end()) return {};
    if (parents_.size() == kFolderDepthMax) {
      return Fail(ErrorKind::kExhausted, fmt::format("folders nest deeper than {}: folder={}",
                                                     kFolderDepthMax, NameOf(prefix)));
    }
    const Folder folder(::fdopendir(fd.get()));
    if (folder == nullptr) return FailErrno(errno, "listing", NameOf(prefix));
    fd.Release();  // closed by closedir
    parents_.push_back(identity);
    TRY(ReadEntries(folder.get(), prefix));
    parents_.pop_back();
    return {};
  }

  Listing TakeListing() {
    SortListing(listing_);
    return std::move(listing_);
  }

 private:
  struct Identity {
    dev_t device;
    ino_t inode;
    bool operator==(const Identity&) const = default;
  };

  std::string NameOf(std::string_view key) const { return ObjectName(uri_, key); }

  Status ReadEntries(DIR* folder, const std::string& prefix) {
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(folder);
      if (entry == nullptr) break;
      if (seen_++ % kEntriesPerBudgetCheck == 0) TRY(budget_.Check());
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name.starts_with(kUnfinishedPrefix)) continue;
      TRY(Take(::dirfd(folder), *entry, prefix + entry->d_name));
    }
    if (errno != 0) return FailErrno(errno, "listing", NameOf(prefix));
    return {};
  }

  Status Take(int folder, const dirent& entry, std::string key) {
    if (listing_.objects.size() + listing_.folders.size() >= kListEntriesMax) {
      return Fail(ErrorKind::kExhausted, fmt::format("more than {} objects below one folder: at={}",
                                                     kListEntriesMax, NameOf(key)));
    }
    if (key.size() >= kKeyBytesMax)
      return Fail(ErrorKind::kExhausted,
                  fmt::format("a path is longer than {} bytes: at={}", kKeyBytesMax, NameOf(key)));
    // The kind of the entry saves asking for the state of what is not listed anyway.
    if (entry.d_type == DT_REG && key <= options_.start_after) return {};
    if (entry.d_type == DT_DIR) return TakeFolder(folder, entry.d_name, key + '/');
    struct stat stat = {};
    if (::fstatat(folder, entry.d_name, &stat, 0) != 0) {
      // Removed since, or a link to nothing.
      const bool is_nothing = errno == ENOENT || errno == ELOOP || errno == ENOTDIR;
      if (is_nothing && entry.d_type == DT_LNK) listing_.others.push_back(std::move(key));
      if (is_nothing) return {};
      return FailErrno(errno, "listing", NameOf(key));
    }
    if (S_ISDIR(stat.st_mode)) return TakeFolder(folder, entry.d_name, key + '/');
    if (key <= options_.start_after) return {};
    if (!S_ISREG(stat.st_mode)) {
      listing_.others.push_back(std::move(key));
      return {};
    }
    listing_.objects.push_back(
        {std::move(key), static_cast<uint64_t>(stat.st_size), ModifiedOf(stat)});
    return {};
  }

  Status TakeFolder(int parent, const char* name, const std::string& prefix) {
    if (!FolderIsListed(prefix, options_.start_after)) return {};
    if (!options_.is_recursive) {
      listing_.folders.push_back(prefix);
      return {};
    }
    FileDescriptor fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.is_open()) return ReadFolder(std::move(fd), prefix);
    if (errno == ENOENT || errno == ENOTDIR) return {};  // removed since
    return FailErrno(errno, "listing", NameOf(prefix));
  }

  std::string_view uri_;
  const ListOptions& options_;
  const Budget& budget_;
  Listing listing_;
  std::vector<Identity> parents_;
  size_t seen_ = 0;
};

}  // namespace

Result<Listing> ListLocalFolder(const std::string& path, const std::string& prefix,
                                std::string_view uri, const ListOptions& options,
                                const Budget& budget) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return FailErrno(errno, "listing", ObjectName(uri, prefix));
  Walk walk(uri, options, budget);
  TRY(walk.ReadFolder(std::move(fd), prefix));
  return walk.TakeListing();
}

}  // namespace tidemark::storage
