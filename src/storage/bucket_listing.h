/// Puts the pages of one listing together, and refuses those that cannot be one listing.
#pragma once

#include <string>
#include <vector>

#include "storage/object_store.h"

namespace tidemark::storage {

/// One page of a listing. Keys are whole, as in the bucket.
struct ListPage {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> folders;
  bool is_truncated = false;
  std::string next_token;  ///< not empty exactly when truncated
};

/// How a service sorts: what does not follow that shows a listing that is not whole.
enum class ListOrder {
  kBytes,
  kOwn,  ///< in an order of its own, which depends on the account
};

/// What to ask for, and how to understand the answer. All strings are whole keys of the bucket.
struct ListQuestion {
  std::string root;    ///< "" or "a/b/": keys of the listing are relative to it
  std::string prefix;  ///< root + folder
  ListOptions options;

  /// What the request says; may lie before `options.start_after` where servers differ in whether
  /// they give the folder that it lies in.
  std::string StartAfter() const;
};

/// Pages go in in order. Single-threaded.
class ListingBuilder {
 public:
  explicit ListingBuilder(const ListQuestion& question, ListOrder order = ListOrder::kBytes)
      : question_(question), order_(order) {}

  /// kCorrupt when an entry lies outside the prefix, does not follow the one before, or the token
  /// is that of the page before; kExhausted when the listing is too long. Names that no key of ours
  /// can have (the empty objects "a/b/" that stand for folders, "a//b") are left out.
  Status Add(ListPage page);

  /// Of the next page; empty when the listing is whole.
  const std::string& next_token() const { return next_token_; }

  /// kCorrupt when two objects have one key.
  Result<Listing> TakeListing();

 private:
  Status AddObject(ObjectInfo object);
  Status AddFolder(std::string folder);

  const ListQuestion& question_;
  const ListOrder order_;
  Listing listing_;
  std::string last_key_;
  std::string last_folder_;
  std::string next_token_;
};

}  // namespace tidemark::storage
