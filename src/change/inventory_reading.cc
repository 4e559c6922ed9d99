#include "change/inventory_reading.h"

#include "lake/hudi/data_file_name.h"

namespace tidemark::change {

namespace {

/// Hudi pads 14-digit instants with these for comparison, and writes padded ones into file names of
/// upgraded tables.
constexpr std::string_view kPadding = "999";

struct FileOfGroup {
  std::string file_id;
  std::string instant;
};

std::optional<FileOfGroup> FileOfGroupIn(std::string_view name) {
  if (auto base = lake::hudi::ParseBaseFileName(name))
    return FileOfGroup{std::move(base->file_id), std::move(base->instant)};
  if (auto log = lake::hudi::ParseLogFileName(name); log && !log->is_cdc)
    return FileOfGroup{std::move(log->file_id), std::move(log->instant)};
  return std::nullopt;
}

}  // namespace

bool CountedInstants::Counts(std::string_view instant) const {
  if (committed.contains(instant)) return true;
  if (instant.ends_with(kPadding) &&
      committed.contains(instant.substr(0, instant.size() - kPadding.size())))
    return true;
  return !start.empty() && instant < start && !excluded.contains(instant);
}

Inventory ReadInventory(const lake::hudi::PartitionListing& listing,
                        const std::map<InstantKey, InstantEffect>& bodies,
                        const CountedInstants& counted) {
  Inventory inventory;
  // Before the writes: what was replaced never lives again, whichever came first.
  for (const auto& [key, facts] : bodies) {
    if (!counted.committed.contains(key.requested)) continue;
    for (const auto& [path, write] : facts.partitions) inventory.Replace(path, write.replaced);
  }
  for (const auto& partition : listing.partitions) {
    std::vector<std::string> file_ids;
    for (const auto& object : partition.files) {
      const std::string_view key = object.key;
      auto file = FileOfGroupIn(key.substr(key.rfind('/') + 1));
      if (file && counted.Counts(file->instant)) file_ids.push_back(std::move(file->file_id));
    }
    inventory.Write(partition.path, file_ids);
  }
  return inventory;
}

}  // namespace tidemark::change
