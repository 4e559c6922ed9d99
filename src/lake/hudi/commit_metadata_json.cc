#include "lake/hudi/commit_metadata_json.h"

#include <fmt/core.h>
// Without them a forgotten error check does not compile, instead of throwing.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lake/hudi/write_sink_internal.h"

namespace tidemark::lake::hudi {
namespace {

namespace ondemand = simdjson::ondemand;

std::unexpected<Error> Corrupt(simdjson::error_code code, std::string_view part) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("commit body is no whole JSON document part={} json={}", part,
                          simdjson::error_message(code)));
}

enum class Presence { kNull, kValue };

Result<Presence> PresenceOf(ondemand::value& value, std::string_view part) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(code, part);
  return is_null ? Presence::kNull : Presence::kValue;
}

/// A value of `extraMetadata`; nullopt for null. Hudi writes strings only, but reads a number or a
/// boolean as its text.
Result<std::optional<std::string>> TextOf(ondemand::value value) {
  ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return Corrupt(code, "extraMetadata");
  switch (type) {
    case ondemand::json_type::string: {
      std::string_view text;
      if (const auto code = value.get_string().get(text)) return Corrupt(code, "extraMetadata");
      return std::string(text);
    }
    case ondemand::json_type::null: {
      TRY_ASSIGN(const auto presence, PresenceOf(value, "extraMetadata"));
      if (presence == Presence::kNull) return std::nullopt;
      return Corrupt(simdjson::N_ATOM_ERROR, "extraMetadata");
    }
    case ondemand::json_type::boolean: {
      bool is_true = false;
      if (const auto code = value.get_bool().get(is_true)) return Corrupt(code, "extraMetadata");
      return is_true ? "true" : "false";
    }
    case ondemand::json_type::number: {
      std::string_view token = value.raw_json_token();
      token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
      ondemand::number number;
      if (const auto code = value.get_number().get(number)) return Corrupt(code, "extraMetadata");
      return std::string(token);
    }
    default: return Corrupt(simdjson::INCORRECT_TYPE, "extraMetadata");
  }
}

Status ReadExtra(ondemand::value value, CommitMetadata& metadata) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, "extraMetadata"));
  if (presence == Presence::kNull) return {};
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return Corrupt(code, "extraMetadata");
  for (auto entry : object) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code, "extraMetadata");
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code, "extraMetadata");
    std::string name(key);
    TRY_ASSIGN(auto text, TextOf(field.value()));
    if (text)
      metadata.extra.insert_or_assign(std::move(name), *std::move(text));
    else
      metadata.extra.erase(name);
  }
  return {};
}

Result<std::vector<std::string>> ReadIds(ondemand::value value, std::string_view part) {
  std::vector<std::string> ids;
  TRY_ASSIGN(const auto presence, PresenceOf(value, part));
  if (presence == Presence::kNull) return ids;
  ondemand::array array;
  if (const auto code = value.get_array().get(array)) return Corrupt(code, part);
  for (auto entry : array) {
    std::string_view id;
    if (const auto code = entry.get_string().get(id)) return Corrupt(code, part);
    ids.emplace_back(id);
  }
  return ids;
}

Status ReadReplaced(ondemand::value value, std::string_view part, CommitMetadata& metadata) {
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return Corrupt(code, part);
  for (auto entry : object) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code, part);
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code, part);
    std::string partition(key);
    TRY_ASSIGN(auto ids, ReadIds(field.value(), part));
    metadata.replaced.insert_or_assign(std::move(partition), std::move(ids));
  }
  return {};
}

/// Nulls leave `number` as it was.
Status ReadNumber(ondemand::value value, int64_t& number) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, "write stats"));
  if (presence == Presence::kNull) return {};
  if (const auto code = value.get_int64().get(number)) return Corrupt(code, "write stats");
  return {};
}

Status ReadText(ondemand::value value, std::string_view& text) {
  TRY_ASSIGN(const auto presence, PresenceOf(value, "write stats"));
  if (presence == Presence::kNull) return {};
  if (const auto code = value.get_string().get(text)) return Corrupt(code, "write stats");
  return {};
}

struct TextMember {
  std::string_view key;
  std::string_view WriteView::* text;
};
struct NumberMember {
  std::string_view key;
  int64_t WriteView::* number;
};
constexpr std::array<TextMember, 3> kTextMembers = {{{"fileId", &WriteView::file_id},
                                                     {"path", &WriteView::path},
                                                     {"prevCommit", &WriteView::previous}}};
constexpr std::array<NumberMember, 7> kNumberMembers = {
    {{"numWrites", &WriteView::writes},
     {"numDeletes", &WriteView::deletes},
     {"numUpdateWrites", &WriteView::updates},
     {"numInserts", &WriteView::inserts},
     {"totalWriteBytes", &WriteView::written_bytes},
     {"fileSizeInBytes", &WriteView::file_size},
     {"logOffset", &WriteView::log_offset}}};

Status ReadStatMember(std::string_view key, ondemand::value value, WriteView& write) {
  for (const TextMember& member : kTextMembers)
    if (key == member.key) return ReadText(value, write.*member.text);
  for (const NumberMember& member : kNumberMembers)
    if (key == member.key) return ReadNumber(value, write.*member.number);
  return {};
}

Status ReadStat(ondemand::value value, WriteSink& writes) {
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return Corrupt(code, "write stats");
  WriteView write;
  for (auto entry : object) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code, "write stats");
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code, "write stats");
    TRY(ReadStatMember(key, field.value(), write));
  }
  writes.Take(write);
  return {};
}

Status ReadStats(ondemand::value value, WriteSink& writes) {
  writes.BeginStats();
  ondemand::object partitions;
  if (const auto code = value.get_object().get(partitions)) return Corrupt(code, "write stats");
  for (auto entry : partitions) {
    ondemand::field partition;
    if (const auto code = std::move(entry).get(partition)) return Corrupt(code, "write stats");
    std::string_view name;
    if (const auto code = partition.unescaped_key().get(name)) return Corrupt(code, "write stats");
    writes.BeginPartition(name);
    ondemand::array stats;
    if (const auto code = partition.value().get_array().get(stats))
      return Corrupt(code, "write stats");
    for (auto item : stats) {
      ondemand::value stat;
      if (const auto code = std::move(item).get(stat)) return Corrupt(code, "write stats");
      TRY(ReadStat(stat, writes));
    }
  }
  return {};
}

/// Takes what belongs into `metadata`; the iteration passes over every other member unparsed.
Status ReadMember(std::string_view key, ondemand::value value, CommitMetadata& metadata,
                  WriteSink* writes) {
  if (key == "extraMetadata") return ReadExtra(value, metadata);
  if (key == "partitionToWriteStats") {
    if (writes == nullptr) return {};
    TRY_ASSIGN(const auto presence, PresenceOf(value, "write stats"));
    return presence == Presence::kNull ? Status() : ReadStats(value, *writes);
  }
  const bool is_replaced = key == "partitionToReplaceFileIds";
  if (key != "operationType" && key != "compacted" && !is_replaced) return {};
  if (is_replaced) metadata.says_replaced = true;
  TRY_ASSIGN(const auto presence, PresenceOf(value, key));
  if (presence == Presence::kNull) return {};
  // A literal: `key` lies in the parser's buffer, which the members inside overwrite.
  if (is_replaced) return ReadReplaced(value, "partitionToReplaceFileIds", metadata);
  if (key == "operationType") {
    std::string_view text;
    if (const auto code = value.get_string().get(text)) return Corrupt(code, key);
    metadata.operation = text;
  } else {
    if (const auto code = value.get_bool().get(metadata.is_compacted)) return Corrupt(code, key);
  }
  return {};
}

}  // namespace

Result<CommitMetadata> ParseJsonCommitMetadata(std::string& body, WriteSink* writes) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  ondemand::document document;
  const simdjson::padded_string_view padded(body.data(), body.size(), body.capacity());
  if (const auto code = parser.iterate(padded).get(document)) return Corrupt(code, "document");
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return Corrupt(code, "document");

  CommitMetadata metadata;
  for (auto entry : root) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code, "document");
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code, "document");
    TRY(ReadMember(key, field.value(), metadata, writes));
  }
  // The iteration ends at the brace that closes the document. Bytes behind it mean that the file is
  // not what one writer wrote; "out of bounds" is how the library says that there are none.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return Corrupt(simdjson::TRAILING_CONTENT, "document");
  return metadata;
}

}  // namespace tidemark::lake::hudi
