#include "app/table_wake_ups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/local_wake_ups.h"
#include "app/table_changes.h"
#include "base/log.h"
#include "storage/store_uri.h"

namespace tidemark::app {

TableWakeUps::TableWakeUps(std::function<void(TableEntry&)> wake, bool with_folders)
    : wake_(std::move(wake)) {
  if (!with_folders) return;
  auto started = storage::FolderWatch::Start([this](const auto& sighting) {
    if (!IsWorthALook(sighting.file)) return;
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = by_folder_.equal_range(sighting.folder);
    for (auto at = begin; at != end; ++at) wake_(*at->second);
  });
  if (started) {
    folders_ = *std::move(started);
  } else {
    Log(LogLevel::kWarning, "tables are looked at when they are due: " + started.error().message);
  }
}

bool TableWakeUps::Knows(const std::string& base_path) const {
  const std::lock_guard lock(mutex_);
  return known_.contains(base_path);
}

void TableWakeUps::Add(TableEntry& table) {
  const std::lock_guard lock(mutex_);
  if (!known_.insert(table.base_path).second) return;
  by_place_.emplace(storage::ComparableUri(table.base_path), &table);
}

void TableWakeUps::Watch(std::span<const std::unique_ptr<TableEntry>> tables) {
  if (!folders_) return;
  std::vector<std::string> folders;
  {
    const std::lock_guard lock(mutex_);
    by_folder_.clear();
    for (const auto& table : tables) {
      for (auto& folder : TimelineFoldersOf(table->uri)) {
        table->is_notified = true;
        by_folder_.emplace(folder, table.get());
        folders.push_back(std::move(folder));
      }
    }
  }
  std::ranges::sort(folders);
  folders_->Set(std::move(folders));
}

size_t TableWakeUps::WakeUpAt(std::string_view uri) const {
  const std::string place = storage::ComparableUri(uri);
  size_t woken = 0;
  const std::lock_guard lock(mutex_);
  for (std::string_view at = place;;) {
    const auto [begin, end] = by_place_.equal_range(at);
    for (auto found = begin; found != end; ++found, ++woken) wake_(*found->second);
    const size_t slash = at.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return woken;
    at = at.substr(0, slash);
  }
}

}  // namespace tidemark::app
