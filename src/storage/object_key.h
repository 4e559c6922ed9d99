/// The rules for names that every store shares: what a key is, what a folder is, what a listing
/// leaves out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/object_store.h"

namespace tidemark::storage {

/// Bounds shared by all stores; reaching one is kExhausted.
inline constexpr size_t kListEntriesMax = 5'000'000;
inline constexpr uint64_t kReadBytesMax = uint64_t{2} << 30;
/// The longest path of Linux; S3 itself refuses keys over 1,024 bytes.
inline constexpr size_t kKeyBytesMax = 4096;

/// Files that a local store is still writing are named like this; no key may hold such a part.
inline constexpr std::string_view kUnfinishedPrefix = ".tidemark-put-";

/// "c" of "a/b/c": the name in its folder. Empty for a folder, "a/b/".
constexpr std::string_view NameOf(std::string_view key) {
  return key.substr(key.rfind('/') + 1);
}

/// "a/b" of "a/b/c", "" of "c": the folder without its trailing '/'.
constexpr std::string_view FolderOf(std::string_view key) {
  const size_t slash = key.rfind('/');
  return slash == key.npos ? std::string_view() : key.substr(0, slash);
}

/// true for a relative name whose parts are neither empty, ".", ".." nor of an unfinished file, and
/// that holds no NUL and is not too long.
bool IsKey(std::string_view key);

/// kInvalidArgument for what IsKey refuses, naming `uri` and the key.
Status CheckKey(std::string_view uri, std::string_view key);

/// "a/b" and "a/b/" to "a/b/", "" to ""; kInvalidArgument as for a key.
Result<std::string> FolderPrefix(std::string_view uri, std::string_view folder);

/// The object as the user would write it: "s3://lake/orders" + "a/b". For messages: control
/// characters become \xNN, so that a name cannot make a line of its own.
std::string ObjectName(std::string_view uri, std::string_view key);

/// `text`, cut at the length of a key, with control characters as \xNN. For messages.
std::string Printable(std::string_view text);

/// Whether a listing that starts after `start_after` gives the folder `folder` ("a/b/"): when it
/// sorts behind, or when `start_after` lies inside it, so that later objects of it are not lost.
bool FolderIsListed(std::string_view folder, std::string_view start_after);

/// Sorts both lists by bytes and removes duplicate folders.
void SortListing(Listing& listing);

}  // namespace tidemark::storage
