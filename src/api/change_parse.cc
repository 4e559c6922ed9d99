#include "api/change_parse.h"

#include <fmt/format.h>
// Without them a forgotten error check does not compile, instead of throwing.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time_text.h"

namespace tidemark::api {

namespace {

namespace ondemand = simdjson::ondemand;
using change::EventPart;

constexpr std::string_view kTypePrefix = "hudi.metadata.";
constexpr int kFieldsDepthMax = 64;

std::unexpected<Error> Corrupt(std::string_view member, std::string_view what) {
  return Fail(ErrorKind::kCorrupt, fmt::format("event member={} {}", member, what));
}
std::unexpected<Error> Corrupt(std::string_view member, simdjson::error_code code) {
  return Corrupt(member, simdjson::error_message(code));
}

// --- Values ---

enum class Presence { kNull, kValue };
Result<Presence> PresenceOf(ondemand::value& value, std::string_view member) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(member, code);
  return is_null ? Presence::kNull : Presence::kValue;
}

Result<std::string> TextOf(ondemand::value value, std::string_view member) {
  std::string_view text;
  if (const auto code = value.get_string().get(text)) return Corrupt(member, code);
  // No name or path has one, and no database takes it.
  if (text.find('\0') != std::string_view::npos) return Corrupt(member, "holds a zero byte");
  return std::string(text);
}
Result<std::optional<std::string>> TextOrNull(ondemand::value value, std::string_view member) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, member));
  if (presence == Presence::kNull) return std::nullopt;
  TRY_ASSIGN(auto text, TextOf(value, member));
  return text;
}

Result<int64_t> IntegerOf(ondemand::value value, std::string_view member,
                          int64_t least = std::numeric_limits<int64_t>::min(),
                          int64_t most = std::numeric_limits<int64_t>::max()) {
  int64_t number = 0;
  if (const auto code = value.get_int64().get(number)) return Corrupt(member, code);
  if (number < least || number > most) return Corrupt(member, "out of range");
  return number;
}
Result<std::optional<int64_t>> IntegerOrNull(ondemand::value value, std::string_view member) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, member));
  if (presence == Presence::kNull) return std::nullopt;
  TRY_ASSIGN(const int64_t number, IntegerOf(value, member));
  return number;
}

Status ReadInteger(ondemand::value value, std::string_view member, int64_t& to,
                   int64_t least = 0) {
  TRY_ASSIGN(to, IntegerOf(value, member, least));
  return {};
}
Status ReadInt(ondemand::value value, std::string_view member, int& to, int least = 0) {
  TRY_ASSIGN(const int64_t number,
             IntegerOf(value, member, least, std::numeric_limits<int>::max()));
  to = static_cast<int>(number);
  return {};
}
Status ReadBool(ondemand::value value, std::string_view member, bool& to) {
  if (const auto code = value.get_bool().get(to)) return Corrupt(member, code);
  return {};
}
Status ReadText(ondemand::value value, std::string_view member, std::string& to) {
  TRY_ASSIGN(to, TextOf(value, member));
  return {};
}
/// null stands for an empty text.
Status ReadTextOrEmpty(ondemand::value value, std::string_view member, std::string& to) {
  TRY_ASSIGN(auto text, TextOrNull(value, member));
  to = std::move(text).value_or("");
  return {};
}

/// Calls `take(name, value)` for each member.
template <class Take>
Status ForMembers(ondemand::value value, std::string_view member, Take take) {
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return Corrupt(member, code);
  for (auto entry : object) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(member, code);
    std::string_view unescaped;
    if (const auto code = field.unescaped_key().get(unescaped)) return Corrupt(member, code);
    const std::string name(unescaped);
    TRY(take(name, field.value()));
  }
  return {};
}

/// Calls `take(value)` for each element.
template <class Take>
Status ForElements(ondemand::value value, std::string_view member, Take take) {
  ondemand::array array;
  if (const auto code = value.get_array().get(array)) return Corrupt(member, code);
  for (auto entry : array) {
    ondemand::value element;
    if (const auto code = std::move(entry).get(element)) return Corrupt(member, code);
    TRY(take(element));
  }
  return {};
}

std::string_view Trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

/// The value as it stands in the document.
Result<std::string_view> RawOf(ondemand::value value, std::string_view member) {
  ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return Corrupt(member, code);
  std::string_view raw;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (const auto code = value.get_object().get(object)) return Corrupt(member, code);
    if (const auto code = object.raw_json().get(raw)) return Corrupt(member, code);
  } else if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (const auto code = value.get_array().get(array)) return Corrupt(member, code);
    if (const auto code = array.raw_json().get(raw)) return Corrupt(member, code);
  } else {
    raw = value.raw_json_token();
  }
  return Trimmed(raw);
}

/// The enumerator whose name `word` is.
template <class Enum>
Result<Enum> ParseWord(std::string_view word, std::string_view member, Enum last,
                       std::string_view (*name_of)(Enum)) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  return Corrupt(member, "is no word that is known");
}

// --- Details ---

Status ReadColumns(ondemand::value value, const std::string& above, int depth,
                   std::vector<change::Column>& columns);

Status ReadColumn(ondemand::value value, const std::string& above, int depth,
                  change::Column& column) {
  // The name comes first in what we write; children need it.
  bool has_name = false;
  TRY(ForMembers(value, "fields", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "name") {
      TRY(ReadText(of, name, column.name));
      column.path = above.empty() ? column.name : above + "." + column.name;
      has_name = true;
    } else if (name == "type") {
      TRY(ReadText(of, name, column.type));
    } else if (name == "nullable") {
      TRY(ReadBool(of, name, column.is_nullable));
    } else if (name == "default") {
      TRY_ASSIGN(const auto presence, PresenceOf(of, name));
      if (presence == Presence::kNull) return {};
      // As it stands, so that the fingerprint is that of the publisher.
      TRY_ASSIGN(const auto raw, RawOf(of, name));
      column.default_json = std::string(raw);
    } else if (name == "comment") {
      TRY(ReadTextOrEmpty(of, name, column.comment));
    } else if (name == "position") {
      TRY(ReadInt(of, name, column.position));
    } else if (name == "id") {
      TRY_ASSIGN(column.id, IntegerOrNull(of, name));
    } else if (name == "fields") {
      if (!has_name) return Corrupt(name, "comes before the name");
      TRY(ReadColumns(of, column.path, depth + 1, column.children));
    }
    return {};
  }));
  if (!has_name) return Corrupt("fields", "has a column without a name");
  return {};
}

Status ReadColumns(ondemand::value value, const std::string& above, int depth,
                   std::vector<change::Column>& columns) {
  if (depth > kFieldsDepthMax) return Corrupt("fields", "is nested too deep");
  return ForElements(value, "fields", [&](ondemand::value element) -> Status {
    return ReadColumn(element, above, depth, columns.emplace_back());
  });
}

Status ReadSchema(ondemand::value value, change::Schema& schema) {
  TRY(ReadColumns(value, "", 0, schema.columns));
  // No schema at all has no fingerprint.
  if (!schema.columns.empty())
    schema.fingerprint = HexOf(change::HashOf(CanonicalText(schema.columns)));
  return {};
}

Status ReadDiff(ondemand::value value, change::SchemaDiff& diff) {
  return ForMembers(value, "diff", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "op") {
      TRY_ASSIGN(const auto word, TextOf(of, name));
      TRY_ASSIGN(diff.op, ParseWord(word, name, change::SchemaOp::kReorder, change::SchemaOpName));
    } else if (name == "path") {
      TRY(ReadText(of, name, diff.path));
    } else if (name == "from") {
      TRY(ReadTextOrEmpty(of, name, diff.from));
    } else if (name == "to") {
      TRY(ReadTextOrEmpty(of, name, diff.to));
    }
    return {};
  });
}

Status ReadSchemaDetail(ondemand::value detail, EventPart& part) {
  change::SchemaChange& change = part.group.schema.emplace();
  bool has_fields = false;
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
                   if (name == "fields") {
                     has_fields = true;
                     return ReadSchema(of, change.schema);
                   }
                   if (name != "diff") return {};
                   return ForElements(of, name, [&](ondemand::value element) {
                     return ReadDiff(element, change.diff.emplace_back());
                   });
                 }));
  if (!has_fields) return Corrupt("changeDetail", "has no fields");
  return {};
}

Status ReadPartition(ondemand::value value, change::PartitionChange& change) {
  bool has_path = false, has_op = false;
  TRY(ForMembers(value, "partitions", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "path") {
      has_path = true;
      TRY(ReadText(of, name, change.path));
    } else if (name == "op") {
      has_op = true;
      std::string_view word;
      if (const auto code = of.get_string().get(word)) return Corrupt(name, code);
      TRY_ASSIGN(change.op,
                 ParseWord(word, name, change::PartitionOp::kDrop, change::PartitionOpName));
    } else if (name == "filesAdded") {
      TRY(ReadInteger(of, name, change.files_added));
    } else if (name == "filesRemoved") {
      TRY(ReadInteger(of, name, change.files_removed));
    } else if (name == "bytes") {
      TRY(ReadInteger(of, name, change.bytes));
    }
    return {};
  }));
  if (!has_path || !has_op) return Corrupt("partitions", "lacks path or op");
  return {};
}

Status ReadPartitionDetail(ondemand::value detail, EventPart& part) {
  bool has_list = false;
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
                   if (name != "partitions") return {};
                   has_list = true;
                   return ForElements(of, name, [&](ondemand::value element) {
                     return ReadPartition(element, part.group.partitions.emplace_back());
                   });
                 }));
  if (!has_list) return Corrupt("changeDetail", "has no partitions");
  return {};
}

Result<change::BodyState> ParseBodyWord(std::string_view word) {
  if (word == "read") return change::BodyState::kRead;
  if (word == "empty") return change::BodyState::kEmpty;
  if (word == "unreadable") return change::BodyState::kUnreadable;
  return Corrupt("metadata", "is no word that is known");
}

Status ReadRange(ondemand::value value, change::CommitChange& change) {
  return ForMembers(value, "range", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "from") return ReadTextOrEmpty(of, name, change.range_first);
    if (name == "to") return ReadTextOrEmpty(of, name, change.range_last);
    return {};
  });
}

Status ReadExtra(ondemand::value value, std::map<std::string, std::string>& extra) {
  return ForMembers(value, "extraMetadata",
                    [&](const std::string& name, ondemand::value of) -> Status {
                      TRY_ASSIGN(auto text, TextOf(of, "extraMetadata"));
                      extra.insert_or_assign(name, std::move(text));
                      return {};
                    });
}

Status ReadCommitDetail(ondemand::value detail, EventPart& part) {
  change::CommitChange& change = part.group.commit.emplace();
  bool has_type = false;
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "commitType") {
      has_type = true;
      TRY_ASSIGN(const auto word, TextOf(of, name));
      // A newer release may name a kind of commit that we do not know: it is one all the same.
      change.type = ParseWord(word, name, change::CommitType::kUnknown, change::CommitTypeName)
                        .value_or(change::CommitType::kUnknown);
    } else if (name == "filesAdded") {
      TRY(ReadInteger(of, name, change.files_added));
    } else if (name == "filesRemoved") {
      TRY(ReadInteger(of, name, change.files_removed));
    } else if (name == "partitionsTouched") {
      TRY(ReadInteger(of, name, change.partitions_touched));
    } else if (name == "recordsWritten") {
      TRY(ReadInteger(of, name, change.records_written));
    } else if (name == "recordsDeleted") {
      TRY(ReadInteger(of, name, change.records_deleted));
    } else if (name == "roVisible") {
      TRY(ReadBool(of, name, change.is_ro_visible));
    } else if (name == "metadata") {
      TRY_ASSIGN(const auto word, TextOf(of, name));
      TRY_ASSIGN(change.body, ParseBodyWord(word));
    } else if (name == "defect") {
      TRY(ReadText(of, name, change.defect));
    } else if (name == "extraMetadata") {
      TRY(ReadExtra(of, change.extra));
    } else if (name == "range") {
      TRY(ReadRange(of, change));
    }
    return {};
  }));
  if (!has_type) return Corrupt("changeDetail", "has no commitType");
  return {};
}

Status ReadRetraction(ondemand::value value, change::Retraction& retraction) {
  bool has_time = false;
  TRY(ForMembers(value, "retracted", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "requestedTime") {
      has_time = true;
      TRY(ReadText(of, name, retraction.instant.requested));
    } else if (name == "action") {
      TRY(ReadText(of, name, retraction.instant.action));
    } else if (name == "seq") {
      TRY(ReadInteger(of, name, retraction.seq));
    }
    return {};
  }));
  if (!has_time) return Corrupt("retracted", "lacks a requestedTime");
  return {};
}

Status ReadRestoreDetail(ondemand::value detail, EventPart& part) {
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
                   if (name != "retracted") return {};
                   return ForElements(of, name, [&](ondemand::value element) {
                     return ReadRetraction(element, part.group.retracted.emplace_back());
                   });
                 }));
  if (part.group.retracted.empty()) return Corrupt("changeDetail", "retracts nothing");
  return {};
}

Status ReadTableDetail(ondemand::value detail, EventPart& part) {
  change::TableChange& change = part.group.table.emplace();
  bool has_reason = false;
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "reason") {
      has_reason = true;
      TRY_ASSIGN(const auto word, TextOf(of, name));
      TRY_ASSIGN(change.reason,
                 ParseWord(word, name, change::TableReason::kDropped, change::TableReasonName));
    } else if (name == "tableVersionBefore") {
      TRY(ReadInt(of, name, change.version_before));
    } else if (name == "layoutBefore") {
      TRY(ReadInt(of, name, change.layout_before));
    }
    return {};
  }));
  if (!has_reason) return Corrupt("changeDetail", "has no reason");
  return {};
}

Status ReadPageEntry(ondemand::value value, std::vector<std::string>& paths) {
  bool has_path = false;
  TRY(ForMembers(value, "partitions", [&](const std::string& name, ondemand::value of) -> Status {
    if (name != "path") return {};
    has_path = true;
    return ReadText(of, name, paths.emplace_back());
  }));
  if (!has_path) return Corrupt("partitions", "lacks a path");
  return {};
}

Status ReadSnapshotDetail(ondemand::value detail, EventPart& part) {
  change::SnapshotPage& page = part.page.emplace();
  int64_t as_of_seq = -1;
  TRY(ForMembers(detail, "changeDetail",
                 [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "asOfSeq") return ReadInteger(of, name, as_of_seq);
    if (name == "fields") return ReadSchema(of, page.schema.emplace());
    if (name != "partitions") return {};
    return ForElements(of, name, [&](ondemand::value element) {
      return ReadPageEntry(element, page.partitions);
    });
  }));
  if (as_of_seq != part.group.seq) return Corrupt("asOfSeq", "is not the sequence");
  if (page.schema.has_value() != (part.index == 0))
    return Corrupt("fields", "belong to the first page, and to it alone");
  return {};
}

struct PartKind {
  std::string_view word;         ///< in `type`
  std::string_view change_type;  ///< in `changeType`
  Status (*read)(ondemand::value detail, EventPart& part);
};
constexpr std::array<PartKind, 6> kKinds = {{{"schema", "SCHEMA", ReadSchemaDetail},
                                             {"partition", "PARTITION", ReadPartitionDetail},
                                             {"commit", "COMMIT", ReadCommitDetail},
                                             {"restore", "RESTORE", ReadRestoreDetail},
                                             {"table", "TABLE", ReadTableDetail},
                                             {"snapshot", "SNAPSHOT", ReadSnapshotDetail}}};

// --- The frame ---

/// What stands around the detail, as texts to be compared with each other.
struct Envelope {
  std::string version{};
  std::string id{};
  std::string type{};
  std::string sequence{};
  std::string key{};
  std::string change_type{};
  std::optional<std::string> instant_time{};
  std::optional<std::string> action{};
  std::optional<std::string> requested{};
  std::string_view detail{};  // within the document
  bool has_data = false;
  bool has_part = false;
};

Status ReadPrevious(ondemand::value value, std::optional<change::Previous>& previous) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, "prev"));
  if (presence == Presence::kNull) return {};
  previous.emplace();
  std::optional<std::string> requested, action;
  TRY(ForMembers(value, "prev", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "seq") {
      TRY(ReadInteger(of, name, previous->seq, 1));
    } else if (name == "requestedTime") {
      TRY_ASSIGN(requested, TextOrNull(of, name));
    } else if (name == "action") {
      TRY_ASSIGN(action, TextOrNull(of, name));
    }
    return {};
  }));
  if (previous->seq == 0) return Corrupt("prev", "lacks a seq");
  if (requested) previous->instant = change::InstantKey{*requested, action.value_or("")};
  return {};
}

Status ReadDigest(ondemand::value value, std::string_view member, change::Digest& digest) {
  TRY_ASSIGN(const auto text, TextOf(value, member));
  const auto parsed = change::ParseHex(text);
  if (!parsed) return Corrupt(member, "is no digest");
  digest = *parsed;
  return {};
}

Status ReadPartPlace(ondemand::value value, EventPart& part) {
  int64_t index = -1, count = 0;
  bool has_digest = false;
  TRY(ForMembers(value, "part", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "index") return ReadInteger(of, name, index);
    if (name == "count") return ReadInteger(of, name, count, 1);
    if (name != "groupDigest") return {};
    has_digest = true;
    return ReadDigest(of, name, part.group_digest);
  }));
  if (!has_digest || index < 0 || index >= count || count > kPartsMax)
    return Corrupt("part", "is no place among the parts");
  part.index = static_cast<size_t>(index);
  part.count = static_cast<size_t>(count);
  return {};
}

Status ReadTime(ondemand::value value, std::string_view member, std::optional<WallTime>& time) {
  TRY_ASSIGN(const auto text, TextOrNull(value, member));
  if (!text) return {};
  time = ParseRfc3339(*text);
  if (!time) return Corrupt(member, "is no time");
  return {};
}

Status ReadSource(ondemand::value value, change::EventSource& source) {
  TRY_ASSIGN(const auto word, TextOf(value, "source"));
  TRY_ASSIGN(source, ParseWord(word, "source", change::EventSource::kBootstrap,
                               change::EventSourceName));
  return {};
}

Status ReadDataMember(const std::string& name, ondemand::value of, EventPart& part,
                      Envelope& envelope) {
  change::Group& group = part.group;
  if (name == "tableId") return ReadText(of, name, part.table_id);
  if (name == "uid") return ReadText(of, name, part.uid);
  if (name == "basePath") return ReadText(of, name, part.base_path);
  if (name == "changeType") return ReadText(of, name, envelope.change_type);
  if (name == "schemaVersion") return ReadInteger(of, name, group.schema_version);
  if (name == "source") return ReadSource(of, group.source);
  if (name == "epoch") return ReadInteger(of, name, group.epoch, 1);
  if (name == "seq") return ReadInteger(of, name, group.seq, 1);
  if (name == "prev") return ReadPrevious(of, group.previous);
  if (name == "late") return ReadBool(of, name, group.is_late);
  if (name == "observedMtime") return ReadTime(of, name, group.file_time);
  if (name == "schemaFingerprint") return ReadTextOrEmpty(of, name, group.schema_fingerprint);
  if (name == "partitionCount") return ReadInteger(of, name, group.partition_count);
  if (name == "partitionDigest") return ReadDigest(of, name, group.partition_digest);
  if (name == "tableVersion") return ReadInt(of, name, group.table_version);
  if (name == "part") {
    envelope.has_part = true;
    return ReadPartPlace(of, part);
  }
  if (name == "changeDetail") {
    TRY_ASSIGN(envelope.detail, RawOf(of, name));
    return {};
  }
  const auto read = [&](std::optional<std::string>& to) -> Status {
    TRY_ASSIGN(to, TextOrNull(of, name));
    return {};
  };
  if (name == "instantTime") return read(envelope.instant_time);
  if (name == "action") return read(envelope.action);
  if (name == "requestedTime") return read(envelope.requested);
  if (name == "operation") return read(group.operation);
  if (name == "completionTime") return read(group.completed);
  if (name != "timestamp") return {};
  TRY_ASSIGN(const auto millis, IntegerOrNull(of, name));
  if (millis) group.time = WallTimeFromMillis(*millis);
  return {};
}

Status ReadMember(const std::string& name, ondemand::value of, EventPart& part,
                  Envelope& envelope) {
  if (name == "specversion") return ReadText(of, name, envelope.version);
  if (name == "id") return ReadText(of, name, envelope.id);
  if (name == "type") return ReadText(of, name, envelope.type);
  if (name == "sequence") return ReadText(of, name, envelope.sequence);
  if (name == "partitionkey") return ReadText(of, name, envelope.key);
  if (name != "data") return {};
  envelope.has_data = true;
  return ForMembers(of, name, [&](const std::string& member, ondemand::value value) {
    return ReadDataMember(member, value, part, envelope);
  });
}

/// By `type`: "hudi.metadata.<word>.v1".
Result<const PartKind*> KindOf(std::string_view type) {
  if (!type.starts_with(kTypePrefix)) return Corrupt("type", "is none of the feed's");
  std::string_view rest = type.substr(kTypePrefix.size());
  const size_t dot = rest.rfind(".v");
  if (dot == std::string_view::npos) return Corrupt("type", "has no version");
  if (rest.substr(dot) != ".v1")
    return Fail(ErrorKind::kUnsupported, fmt::format("event of another version type={}", type));
  rest = rest.substr(0, dot);
  for (const PartKind& kind : kKinds)
    if (kind.word == rest) return &kind;
  return Fail(ErrorKind::kUnsupported, fmt::format("event of an unknown kind type={}", type));
}

/// What is said twice must be said alike: an event that contradicts itself was not sent by us.
Status CheckEnvelope(const Envelope& envelope, const PartKind& kind, const EventPart& part) {
  const change::Group& group = part.group;
  if (!envelope.has_part || group.epoch == 0 || group.seq == 0 || part.uid.empty())
    return Corrupt("data", "lacks uid, epoch, seq or part");
  const bool is_page = kind.word == "snapshot";
  if (envelope.id != fmt::format("{}/{}/{}/{}{}", part.uid, group.epoch, group.seq,
                                 is_page ? "snapshot/" : "", part.index)) {
    return Corrupt("id", "is not that of its data");
  }
  if (envelope.key != part.uid) return Corrupt("partitionkey", "is not the uid");
  if (envelope.sequence != fmt::format("{:020}", group.seq))
    return Corrupt("sequence", "is not the seq");
  if (envelope.change_type != kind.change_type) return Corrupt("changeType", "is not the type's");
  if (envelope.instant_time != envelope.requested)
    return Corrupt("instantTime", "is not the requestedTime");
  if (envelope.requested.has_value() != envelope.action.has_value())
    return Corrupt("action", "belongs to a requestedTime");
  if (envelope.detail.empty()) return Corrupt("changeDetail", "is missing");
  return {};
}

Status ReadDetail(const PartKind& kind, const simdjson::padded_string& whole,
                  std::string_view detail, EventPart& part) {
  ondemand::parser parser;
  ondemand::document document;
  // The bytes behind the detail, and the padding behind them, are its padding.
  const auto behind = static_cast<size_t>(whole.data() + whole.size() - detail.data());
  const simdjson::padded_string_view view(detail.data(), detail.size(),
                                          behind + simdjson::SIMDJSON_PADDING);
  if (const auto code = parser.iterate(view).get(document)) return Corrupt("changeDetail", code);
  ondemand::value value;
  if (const auto code = document.get_value().get(value)) return Corrupt("changeDetail", code);
  return kind.read(value, part);
}

/// A whole document, checked byte by byte, and what `read` makes of its value.
template <class Read>
Status ReadDocument(const simdjson::padded_string& padded, Read read) {
  // What is read below looks at what it needs only; this looks at every byte.
  simdjson::dom::parser checker;
  simdjson::dom::element root;
  if (const auto code = checker.parse(padded).get(root)) return Corrupt("", code);
  ondemand::parser parser;
  ondemand::document document;
  if (const auto code = parser.iterate(padded).get(document)) return Corrupt("", code);
  ondemand::value value;
  if (const auto code = document.get_value().get(value)) return Corrupt("", code);
  return read(value);
}

Status CheckSize(std::string_view body) {
  if (body.size() <= kEventSizeMax) return {};
  return Fail(ErrorKind::kCorrupt, fmt::format("event is too large bytes={}", body.size()));
}

Status ReadChecked(ondemand::value value, std::string_view member, WallTime& time) {
  std::optional<WallTime> read;
  TRY(ReadTime(value, member, read));
  if (!read) return Corrupt(member, "is no time");
  time = *read;
  return {};
}

Status ReadHead(ondemand::value value, TableHead& head) {
  TRY(ForMembers(value, "tables", [&](const std::string& name, ondemand::value of) -> Status {
    if (name == "uid") return ReadText(of, name, head.uid);
    if (name == "epoch") return ReadInteger(of, name, head.epoch, 1);
    if (name == "headSeq") return ReadInteger(of, name, head.seq, 1);
    if (name == "lastCheckedAt") return ReadChecked(of, name, head.checked);
    return {};
  }));
  if (head.uid.empty() || head.epoch == 0 || head.seq == 0)
    return Corrupt("tables", "lacks uid, epoch or headSeq");
  return {};
}

}  // namespace

Result<EventPart> ParseChangeEvent(std::string_view body) {
  TRY(CheckSize(body));
  const simdjson::padded_string padded(body);
  EventPart part;
  Envelope envelope;
  TRY(ReadDocument(padded, [&](ondemand::value value) {
    return ForMembers(value, "", [&](const std::string& name, ondemand::value of) {
      return ReadMember(name, of, part, envelope);
    });
  }));
  if (envelope.version != "1.0") return Corrupt("specversion", "is not 1.0");
  TRY_ASSIGN(const PartKind* const kind, KindOf(envelope.type));
  TRY(CheckEnvelope(envelope, *kind, part));
  if (envelope.requested)
    part.group.instant = change::InstantKey{*envelope.requested, *envelope.action};
  TRY(ReadDetail(*kind, padded, envelope.detail, part));
  part.detail = std::string(envelope.detail);
  part.body_hash = std::hash<std::string_view>()(body);
  part.body_size = body.size();
  return part;
}

Result<std::vector<TableHead>> ParseBookmark(std::string_view body) {
  TRY(CheckSize(body));
  const simdjson::padded_string padded(body);
  std::vector<TableHead> heads;
  std::string type;
  const auto read_data = [&](const std::string& name, ondemand::value of) -> Status {
    if (name != "tables") return {};
    return ForElements(of, name, [&](ondemand::value element) {
      return ReadHead(element, heads.emplace_back());
    });
  };
  TRY(ReadDocument(padded, [&](ondemand::value value) {
    return ForMembers(value, "", [&](const std::string& name, ondemand::value of) -> Status {
      if (name == "type") return ReadText(of, name, type);
      return name == "data" ? ForMembers(of, name, read_data) : Status();
    });
  }));
  if (type == "hudi.metadata.bookmark.v1") return heads;
  return Fail(ErrorKind::kUnsupported, fmt::format("event is no bookmark type={}", type));
}

Result<TableHead> ParseStateHead(std::string_view body) {
  TRY(CheckSize(body));
  const simdjson::padded_string padded(body);
  TableHead head;
  TRY(ReadDocument(padded, [&](ondemand::value value) { return ReadHead(value, head); }));
  return head;
}

Result<change::Schema> ParseSchemaFields(std::string_view json) {
  TRY(CheckSize(json));
  const simdjson::padded_string padded(json);
  change::Schema schema;
  TRY(ReadDocument(padded, [&](ondemand::value value) { return ReadSchema(value, schema); }));
  return schema;
}

}  // namespace tidemark::api
