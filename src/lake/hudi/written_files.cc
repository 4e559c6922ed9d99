#include "lake/hudi/written_files.h"

#include <fmt/core.h>
// Without them a forgotten error check does not compile, instead of throwing.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

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
  int64_t size = 0;
  int64_t log_offset = 0;
};

bool IsInstant(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

void Keep(WriteStat stat, std::vector<WrittenFile>& files) {
  const bool is_inside =
      !stat.path.empty() && stat.path.front() != '/' && stat.path.find("://") == std::string::npos;
  if (!is_inside || stat.size <= 0 || stat.log_offset < 0) return;
  WrittenFile file;
  file.path = std::move(stat.path);
  file.size = static_cast<uint64_t>(stat.size) + static_cast<uint64_t>(stat.log_offset);
  // Writers of JSON have "null" in it.
  if (IsInstant(stat.previous)) file.previous = std::move(stat.previous);
  files.push_back(std::move(file));
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
    } else if (key == "prevCommit") {
      TRY(ReadText(field.value(), stat.previous));
    }
  }
  return stat;
}

Status ReadPartitions(ondemand::value value, std::vector<WrittenFile>& files) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return Corrupt(code);
  if (is_null) return {};
  ondemand::object partitions;
  if (const auto code = value.get_object().get(partitions)) return Corrupt(code);
  for (auto entry : partitions) {
    ondemand::field partition;
    if (const auto code = std::move(entry).get(partition)) return Corrupt(code);
    ondemand::array stats;
    if (const auto code = partition.value().get_array().get(stats)) return Corrupt(code);
    for (auto item : stats) {
      ondemand::value stat;
      if (const auto code = std::move(item).get(stat)) return Corrupt(code);
      TRY_ASSIGN(WriteStat read, ReadStat(stat));
      Keep(std::move(read), files);
    }
  }
  return {};
}

Result<std::vector<WrittenFile>> ParseJson(std::string& body) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  ondemand::document document;
  const simdjson::padded_string_view padded(body.data(), body.size(), body.capacity());
  if (const auto code = parser.iterate(padded).get(document)) return Corrupt(code);
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return Corrupt(code);
  std::vector<WrittenFile> files;
  for (auto entry : root) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code);
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return Corrupt(code);
    if (key == "partitionToWriteStats") TRY(ReadPartitions(field.value(), files));
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return Corrupt(simdjson::TRAILING_CONTENT);
  return files;
}

constexpr std::array<std::string_view, 4> kStatFields = {"path", "prevCommit", "fileSizeInBytes",
                                                         "logOffset"};

Result<WriteStat> ReadStat(const avro::Datum& record) {
  if (record.type().kind != avro::Kind::kRecord)
    return Fail(ErrorKind::kUnsupported, "write stat is no record");
  std::array<std::optional<avro::Datum>, kStatFields.size()> row;
  TRY(record.ReadFields(avro::Selection(record.type(), kStatFields), row));
  const auto& [path, previous, size, log_offset] = row;
  WriteStat stat;
  if (path && !path->is_null()) {
    TRY_ASSIGN(stat.path, path->String());
  }
  if (previous && !previous->is_null()) {
    TRY_ASSIGN(stat.previous, previous->String());
  }
  if (size && !size->is_null()) {
    TRY_ASSIGN(stat.size, size->Long());
  }
  if (log_offset && !log_offset->is_null()) {
    TRY_ASSIGN(stat.log_offset, log_offset->Long());
  }
  return stat;
}

Result<std::vector<WrittenFile>> ParseAvro(std::string_view body) {
  TRY_ASSIGN(auto file, avro::Container::Open(body));
  TRY_ASSIGN(const auto record, file.Next());
  if (!record) return Fail(ErrorKind::kCorrupt, "file holds no record");
  std::vector<WrittenFile> files;
  TRY_ASSIGN(const auto by_partition, record->Field("partitionToWriteStats"));
  if (by_partition && !by_partition->is_null()) {
    TRY_ASSIGN(auto partitions, by_partition->OpenItems());
    while (true) {
      TRY_ASSIGN(const auto partition, partitions.Next());
      if (!partition) break;
      TRY_ASSIGN(auto stats, partition->value.OpenItems());
      while (true) {
        TRY_ASSIGN(const auto stat, stats.Next());
        if (!stat) break;
        TRY_ASSIGN(WriteStat read, ReadStat(stat->value));
        Keep(std::move(read), files);
      }
    }
  }
  // Asking for another one checks the rest of this one, and that the file ends behind it.
  TRY_ASSIGN(const auto second, file.Next());
  if (second) return Fail(ErrorKind::kCorrupt, "file holds several records");
  return files;
}

}  // namespace

Result<std::vector<WrittenFile>> ParseWrittenFiles(std::string body) {
  if (body.empty()) return std::vector<WrittenFile>();
  if (body.size() > kCommitBodySizeMax)
    return Fail(ErrorKind::kExhausted, fmt::format("commit body is over the bound size={} max={}",
                                                   body.size(), kCommitBodySizeMax));
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first != body.npos && body[first] == '{') return ParseJson(body);
  if (body.starts_with(avro::kContainerMagic)) return ParseAvro(body);
  return Fail(ErrorKind::kCorrupt,
              fmt::format("commit body is neither JSON nor Avro size={}", body.size()));
}

}  // namespace tidemark::lake::hudi
