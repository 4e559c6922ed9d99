/// What the change feed says beside its groups: that all is well, and where a table stands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/change_json.h"
#include "base/clock.h"

namespace tidemark::api {

/// Where the stream of one table ends.
struct TableHead {
  std::string uid{};
  int64_t epoch = 0;
  int64_t seq = 0;
  WallTime checked{};  ///< when its timeline was last read

  friend bool operator==(const TableHead&, const TableHead&) = default;
};

/// Bookmarks of one event partition (change-feed P6), as many as the limits ask for; none for no
/// tables.
std::vector<ChangeEvent> BookmarkEvents(int32_t partition, std::span<const TableHead> heads,
                                        WallTime now, const EventLimits& limits);

/// The record "<uid>/head" of the state topic.
struct StateHead {
  TableIdentity table{};
  int64_t epoch = 0;
  int64_t as_of_seq = 0;  ///< of the snapshot's pages
  int64_t page_count = 0;
  int64_t head_seq = 0;  ///< of the newest group
  int64_t partition_count = 0;
  std::string partition_digest{};
  std::string schema_fingerprint{};
  WallTime checked{};
};
std::string StateHeadJson(const StateHead& head);

/// Keys of the state topic: "<uid>/head", "<uid>/p/<page>", pages from 0 in eight digits.
std::string StateHeadKey(std::string_view uid);
std::string StatePageKey(std::string_view uid, int64_t page);
/// Taken apart again; any text. The uid is what stands before the first '/', all where there is
/// none.
std::string_view UidOfStateKey(std::string_view key);
bool IsStateHeadKey(std::string_view key);
/// The number behind the last '/'; nullopt where none stands there.
std::optional<int64_t> PageOfStateKey(std::string_view key);

}  // namespace tidemark::api
