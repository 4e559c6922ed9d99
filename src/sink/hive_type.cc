#include "sink/hive_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/letter_case.h"

namespace tidemark::sink {

namespace {

using change::Column;

/// The word before '<' or '('.
std::string_view Word(std::string_view type) {
  return type.substr(0, type.find_first_of("<("));
}

struct TypeWords {
  std::string_view ours;
  std::string_view hive;
  std::string_view spark;
};

/// Types without parameters whose words differ. Times of day have no type in Hive or Spark: Hudi
/// gives their number (HiveSchemaUtil, AvroConversionUtils). Milliseconds, microseconds and
/// nanoseconds are one timestamp. Local timestamps have no type of their own in Hive 2 and 3.
constexpr std::array<TypeWords, 13> kTypeWords = {
    {{"int", "int", "integer"},
     {"bigint", "bigint", "long"},
     {"time_millis", "int", "integer"},
     {"time", "bigint", "long"},
     {"timestamp_millis", "timestamp", "timestamp"},
     {"timestamp_nanos", "timestamp", "timestamp"},
     {"timestamp_ntz", "timestamp", "timestamp_ntz"},
     {"timestamp_ntz_millis", "timestamp", "timestamp_ntz"},
     {"timestamp_ntz_nanos", "timestamp", "timestamp_ntz"},
     {"uuid", "string", "string"},
     {"fixed", "binary", "binary"},
     {"void", "string", "void"},
     {"union", "string", "string"}}};

const TypeWords* WordsOf(std::string_view type) {
  const auto* const it = std::ranges::find(kTypeWords, Word(type), &TypeWords::ours);
  return it == kTypeWords.end() ? nullptr : &*it;
}

nlohmann::ordered_json SparkType(const Column& column);

nlohmann::ordered_json SparkField(const Column& column) {
  auto metadata = nlohmann::ordered_json::object();
  if (!column.comment.empty()) metadata["comment"] = column.comment;
  return {{"name", column.name},
          {"type", SparkType(column)},
          {"nullable", column.is_nullable},
          {"metadata", std::move(metadata)}};
}

nlohmann::ordered_json SparkType(const Column& column) {
  const std::string_view word = Word(column.type);
  if (word == "struct") {
    auto fields = nlohmann::ordered_json::array();
    for (const auto& child : column.children) fields.push_back(SparkField(child));
    return {{"type", "struct"}, {"fields", std::move(fields)}};
  }
  if (word == "array" && column.children.size() == 1) {
    return {{"type", "array"},
            {"elementType", SparkType(column.children[0])},
            {"containsNull", column.children[0].is_nullable}};
  }
  if (word == "map" && column.children.size() == 2) {
    return {{"type", "map"},
            {"keyType", SparkType(column.children[0])},
            {"valueType", SparkType(column.children[1])},
            {"valueContainsNull", column.children[1].is_nullable}};
  }
  const TypeWords* const words = WordsOf(column.type);
  return words != nullptr ? std::string(words->spark) : column.type;
}

/// One of Hive's types, taken apart.
struct Parsed {
  std::string word;                    // in lower case
  std::vector<std::string> arguments;  // of decimal, char, varchar
  std::vector<std::string> names;      // of the children; empty ones but in a struct
  std::vector<Parsed> children;
};

bool IsNested(std::string_view word) {
  return word == "struct" || word == "array" || word == "map" || word == "uniontype";
}

/// Reads one type; nullopt at anything that is none.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  std::optional<Parsed> ReadWhole() {
    auto parsed = Read(0);
    if (at_ != text_.size()) return std::nullopt;
    return parsed;
  }

 private:
  std::optional<Parsed> Read(int depth) {
    if (depth > kTypeDepthMax) return std::nullopt;
    Parsed parsed;
    const size_t end = text_.find_first_of("<>(),:", at_);
    parsed.word = LowerCase(text_.substr(at_, end - at_));
    if (parsed.word.empty()) return std::nullopt;
    at_ = std::min(end, text_.size());
    if (Skip('(')) return ReadArguments(std::move(parsed));
    if (!Skip('<')) {
      if (IsNested(parsed.word)) return std::nullopt;
      return parsed;
    }
    do {
      std::string name;
      if (parsed.word == "struct") {
        const size_t colon = text_.find_first_of(":<>(),", at_);
        if (colon == std::string_view::npos || text_[colon] != ':') return std::nullopt;
        name = LowerCase(text_.substr(at_, colon - at_));
        at_ = colon + 1;
      }
      auto child = Read(depth + 1);
      if (!child) return std::nullopt;
      parsed.names.push_back(std::move(name));
      parsed.children.push_back(*std::move(child));
    } while (Skip(','));
    if (!Skip('>')) return std::nullopt;
    return parsed;
  }

  std::optional<Parsed> ReadArguments(Parsed parsed) {
    do {
      const size_t end = text_.find_first_of(",)", at_);
      if (end == std::string_view::npos) return std::nullopt;
      std::string argument(text_.substr(at_, end - at_));
      std::erase(argument, ' ');
      parsed.arguments.push_back(std::move(argument));
      at_ = end;
    } while (Skip(','));
    if (!Skip(')')) return std::nullopt;
    return parsed;
  }

  bool Skip(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<int> NumberOf(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Digits before and behind the point.
std::optional<std::pair<int, int>> DigitsOf(const Parsed& decimal) {
  if (decimal.arguments.size() != 2) return std::nullopt;
  const auto precision = NumberOf(decimal.arguments[0]);
  const auto scale = NumberOf(decimal.arguments[1]);
  if (!precision || !scale) return std::nullopt;
  return std::pair(*precision - *scale, *scale);
}

bool IsWiderDecimal(const Parsed& from, const Parsed& to) {
  const auto a = DigitsOf(from);
  const auto b = DigitsOf(to);
  return a && b && b->first >= a->first && b->second >= a->second;
}

/// 0 for what is no number of this row.
int NumberRank(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWidening = {"tinyint", "smallint", "int",
                                                         "bigint",  "float",    "double"};
  const auto* const it = std::ranges::find(kWidening, word);
  return it == kWidening.end() ? 0 : static_cast<int>(it - kWidening.begin()) + 1;
}

bool IsWiderSimple(const Parsed& from, const Parsed& to) {
  if (from.word == "decimal" && to.word == "decimal") return IsWiderDecimal(from, to);
  if (from.word == to.word) return from.arguments == to.arguments;
  if (to.word == "string") return from.word != "binary";
  const int before = NumberRank(from.word);
  const int after = NumberRank(to.word);
  if (before != 0 && after != 0) return before < after;
  // Hudi's schema-on-read evolution writes such a decimal wide enough, or refuses.
  return before != 0 && to.word == "decimal";
}

bool IsReadable(const Parsed& from, const Parsed& to) {
  if (from.children.empty() && to.children.empty()) return IsWiderSimple(from, to);
  if (from.word != to.word) return false;
  if (from.word != "struct") {
    return from.children.size() == to.children.size() &&
           std::ranges::equal(from.children, to.children, IsReadable);
  }
  std::map<std::string_view, const Parsed*> before;
  for (size_t i = 0; i < from.children.size(); ++i)
    before.emplace(from.names[i], &from.children[i]);
  for (size_t i = 0; i < to.children.size(); ++i) {
    const auto it = before.find(to.names[i]);
    if (it != before.end() && !IsReadable(*it->second, to.children[i])) return false;
  }
  return true;
}

}  // namespace

std::string HiveType(const Column& column) {
  const std::string_view word = Word(column.type);
  if (word == "struct") {
    std::string fields;
    for (const auto& child : column.children)
      fields +=
          fmt::format("{}{}:{}", fields.empty() ? "" : ",", LowerCase(child.name), HiveType(child));
    return fmt::format("struct<{}>", fields);
  }
  if (word == "array" && column.children.size() == 1)
    return fmt::format("array<{}>", HiveType(column.children[0]));
  if (word == "map" && column.children.size() == 2) {
    return fmt::format("map<{},{}>", HiveType(column.children[0]), HiveType(column.children[1]));
  }
  const TypeWords* const words = WordsOf(column.type);
  return words != nullptr ? std::string(words->hive) : column.type;
}

std::string SparkSchemaJson(std::span<const Column> columns, std::span<const std::string> last) {
  auto fields = nlohmann::ordered_json::array();
  const auto is_last = [&](const Column& column) {
    return std::ranges::find(last, column.name) != last.end();
  };
  for (const auto& column : columns)
    if (!is_last(column)) fields.push_back(SparkField(column));
  for (const auto& name : last) {
    const auto it = std::ranges::find(columns, name, &Column::name);
    if (it != columns.end()) fields.push_back(SparkField(*it));
  }
  const nlohmann::ordered_json schema = {{"type", "struct"}, {"fields", std::move(fields)}};
  return schema.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool IsReadableAs(std::string_view from, std::string_view to) {
  if (from == to) return true;
  const auto before = TypeReader(from).ReadWhole();
  const auto after = TypeReader(to).ReadWhole();
  return before && after && IsReadable(*before, *after);
}

}  // namespace tidemark::sink
