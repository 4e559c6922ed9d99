/// An event's bytes back to a value: the other half of change_json.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/feed_json.h"
#include "base/error.h"
#include "change/event_part.h"

namespace tidemark::api {

/// A larger event is refused unread. A schema cannot be split, so one event may be far over the
/// limits that lists keep to.
inline constexpr size_t kEventSizeMax = size_t{64} << 20;
/// Parts of one group.
inline constexpr int64_t kPartsMax = 1 << 20;

/// Reads the body of one event. Members that are not known are left alone, wherever they stand: a
/// release that adds one changes no version. Everything that a subscriber goes by is checked: id,
/// type, sequence and key agree with the fields they are made of, numbers are whole and in their
/// range, words are known ones.
///
/// kUnsupported: a kind of event, or a major version of one, that this release does not know.
/// kCorrupt: everything else. Either is poison (change-feed C9). The fingerprint of a schema is
/// taken from its columns, not from what the event says of it. Cost: two passes over the bytes.
Result<change::EventPart> ParseChangeEvent(std::string_view body);

/// Reads the body of a bookmark (feed_json.h). Errors as above.
Result<std::vector<TableHead>> ParseBookmark(std::string_view body);

/// Reads the record "<uid>/head" of the state topic as far as it says where the table stands.
/// Errors as above.
Result<TableHead> ParseStateHead(std::string_view body);

/// The schema of SchemaFieldsJson(). kCorrupt for anything else.
Result<change::Schema> ParseSchemaFields(std::string_view json);

}  // namespace tidemark::api
