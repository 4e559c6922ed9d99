/// Hears from the kernel what comes about in folders of this machine (inotify(7)).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace tidemark::storage {

/// A hint to look, not a log: sightings may come twice or in another order than the files did, and
/// where the kernel can watch no more, or the folder lies on another machine (NFS), none comes.
/// Whoever must not miss a file lists the folder now and then. Set() from one thread.
class FolderWatch {
  class Loop;

 public:
  /// A file that was closed after writing, or moved in, under the folder's name as given to Set().
  /// `file` is empty when something may have been missed: the folder has come about, or more was
  /// written than the kernel keeps.
  struct Sighting {
    std::string folder;
    std::string file;
  };

  /// `on_sighting` is called by the watch's own thread. kUnavailable where the system gives no
  /// watch.
  static Result<std::unique_ptr<FolderWatch>> Start(std::function<void(Sighting)> on_sighting);

  explicit FolderWatch(std::unique_ptr<Loop> loop);
  /// No sighting comes after it. Not from `on_sighting`.
  ~FolderWatch();

  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// The folders from now on. Those that do not exist are looked for every second, as are those
  /// that go away. One that cannot be watched for another reason is logged once.
  void Set(std::vector<std::string> folders);

 private:
  std::unique_ptr<Loop> loop_;
};

}  // namespace tidemark::storage
