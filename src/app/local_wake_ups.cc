#include "app/local_wake_ups.h"

#include <set>
#include <utility>

#include "lake/hudi/timeline.h"
#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

/// Of both layouts: which one a table has may change while it is watched.
constexpr std::string_view kTimelineFolders[] = {"/.hoodie", "/.hoodie/timeline"};

}  // namespace

bool IsWorthALook(std::string_view file) {
  if (file.empty()) return true;
  const auto instant = lake::hudi::ParseInstantFileName(file);
  return instant && instant->state == lake::hudi::State::kCompleted;
}

Result<std::unique_ptr<LocalWakeUps>> LocalWakeUps::Start(
    std::function<void(const std::string& table)> wake) {
  auto started = std::make_unique<LocalWakeUps>();
  started->wake_ = std::move(wake);
  TRY_ASSIGN(started->folders_,
             storage::FolderWatch::Start(
                 [self = started.get()](const auto& sighting) { self->Take(sighting); }));
  return started;
}

void LocalWakeUps::Set(const Config& config) {
  std::multimap<std::string, std::string> tables;
  std::set<std::string> seen;
  for (const PipelineConfig& pipeline : config.pipelines) {
    const std::string& table = pipeline.spec.table;
    const auto uri = storage::ParseStoreUri(table);
    if (!uri || uri->kind != storage::StoreKind::kLocal || !seen.insert(table).second) continue;
    for (const std::string_view folder : kTimelineFolders) {
      tables.emplace(uri->path + std::string(folder), table);
    }
  }
  std::vector<std::string> folders;
  for (const auto& [folder, table] : tables) {
    if (folders.empty() || folders.back() != folder) folders.push_back(folder);
  }
  {
    const std::lock_guard lock(mutex_);
    tables_ = std::move(tables);
  }
  folders_->Set(std::move(folders));
}

void LocalWakeUps::Take(const storage::FolderWatch::Sighting& sighting) {
  if (!IsWorthALook(sighting.file)) return;
  std::vector<std::string> tables;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = tables_.equal_range(sighting.folder);
    for (auto at = begin; at != end; ++at) tables.push_back(at->second);
  }
  for (const std::string& table : tables) wake_(table);
}

}  // namespace tidemark::app
