/// Named, immutable-once-written byte strings under one root: a local folder, a bucket prefix, or
/// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/object_state.h"

namespace tidemark::storage {

/// Room that Read leaves behind the bytes in the string's capacity: parsers that look at 64 bytes
/// at once need it, and making it later copies the whole object.
inline constexpr size_t kReadRoomBytes = 64;

/// One object of a listing. `key` is relative to the store's root, '/'-separated, never with a
/// leading '/'.
struct ObjectInfo {
  std::string key;
  uint64_t size = 0;    ///< bytes
  WallTime modified{};  ///< the store's clock; whole seconds on S3
};

struct ListOptions {
  /// Only keys that are byte-wise strictly greater. Empty: from the beginning. Relative to the
  /// root, like `key`. A folder that it lies in is still given: later objects may be in there.
  std::string start_after;
  /// true: every object below the prefix. false: only the objects directly in the folder; deeper
  /// ones are summed up as `folders`.
  bool is_recursive = false;
};

/// A whole listing: a store that cannot deliver all of it returns an Error instead, never a shorter
/// list.
struct Listing {
  std::vector<ObjectInfo> objects;  ///< by key, byte-wise ascending
  std::vector<std::string>
      folders;  ///< only when not recursive: "a/b/", ascending, with the trailing '/'
  /// Names of what is neither a regular file nor a folder (links to nothing, pipes), as keys, in no
  /// order. A local folder may have such.
  std::vector<std::string> others;
};

/// One contract, run as one test suite on every implementation
/// (tests/contract/object_store_contract.h).
///
/// Errors of every method: kNotFound (object, folder's bucket or root is missing), kDenied
/// (credentials missing or refused), kUnavailable (no answer within the budget; already retried as
/// it allows), kCancelled, kInvalidArgument (a key with an empty, "." or ".." part or a NUL),
/// kCorrupt (an answer that is not of the protocol), kExhausted (a bound of storage/object_key.h),
/// kUnsupported (the server or file system lacks what it takes). Messages name the object as the
/// user would write it (`uri()` + key).
///
/// Any thread may call any method at any time; a method blocks its caller only.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Root as the user would write it, without trailing '/', e.g. "s3://lake/orders". Never holds a
  /// secret.
  virtual const std::string& uri() const = 0;

  /// Lists below `folder`: "" is the root, otherwise "a/b/" (the trailing '/' may be missing and
  /// means the same). A folder without objects gives an empty listing on every store, also where
  /// the folder does not exist. What no key can name ("a//b", the empty objects "a/" that stand for
  /// folders) is left out. Cost: one request per 1,000 entries on S3; one directory read per folder
  /// locally.
  virtual Result<Listing> List(std::string_view folder, const ListOptions& options,
                               const Budget& budget) const = 0;

  /// The whole object as it was at one moment, with kReadRoomBytes to spare.
  virtual Result<std::string> Read(std::string_view key, const Budget& budget) const = 0;

  /// The same of an object that is small by its nature: kExhausted when it has more than
  /// `bytes_max` bytes. A store of ours stops there; the default reads the whole object and then
  /// looks.
  virtual Result<std::string> ReadUpTo(std::string_view key, uint64_t bytes_max,
                                       const Budget& budget) const;

  /// Bytes [offset, offset + length). Shorter only where the object ends; empty at or past its end.
  virtual Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                        const Budget& budget) const = 0;

  /// The same into memory of the caller's: how many bytes it were. All reads with one `state` are
  /// of one object; kConflict when another one has its key now, or it was written over since. The
  /// default copies what ReadRange gives, and sees no change.
  virtual Result<size_t> ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                  ObjectState& state, const Budget& budget) const;

  /// Whether a request costs no more than the reading itself: pieces need not be asked for ahead.
  virtual bool is_local() const { return false; }

  /// Size and time of one object. A folder is not an object: kNotFound.
  virtual Result<ObjectInfo> Stat(std::string_view key, const Budget& budget) const = 0;

  /// Writes or replaces the object; a reader sees the old bytes or the new ones, never a part.
  virtual Status Put(std::string_view key, std::string_view bytes, const Budget& budget) = 0;

  /// Writes the object unless it exists: of several writers exactly one succeeds, the others get
  /// kConflict. After kUnavailable the object may exist all the same: read it back.
  virtual Status PutIfAbsent(std::string_view key, std::string_view bytes,
                             const Budget& budget) = 0;

  /// Removes the object; removing what is not there is no error.
  virtual Status Remove(std::string_view key, const Budget& budget) = 0;
};

/// How to reach a store that needs more than its URI. Fields left empty come from the usual places
/// (environment, profile files, instance metadata). What another service knows is not looked at.
struct StoreOptions {
  std::string endpoint;               ///< "http://127.0.0.1:9000"; empty: the provider's own
  std::string region;                 ///< S3; empty: environment, profile, then us-east-1
  bool is_anonymous = false;          ///< no credentials are sent
  std::optional<bool> is_path_style;  ///< S3; unset: path style exactly when `endpoint` is set
  std::string credentials_file;       ///< Google: a key of a service account, or what gcloud wrote
  std::string account_key;            ///< Azure, in base64; a secret
  std::string sas_token;              ///< Azure, "sv=…&sig=…"; a secret

  friend bool operator==(const StoreOptions&, const StoreOptions&) = default;
};

/// Opens the store whose root is `uri`: a local path, file://, s3:// (also s3a://, s3n://), gs://,
/// abfs[s]:// (also wasb[s]://, az://), memory://NAME (tests). kInvalidArgument for what is none of
/// these or has no bucket; kUnsupported for a known scheme that is not built in. Makes no request:
/// a missing table shows at the first read.
Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view uri, const StoreOptions& options);

}  // namespace tidemark::storage
