#include "cli/log_table.h"

#include <fmt/format.h>

#include <vector>

#include "base/utf8.h"
#include "lake/hudi/delete_text.h"

namespace tidemark::cli {

namespace {

using lake::hudi::DeleteRecord;
using lake::hudi::LogBlock;
using lake::hudi::LogBlockKind;
using lake::hudi::LogEntry;
using lake::hudi::LogEntryState;
using lake::hudi::LogHeaderKey;

/// Longer header values are cut; --format json has them whole.
constexpr size_t kValueShownMax = 60;

/// "record t_record, 12 fields".
std::string SchemaText(std::string_view text) {
  const auto schema = lake::avro::Schema::Parse(text);
  if (!schema) return fmt::format("unreadable, {} bytes", text.size());
  const lake::avro::Type& root = schema->root();
  return fmt::format("{} {}, {} fields", KindName(root.kind), root.name, root.fields.size());
}

std::string ValueText(LogHeaderKey key, std::string_view value) {
  if (key == LogHeaderKey::kSchema) return SchemaText(value);
  if (value.size() <= kValueShownMax) return std::string(value);
  return fmt::format("{}… ({} bytes)", value.substr(0, kValueShownMax), value.size());
}

/// What stands in no column of its own.
std::string HeadersText(const LogBlock& block) {
  std::string text;
  for (const auto& [key, value] : block.header) {
    if (key == LogHeaderKey::kInstantTime) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}={}", LogHeaderKeyName(key), ValueText(key, value));
  }
  return text;
}

std::string DeleteText(const DeleteRecord& record) {
  return fmt::format("delete key={} partition={} ordering={} ({})", record.key.value_or("null"),
                     record.partition.value_or("null"), OrderingText(record.ordering),
                     OrderingTypeText(record.ordering));
}

Colour ColourOf(LogEntryState state) {
  switch (state) {
    case LogEntryState::kSound: return Colour::kGreen;
    case LogEntryState::kUnreadable: return Colour::kYellow;
    default: return Colour::kRed;
  }
}

std::string KindText(const LogEntry& entry) {
  if (!entry.block) return "-";
  std::string text(LogBlockKindName(entry.block->kind));
  if (entry.content_version) text += fmt::format(" v{}", *entry.content_version);
  return text;
}

std::vector<TextTable::Cell> RowOf(const LogEntry& entry) {
  const bool is_block = entry.block.has_value();
  const auto instant =
      is_block ? entry.block->Header(LogHeaderKey::kInstantTime) : std::string_view();
  const auto number = [](uint64_t value) {
    return TextTable::Cell{std::to_string(value), Colour::kPlain, true};
  };
  return {number(entry.offset),
          number(entry.size),
          {is_block ? std::to_string(entry.block->version) : "-", Colour::kPlain, true},
          {KindText(entry)},
          {instant.empty() ? "-" : std::string(instant)},
          {entry.records ? std::to_string(*entry.records) : "-", Colour::kPlain, true},
          {std::string(LogEntryStateName(entry.state)), ColourOf(entry.state)}};
}

}  // namespace

std::string LogTable(std::string_view file, uint64_t size, const lake::hudi::LogListing& listing,
                     const Terminal& terminal) {
  std::string out = fmt::format("{}  {} bytes\n", Printable(file), size);
  if (listing.entries.empty()) return out + "\nempty: no block was written to it\n";
  TextTable table({"OFFSET", "SIZE", "VERSION", "KIND", "INSTANT", "RECORDS", "STATE"});
  for (const LogEntry& entry : listing.entries) {
    table.AddRow(RowOf(entry));
    if (!entry.reason.empty()) table.AddNote(entry.reason);
    if (!entry.block) continue;
    const std::string headers = HeadersText(*entry.block);
    if (!headers.empty()) table.AddNote(headers);
    if (entry.block->kind != LogBlockKind::kDelete) continue;
    ForEachDelete(*entry.block,
                  [&](const DeleteRecord& record) { table.AddNote(DeleteText(record)); });
  }
  return out + "\n" + table.Render(terminal);
}

}  // namespace tidemark::cli
