/// Tables on this machine say themselves when they were changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "base/error.h"
#include "storage/folder_watch.h"

namespace tidemark::app {

/// Whether a file of a timeline folder that has just come about is worth a look: a completed
/// instant, or "", when any may have.
bool IsWorthALook(std::string_view file);

/// Wakes pipelines when a commit completes in their table, where that lies in a local folder. A
/// hint as every wake-up: what is missed is found at the pipeline's next moment.
class LocalWakeUps {
 public:
  /// `wake` gets the table as the configuration names it, in a thread of its own. kUnavailable
  /// where the system gives no watch.
  static Result<std::unique_ptr<LocalWakeUps>> Start(
      std::function<void(const std::string& table)> wake);

  /// Whose tables are watched from now on. From one thread.
  void Set(const Config& config);

 private:
  void Take(const storage::FolderWatch::Sighting& sighting);

  std::function<void(const std::string& table)> wake_;
  std::mutex mutex_;
  std::multimap<std::string, std::string> tables_;  // by timeline folder
  std::unique_ptr<storage::FolderWatch> folders_;   // last: its thread uses the rest
};

}  // namespace tidemark::app
