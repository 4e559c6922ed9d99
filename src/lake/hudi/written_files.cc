#include "lake/hudi/written_files.h"

#include <fmt/core.h>
// Without them a forgotten error check does not compile, instead of throwing.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "lake/avro/container.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {
namespace {

namespace ondemand = simdjson::ondemand;

/// What is read of one write.
struct WriteStat {
  std::string path;
  std::string previous;
  std::string file_id;
  int64_t inserts = 0;
  int64_t size = 0;
  int64_t log_offset = 0;
};

bool IsInstant(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// `path` as the store has it, without empty and "." segments; empty when it leads elsewhere.
std::string Inside(std::string_view path) {
  if (path.starts_with('/') || path.find("://") != path.npos) return {};
  std::string inside;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const auto segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == "..") return {};
    if (segment.empty() || segment == ".") continue;
    if (!inside.empty()) inside += '/';
    inside += segment;
  }
  return inside;
}

/// `partition` is the one that the write is listed under.
void Keep(WriteStat stat, std::string_view partition, CommitWrites& writes) {
  // Every partition has one for what is inserted, if nothing is.
  if (stat.path.empty() && (!stat.file_id.empty() || stat.inserts != 0))
    writes.planned.push_back({Inside(partition), std::move(stat.file_id)});
  if (stat.path.empty() || stat.size <= 0 || stat.log_offset < 0) return;
  WrittenFile file;
  file.path = Inside(stat.path);
  if (file.path.empty()) {
    const auto name = std::string_view(stat.path).substr(stat.path.rfind('/') + 1);
    file.path = Inside(fmt::format("./{}/{}", partition, name));
    if (file.path.empty()) return;
  }
  file.size = static_cast<uint64_t>(stat.size) + static_cast<uint64_t>(stat.log_offset);
  // Writers of JSON have "null" in it.
  if (IsInstant(stat.previous)) file.previous = std::move(stat.previous);
  writes.files.push_back(std::move(file));
}

std::unexpected<Error> Corrupt(simdjson::error_code code) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("write stats are no whole JSON json={}", simdjson::error_message(code)));
}

/// Nulls leave `number` as it was.
Status ReadNumber(ondemand::value value, int64_t& number) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(code);
  if (is_null) return {};
  if (const auto code = value.get_int64().get(number)) return Corrupt(code);
  return {};
}

Status ReadText(ondemand::value value, std::string& text) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(code);
  if (is_null) return {};
  std::string_view read;
  if (const auto code = value.get_string().get(read)) return Corrupt(code);
  text = read;
  return {};
}

Result<WriteStat> ReadStat(ondemand::value value) {
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return Corrupt(code);
  WriteStat stat;
  for (auto entry : object) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code);
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code);
    if (key == "fileSizeInBytes") {
      TRY(ReadNumber(field.value(), stat.size));
    } else if (key == "logOffset") {
      TRY(ReadNumber(field.value(), stat.log_offset));
    } else if (key == "path") {
      TRY(ReadText(field.value(), stat.path));
    } else if (key == "fileId") {
      TRY(ReadText(field.value(), stat.file_id));
    } else if (key == "numInserts") {
      TRY(ReadNumber(field.value(), stat.inserts));
    } else if (key == "prevCommit") {
      TRY(ReadText(field.value(), stat.previous));
    }
  }
  return stat;
}

Status ReadPartitions(ondemand::value value, CommitWrites& writes) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(code);
  if (is_null) return {};
  writes.is_told = true;
  ondemand::object partitions;
  if (const auto code = value.get_object().get(partitions)) return Corrupt(code);
  for (auto entry : partitions) {
    ondemand::field partition;
    if (const auto code = std::move(entry).get(partition)) return Corrupt(code);
    std::string_view name;
    if (const auto code = partition.unescaped_key().get(name)) return Corrupt(code);
    ondemand::array stats;
    if (const auto code = partition.value().get_array().get(stats)) return Corrupt(code);
    for (auto item : stats) {
      ondemand::value stat;
      if (const auto code = std::move(item).get(stat)) return Corrupt(code);
      TRY_ASSIGN(WriteStat read, ReadStat(stat));
      Keep(std::move(read), name, writes);
    }
  }
  return {};
}

/// Whether a value is one that only a writer puts there: no null, no empty object or string.
Result<bool> SaysSomething(ondemand::value value) {
  ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return Corrupt(code);
  if (type == ondemand::json_type::null) return false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    bool is_empty = true;
    if (const auto code = value.get_object().get(object)) return Corrupt(code);
    if (const auto code = object.is_empty().get(is_empty)) return Corrupt(code);
    return !is_empty;
  }
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS && !text.empty();
}

Result<CommitWrites> ParseJson(std::string& body) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  ondemand::document document;
  const simdjson::padded_string_view padded(body.data(), body.size(), body.capacity());
  if (const auto code = parser.iterate(padded).get(document)) return Corrupt(code);
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return Corrupt(code);
  CommitWrites writes;
  bool is_described = false;
  for (auto entry : root) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code);
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code);
    if (key == "partitionToWriteStats") {
      TRY(ReadPartitions(field.value(), writes));
    } else if (key == "operationType" || key == "extraMetadata") {
      TRY_ASSIGN(const bool says, SaysSomething(field.value()));
      is_described = is_described || says;
    }
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return Corrupt(simdjson::TRAILING_CONTENT);
  writes.is_told = writes.is_told && (is_described || !writes.files.empty());
  return writes;
}

constexpr std::array<std::string_view, 6> kStatFields = {
    "path", "prevCommit", "fileSizeInBytes", "logOffset", "fileId", "numInserts"};

Result<WriteStat> ReadStat(const avro::Datum& record) {
  if (record.type().kind != avro::Kind::kRecord)
    return Fail(ErrorKind::kUnsupported, "write stat is no record");
  std::array<std::optional<avro::Datum>, kStatFields.size()> row;
  TRY(record.ReadFields(avro::Selection(record.type(), kStatFields), row));
  const auto& [path, previous, size, log_offset, file_id, inserts] = row;
  WriteStat stat;
  if (path && !path->is_null()) {
    TRY_ASSIGN(stat.path, path->String());
  }
  if (previous && !previous->is_null()) {
    TRY_ASSIGN(stat.previous, previous->String());
  }
  if (file_id && !file_id->is_null()) {
    TRY_ASSIGN(stat.file_id, file_id->String());
  }
  if (inserts && !inserts->is_null()) {
    TRY_ASSIGN(stat.inserts, inserts->Long());
  }
  if (size && !size->is_null()) {
    TRY_ASSIGN(stat.size, size->Long());
  }
  if (log_offset && !log_offset->is_null()) {
    TRY_ASSIGN(stat.log_offset, log_offset->Long());
  }
  return stat;
}

Result<CommitWrites> ParseAvro(std::string_view body) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "file holds no record");
  CommitWrites writes;
  TRY_ASSIGN(const auto by_partition, record->Field("partitionToWriteStats"));
  if (by_partition && !by_partition->is_null()) {
    writes.is_told = true;
    TRY_ASSIGN(auto partitions, by_partition->OpenItems());
    while (true) {
      TRY_ASSIGN(const auto partition, partitions.Next());
      if (!partition) break;
      TRY_ASSIGN(auto stats, partition->value.OpenItems());
      while (true) {
        TRY_ASSIGN(const auto stat, stats.Next());
        if (!stat) break;
        TRY_ASSIGN(WriteStat read, ReadStat(stat->value));
        Keep(std::move(read), partition->key, writes);
      }
    }
  }
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "file holds several records");
  return writes;
}

}  // namespace

Result<CommitWrites> ParseCommitWrites(std::string body) {
  if (body.empty()) return CommitWrites();
  if (body.size() > kCommitBodySizeMax)
    return Fail(ErrorKind::kExhausted, fmt::format("commit body is over the bound size={} max={}",
                                                   body.size(), kCommitBodySizeMax));
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first != body.npos && body[first] == '{') return ParseJson(body);
  if (body.starts_with(avro::kContainerMagic)) return ParseAvro(body);
  return Fail(ErrorKind::kCorrupt,
              fmt::format("commit body is neither JSON nor Avro size={}", body.size()));
}

Result<std::vector<WrittenFile>> ParseWrittenFiles(std::string body) {
  TRY_ASSIGN(CommitWrites writes, ParseCommitWrites(std::move(body)));
  return std::move(writes.files);
}

}  // namespace tidemark::lake::hudi
