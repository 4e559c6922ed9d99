/// Which table is meant by a URI or a folder that something has come about in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "app/publisher_parts_internal.h"
#include "storage/folder_watch.h"

namespace tidemark::app {

/// Any thread, but Watch() from one.
class TableWakeUps {
 public:
  /// `wake` is called from any thread and must not wait. Folders of this machine are watched when
  /// `with_folders` says so and the system can.
  TableWakeUps(std::function<void(TableEntry&)> wake, bool with_folders);
  /// No folder wakes anybody after it.
  void Stop() { folders_.reset(); }

  bool Knows(const std::string& base_path) const;
  void Add(TableEntry& table);
  /// The folders of all local tables from now on; they are marked as notified.
  void Watch(std::span<const std::unique_ptr<TableEntry>> tables);
  /// The tables there, or that the object lies in, however its place is written; how many.
  size_t WakeUpAt(std::string_view uri) const;

 private:
  std::function<void(TableEntry&)> wake_;
  mutable std::mutex mutex_;
  std::set<std::string> known_;                                    // guarded; base paths
  std::multimap<std::string, TableEntry*, std::less<>> by_place_;  // guarded; ComparableUri
  std::multimap<std::string, TableEntry*> by_folder_;              // guarded
  std::unique_ptr<storage::FolderWatch> folders_;                  // last: its thread uses the rest
};

}  // namespace tidemark::app
