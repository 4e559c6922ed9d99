#include "storage/bucket_listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/object_key.h"

namespace tidemark::storage {

std::string ListQuestion::StartAfter() const {
  if (options.start_after.empty()) return "";
  std::string whole = root + options.start_after;
  if (options.is_recursive || !whole.starts_with(prefix)) return whole;
  const size_t slash = whole.find('/', prefix.size());
  if (slash == std::string::npos) return whole;
  // "a/b" is before the folder "a/b/", so every server gives it; what it gives besides is left out
  // again.
  return whole.substr(0, slash);
}

Status ListingBuilder::Add(ListPage page) {
  if (page.is_truncated && page.next_token == next_token_) {
    return Fail(ErrorKind::kCorrupt, "the listing does not go on: two pages have one token");
  }
  for (ObjectInfo& object : page.objects) TRY(AddObject(std::move(object)));
  for (std::string& folder : page.folders) TRY(AddFolder(std::move(folder)));
  next_token_ = std::move(page.next_token);
  if (listing_.objects.size() + listing_.folders.size() > kListEntriesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("more than {} objects below one folder", kListEntriesMax));
  }
  return {};
}

Status ListingBuilder::AddObject(ObjectInfo object) {
  if (!object.key.starts_with(question_.prefix)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("a listed object lies outside the folder: key={} prefix={}",
                            Printable(object.key), Printable(question_.prefix)));
  }
  if (order_ == ListOrder::kBytes && !last_key_.empty() && object.key <= last_key_) {
    return Fail(ErrorKind::kCorrupt, fmt::format("listed objects are not in byte order: key={} "
                                                 "after={}",
                                                 Printable(object.key), Printable(last_key_)));
  }
  last_key_ = object.key;
  object.key.erase(0, question_.root.size());
  if (!IsKey(object.key) || object.key <= question_.options.start_after) return {};
  listing_.objects.push_back(std::move(object));
  return {};
}

Status ListingBuilder::AddFolder(std::string folder) {
  if (question_.options.is_recursive || !folder.ends_with('/') ||
      !folder.starts_with(question_.prefix) || folder == question_.prefix) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("not a folder of this listing: folder={} prefix={}", Printable(folder),
                            Printable(question_.prefix)));
  }
  // Servers may repeat a folder whose objects span two pages.
  if (order_ == ListOrder::kBytes && !last_folder_.empty() && folder < last_folder_) {
    return Fail(ErrorKind::kCorrupt, fmt::format("listed folders are not in byte order: folder={} "
                                                 "after={}",
                                                 Printable(folder), Printable(last_folder_)));
  }
  last_folder_ = folder;
  folder.erase(0, question_.root.size());
  if (!IsKey(std::string_view(folder).substr(0, folder.size() - 1)) ||
      !FolderIsListed(folder, question_.options.start_after))
    return {};
  listing_.folders.push_back(std::move(folder));
  return {};
}

Result<Listing> ListingBuilder::TakeListing() {
  SortListing(listing_);
  const auto twice = std::ranges::adjacent_find(listing_.objects, {}, &ObjectInfo::key);
  if (twice != listing_.objects.end())
    return Fail(ErrorKind::kCorrupt,
                fmt::format("an object is listed twice: key={}", Printable(twice->key)));
  return std::move(listing_);
}

}  // namespace tidemark::storage
