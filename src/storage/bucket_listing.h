/// Puts the pages of one S3 listing together, and refuses those that cannot be one listing.
#pragma once

#include <string>

#include "storage/object_store.h"
#include "storage/s3_xml.h"

namespace tidemark::storage {

/// What to ask for, and how to understand the answer. All strings are whole keys of the bucket.
struct S3ListQuestion {
  std::string root;    ///< "" or "a/b/": keys of the listing are relative to it
  std::string prefix;  ///< root + folder
  ListOptions options;

  /// What the request says; may lie before `options.start_after` where servers differ in whether
  /// they give the folder that it lies in.
  std::string StartAfter() const;
};

/// Pages go in in order. Single-threaded.
class S3ListingBuilder {
 public:
  explicit S3ListingBuilder(const S3ListQuestion& question) : question_(question) {}

  /// kCorrupt when an entry lies outside the prefix, does not follow the one before, or the token
  /// is that of the page before; kExhausted when the listing is too long. Names that no key of ours
  /// can have (the empty objects "a/b/" that stand for folders, "a//b") are left out.
  Status Add(ListPage page);

  /// Of the next page; empty when the listing is whole.
  const std::string& next_token() const { return next_token_; }

  Listing TakeListing();

 private:
  Status AddObject(ObjectInfo object);
  Status AddFolder(std::string folder);

  const S3ListQuestion& question_;
  Listing listing_;
  std::string last_key_;
  std::string last_folder_;
  std::string next_token_;
};

}  // namespace tidemark::storage
