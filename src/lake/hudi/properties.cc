#include "lake/hudi/properties.h"

#include <fmt/core.h>
#include <zlib.h>

#include <charconv>
#include <cstdint>
#include <utility>

namespace tidemark::lake::hudi {
namespace {

constexpr int kTableVersionMax = 9;
constexpr int kLayoutVersionMax = 2;
constexpr int kFirstVersionOfLayout2 = 8;

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}
bool IsLineEnd(char c) {
  return c == '\n' || c == '\r';
}

void AppendUtf8(uint32_t point, std::string& out) {
  const auto byte = [&](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xc0 | (point >> 6));
    byte(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    byte(0xe0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3f));
    byte(0x80 | (point & 0x3f));
  } else {
    byte(0xf0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3f));
    byte(0x80 | ((point >> 6) & 0x3f));
    byte(0x80 | (point & 0x3f));
  }
}

/// Splits the text into logical lines: comments and blank lines dropped, continuations joined.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  /// The next logical line with its escapes still in it; false at the end. `line_number` is that of
  /// its first natural line, from 1.
  bool Next(std::string& line, size_t& line_number) {
    while (position_ < text_.size()) {
      SkipBlanks();
      if (position_ >= text_.size()) return false;
      line_number = line_number_;
      const char first = text_[position_];
      if (first == '#' || first == '!') {
        SkipNaturalLine();
      } else if (IsLineEnd(first)) {
        SkipLineEnd();
      } else {
        line.clear();
        while (TakeNaturalLine(line)) SkipBlanks();
        return true;
      }
    }
    return false;
  }

 private:
  void SkipBlanks() {
    while (position_ < text_.size() && IsBlank(text_[position_])) ++position_;
  }

  void SkipLineEnd() {
    if (text_[position_] == '\r' && position_ + 1 < text_.size() && text_[position_ + 1] == '\n')
      ++position_;
    ++position_;
    ++line_number_;
  }

  void SkipNaturalLine() {
    while (position_ < text_.size() && !IsLineEnd(text_[position_])) ++position_;
    if (position_ < text_.size()) SkipLineEnd();
  }

  /// Appends up to the end of the natural line; true when it ends in a lone backslash, which is
  /// then taken off: the next natural line belongs to it.
  bool TakeNaturalLine(std::string& line) {
    bool is_escaped = false;
    while (position_ < text_.size() && !IsLineEnd(text_[position_])) {
      is_escaped = text_[position_] == '\\' && !is_escaped;
      line.push_back(text_[position_++]);
    }
    if (is_escaped) line.pop_back();
    const bool has_more = position_ < text_.size();
    if (has_more) SkipLineEnd();
    return is_escaped && has_more;
  }

  std::string_view text_;
  size_t position_ = 0;
  size_t line_number_ = 1;
};

/// Value of the four hex digits at `at`; nullopt when there are none.
std::optional<uint32_t> HexUnit(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  uint32_t unit = 0;
  const char* end = text.data() + at + 4;
  const auto parsed = std::from_chars(text.data() + at, end, unit, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return unit;
}

/// Resolves the escapes of one key or value; nullopt for a broken \uXXXX.
std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      if (text[i] != '\\') out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    if (c != 'u') {
      out.push_back(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c);
      continue;
    }
    auto point = HexUnit(text, i + 1);
    if (!point) return std::nullopt;
    i += 4;
    if (*point >= 0xd800 && *point <= 0xdfff) {
      // Two escapes make one character beyond the first plane; half of one is no character.
      const bool has_low = *point < 0xdc00 && text.substr(i + 1, 2) == "\\u";
      const auto low = has_low ? HexUnit(text, i + 3) : std::nullopt;
      if (low && *low >= 0xdc00 && *low <= 0xdfff) {
        point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
        i += 6;
      } else {
        point = 0xfffd;
      }
    }
    AppendUtf8(*point, out);
  }
  return out;
}

/// Where the key of a logical line ends and where its value begins.
std::pair<size_t, size_t> SplitKey(std::string_view line) {
  size_t end = 0;
  bool is_escaped = false;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (!is_escaped && (c == '=' || c == ':' || IsBlank(c))) break;
    is_escaped = c == '\\' && !is_escaped;
  }
  size_t begin = end;
  while (begin < line.size() && IsBlank(line[begin])) ++begin;
  if (begin < line.size() && (line[begin] == '=' || line[begin] == ':')) ++begin;
  while (begin < line.size() && IsBlank(line[begin])) ++begin;
  return {end, begin};
}

using PropertyMap = std::map<std::string, std::string>;

std::optional<std::string_view> FindIn(const PropertyMap& all, std::string_view key) {
  const auto found = all.find(std::string(key));
  if (found == all.end()) return std::nullopt;
  return std::string_view(found->second);
}

/// A version number; `missing` when the property is absent.
Result<int> VersionOf(const PropertyMap& all, std::string_view key, int missing, int max) {
  const auto text = FindIn(all, key);
  if (!text) return missing;
  int version = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), version);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || version < 0)
    return Fail(ErrorKind::kCorrupt, fmt::format("property is no version {}={}", key, *text));
  if (version > max) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("table is newer than this program reads {}={} newest_readable={}", key,
                            version, max));
  }
  return version;
}

/// Hudi's guard against a torn file: CRC-32 over "database.table", which covers nothing else.
Status CheckChecksum(const PropertyMap& all) {
  const auto stored = FindIn(all, "hoodie.table.checksum");
  if (!stored) return {};
  const std::string covered = fmt::format("{}.{}", FindIn(all, "hoodie.database.name").value_or(""),
                                          FindIn(all, "hoodie.table.name").value_or(""));
  const auto computed = std::to_string(
      crc32(0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size())));
  if (computed != *stored) {
    return Fail(
        ErrorKind::kCorrupt,
        fmt::format("properties checksum does not match stored={} computed={}", *stored, computed));
  }
  return {};
}

/// A folder below `.hoodie`, as a key. Names that lead elsewhere are refused.
Result<std::string> FolderOf(const PropertyMap& all, std::string_view key,
                             std::string_view missing) {
  auto folder = FindIn(all, key).value_or(missing);
  if (folder.empty()) folder = missing;
  std::string_view rest = folder;
  while (true) {
    const size_t slash = rest.find('/');
    const auto part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos)
      return Fail(ErrorKind::kCorrupt, fmt::format("property is no folder {}={}", key, folder));
    if (slash == rest.npos) return std::string(folder);
    rest.remove_prefix(slash + 1);
  }
}

Status SetFolders(TableProperties& table) {
  if (table.layout < 2) {
    table.timeline_folder = ".hoodie";
    TRY_ASSIGN(const auto archive, FolderOf(table.all, "hoodie.archivelog.folder", "archived"));
    table.archive_folder = ".hoodie/" + archive;
    return {};
  }
  TRY_ASSIGN(const auto timeline, FolderOf(table.all, "hoodie.timeline.path", "timeline"));
  TRY_ASSIGN(const auto history, FolderOf(table.all, "hoodie.timeline.history.path", "history"));
  table.timeline_folder = ".hoodie/" + timeline;
  table.archive_folder = table.timeline_folder + "/" + history;
  return {};
}

}  // namespace

std::optional<std::string_view> TableProperties::Find(std::string_view key) const {
  return FindIn(all, key);
}

Result<PropertyMap> ParseJavaProperties(std::string_view text) {
  PropertyMap properties;
  LogicalLines lines(text);
  std::string line;
  size_t line_number = 0;
  while (lines.Next(line, line_number)) {
    const auto [key_end, value_begin] = SplitKey(line);
    auto key = Unescape(std::string_view(line).substr(0, key_end));
    auto value = Unescape(std::string_view(line).substr(value_begin));
    if (!key || !value)
      return Fail(ErrorKind::kCorrupt,
                  fmt::format("properties hold a broken \\uXXXX escape line={}", line_number));
    properties.insert_or_assign(*std::move(key), *std::move(value));
  }
  return properties;
}

Result<TableProperties> ParseTableProperties(std::string_view text) {
  TableProperties table;
  TRY_ASSIGN(table.all, ParseJavaProperties(text));
  table.is_torn = text.starts_with('#') && !IsLineEnd(text.back());
  const auto name = table.Find("hoodie.table.name");
  if (!name || name->empty())
    return Fail(
        ErrorKind::kCorrupt,
        fmt::format("properties name no table missing=hoodie.table.name size={}", text.size()));
  table.name = *name;
  TRY(CheckChecksum(table.all));

  TRY_ASSIGN(table.version, VersionOf(table.all, "hoodie.table.version", 0, kTableVersionMax));
  TRY_ASSIGN(table.layout,
             VersionOf(table.all, "hoodie.timeline.layout.version",
                       table.version >= kFirstVersionOfLayout2 ? 2 : 1, kLayoutVersionMax));
  const auto type = table.Find("hoodie.table.type").value_or("COPY_ON_WRITE");
  if (type == "MERGE_ON_READ") {
    table.type = TableType::kMergeOnRead;
  } else if (type != "COPY_ON_WRITE") {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("property is no table type hoodie.table.type={}", type));
  }
  const auto zone = table.Find("hoodie.table.timeline.timezone").value_or("LOCAL");
  table.zone = zone == "UTC" || zone == "utc" ? TimelineZone::kUtc : TimelineZone::kLocal;
  TRY(SetFolders(table));
  return table;
}

}  // namespace tidemark::lake::hudi
