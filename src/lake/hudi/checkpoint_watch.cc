#include "lake/hudi/checkpoint_watch.h"

#include <algorithm>
#include <utility>

namespace tidemark::lake::hudi {

namespace {

bool IsSame(const storage::ObjectInfo& a, const storage::ObjectInfo& b) {
  return a.key == b.key && a.size == b.size && a.modified == b.modified;
}

bool IsSame(const storage::Listing& a, const storage::Listing& b) {
  return std::ranges::equal(a.objects, b.objects,
                            [](const auto& x, const auto& y) { return IsSame(x, y); }) &&
         a.folders == b.folders;
}

}  // namespace

Result<CheckpointSearch> CheckpointWatch::Look(const Budget& budget) {
  if (seen_) {
    auto listing = store_.List(seen_->folder, {}, budget);
    if (!listing) return std::unexpected(std::move(listing).error());
    if (IsSame(*listing, seen_->listing)) return seen_->search;
    seen_.reset();
  }
  TRY_ASSIGN(const Table table, Table::Open(store_, columns_, budget));
  const std::string folder = table.properties().timeline_folder;
  // Taken before the walk: when a commit comes in between, the next look sees another listing.
  TRY_ASSIGN(storage::Listing listing, store_.List(folder, {}, budget));
  TRY_ASSIGN(CheckpointSearch search, table.FindCheckpoint(options_, budget));
  // A folder without files looks the same when the table has been dropped.
  const bool may_keep = search.commits_unreadable == 0 && !listing.objects.empty();
  if (may_keep) seen_ = Seen{folder, std::move(listing), search};
  return search;
}

}  // namespace tidemark::lake::hudi
