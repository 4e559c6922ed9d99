#include "lake/hudi/json_members.h"

#include <fmt/core.h>
// Without them a forgotten error check does not compile, instead of throwing.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

namespace tidemark::lake::hudi {
namespace {

namespace ondemand = simdjson::ondemand;

std::unexpected<Error> Corrupt(simdjson::error_code code) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("value is no whole JSON object json={}", simdjson::error_message(code)));
}

Result<JsonMember> ReadMember(ondemand::field field) {
  std::string_view name;
  if (const auto code = field.unescaped_key().get(name)) return Corrupt(code);
  JsonMember member{std::string(name), std::nullopt};
  ondemand::json_type type{};
  if (const auto code = field.value().type().get(type)) return Corrupt(code);
  if (type == ondemand::json_type::string) {
    std::string_view text;
    if (const auto code = field.value().get_string().get(text)) return Corrupt(code);
    member.second = text;
  }
  return member;
}

}  // namespace

Result<std::vector<JsonMember>> ParseJsonMembers(std::string_view text) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  if (const auto code = parser.iterate(padded).get(document)) return Corrupt(code);
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return Corrupt(code);
  std::vector<JsonMember> members;
  for (auto entry : root) {
    ondemand::field field;
    if (const auto code = std::move(entry).get(field)) return Corrupt(code);
    TRY_ASSIGN(auto member, ReadMember(field));
    members.push_back(std::move(member));
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return Corrupt(simdjson::TRAILING_CONTENT);
  return members;
}

}  // namespace tidemark::lake::hudi
