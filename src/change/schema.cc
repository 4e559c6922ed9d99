#include "change/schema.h"

#include <fmt/format.h>

#include <utility>

#include "change/columns_internal.h"
#include "change/digest.h"

namespace tidemark::change {
namespace {

constexpr std::string_view kCanonicalHead = "tidemark schema 1\n";

/// The shortest JSON string of a text, whatever its bytes.
void AppendJson(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

void AppendCanonical(std::span<const Column> columns, int depth, std::string& out) {
  for (const Column& column : columns) {
    const std::string_view word = ContainerWord(column.type);
    out += fmt::format("[{},", depth);
    AppendJson(column.name, out);
    out += ',';
    AppendJson(word.empty() ? std::string_view(column.type) : word, out);
    out += column.is_nullable ? ",true," : ",false,";
    if (column.default_json)
      AppendJson(*column.default_json, out);
    else
      out += "null";
    out += ',';
    AppendJson(column.comment, out);
    out += "]\n";
    AppendCanonical(column.children, depth + 1, out);
  }
}

class Finisher {
 public:
  Status Finish(std::vector<Column>& columns, const std::string& above) {
    for (size_t i = 0; i < columns.size(); ++i) {
      Column& column = columns[i];
      column.position = static_cast<int>(i);
      column.path = above.empty() ? column.name : above + '.' + column.name;
      TRY(Finish(column.children, column.path));
      if (!ContainerWord(column.type).empty()) column.type = NestedName(column);
      bytes_ += column.type.size() + column.path.size();
      if (bytes_ > kTypeTextMax) {
        return Fail(ErrorKind::kExhausted,
                    fmt::format("schema has too much text text_max={}", kTypeTextMax));
      }
    }
    return {};
  }

 private:
  static std::string NestedName(const Column& column) {
    std::string name = column.type + '<';
    for (const Column& child : column.children) {
      if (child.position > 0) name += ',';
      if (column.type == kStruct) (name += QuotedName(child.name)) += ':';
      name += child.type;
    }
    return name + '>';
  }

  size_t bytes_ = 0;
};

}  // namespace

Result<Schema> FinishSchema(std::vector<Column> columns) {
  TRY(Finisher().Finish(columns, ""));
  Schema schema;
  schema.columns = std::move(columns);
  // No schema at all has no fingerprint, and who reads an event cannot tell one without columns.
  if (!schema.columns.empty()) schema.fingerprint = HexOf(HashOf(CanonicalText(schema.columns)));
  return schema;
}

std::string CanonicalText(std::span<const Column> columns) {
  std::string text(kCanonicalHead);
  AppendCanonical(columns, 0, text);
  return text;
}

Result<std::optional<Schema>> SchemaOf(const std::map<std::string, std::string>& extra) {
  const auto text_of = [&](const char* key) -> std::string_view {
    const auto found = extra.find(key);
    return found == extra.end() ? std::string_view() : found->second;
  };
  const std::string_view avro = text_of("schema");
  const std::string_view internal = text_of("latest_schema");
  if (!internal.empty()) return ParseInternalColumns(internal, avro);
  if (!avro.empty()) return ParseAvroColumns(avro);
  return std::nullopt;
}

}  // namespace tidemark::change
