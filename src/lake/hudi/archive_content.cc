#include "lake/hudi/archive_content.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "lake/hudi/log_file.h"

namespace tidemark::lake::hudi {
namespace {

// Findings of one file beyond these say nothing new.
constexpr size_t kFindingsMax = 100;

class LogContent {
 public:
  LogContent(std::string place, const ArchiveOptions& options)
      : place_(std::move(place)), options_(options) {}

  void ReadBlock(const LogBlock& block) {
    // Blocks of one writer repeat their schema, which is larger than what they hold.
    const auto text = block.Header(LogHeaderKey::kSchema);
    if (!schema_ || schema_text_ != text) {
      schema_.reset();
      auto parsed = avro::Schema::Parse(text);
      if (!parsed) {
        return Lose(fmt::format("{} offset={}", parsed.error().message, block.offset));
      }
      schema_ = *std::move(parsed);
      schema_text_ = text;
    }
    auto records = LogRecords::Open(block, *schema_);
    if (!records) return Lose(std::move(records).error().message);
    while (true) {
      const auto record = records->Next();
      if (!record) return Lose(record.error().message);
      if (!*record) return;
      auto archived = ReadArchivedEntry((*record)->datum, (*record)->length, options_);
      if (archived) {
        content_.instants.push_back(*std::move(archived));
      } else {
        Lose(std::move(archived).error().message);
      }
    }
  }

  void Find(Finding finding) {
    if (content_.findings.size() < kFindingsMax) content_.findings.push_back(std::move(finding));
  }
  ArchiveContent Finish(const LogReader::Losses& losses) && {
    if (losses.corrupt_blocks > 0) content_.is_whole = false;
    return std::move(content_);
  }

 private:
  void Lose(std::string message) {
    content_.is_whole = false;
    Find({"unreadable_archive_entry", place_, std::move(message)});
  }

  std::string place_;
  ArchiveOptions options_;
  ArchiveContent content_;
  std::optional<avro::Schema> schema_;
  std::string_view schema_text_;
};

}  // namespace

size_t ArchivedTextSize(const ArchivedInstant& archived) {
  size_t size = archived.defect.size() + FactsTextSize(archived.facts);
  for (const auto& [key, value] : archived.metadata.extra) size += key.size() + value.size();
  for (const auto& [partition, ids] : archived.metadata.replaced) {
    size += partition.size();
    for (const auto& id : ids) size += id.size();
  }
  if (archived.clean) {
    for (const auto& [partition, names] : archived.clean->removed) {
      size += partition.size();
      for (const auto& name : names) size += name.size();
    }
  }
  return size;
}

ArchiveContent ReadArchiveLog(std::string_view bytes, const std::string& place,
                              const ArchiveOptions& options) {
  LogContent content(place, options);
  LogReader reader(bytes, place, [&](Finding finding) { content.Find(std::move(finding)); });
  while (const auto block = reader.Next()) content.ReadBlock(*block);
  return std::move(content).Finish(reader.losses());
}

ArchiveContent ReadArchiveHistory(std::string_view bytes, const std::string& place,
                                  const ColumnReader& columns, const ArchiveOptions& options) {
  ArchiveContent content;
  size_t text = 0;
  const auto lose = [&](std::string kind, std::string message) {
    content.is_whole = false;
    if (content.findings.size() < kFindingsMax) {
      content.findings.push_back({std::move(kind), place, std::move(message)});
    }
  };
  const std::vector<std::string> names(kHistoryColumns.begin(), kHistoryColumns.end());
  const auto done = columns.ReadRows(bytes, names, [&](auto row) -> Status {
    auto archived = ReadHistoryRow(row, options);
    if (!archived) {
      lose("unreadable_archive_entry", std::move(archived).error().message);
      return {};
    }
    text += ArchivedTextSize(*archived);
    if (text > kArchivedTextMax) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("archive file holds too much text, text_max={}", kArchivedTextMax));
    }
    content.instants.push_back(*std::move(archived));
    return {};
  });
  if (!done) lose("unreadable_archive_file", done.error().message);
  return content;
}

}  // namespace tidemark::lake::hudi
