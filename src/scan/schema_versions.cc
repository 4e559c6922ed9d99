#include "scan/schema_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace tidemark::scan {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = ".hoodie/.schema/";
constexpr std::string_view kEnding = ".schemacommit";
constexpr size_t kInstantDigits = 17;
constexpr int kDepthMax = 128;

std::string Padded(std::string_view instant) {
  std::string padded(instant);
  if (padded.size() == 14) padded += "999";  // as Hudi reads the old form
  if (padded.size() < kInstantDigits) padded.insert(0, kInstantDigits - padded.size(), '0');
  return padded;
}

std::unexpected<Error> Broken(std::string_view what) {
  return Fail(
      ErrorKind::kCorrupt,
      fmt::format("schema evolution's record of the table is not readable, reason={}", what));
}

/// The member of an object; nullptr when it is not there.
const json* Member(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? nullptr : &*found;
}

template <class Add>
Status Walk(const json& type, const std::string& path, int depth, const Add& add);

/// A field with an id under `id_name`, and what is inside of it.
template <class Add>
Status WalkField(const json* id, const json* type, const std::string& path, const std::string& name,
                 int depth, const Add& add) {
  if (id == nullptr || type == nullptr || !id->is_number_integer()) return Broken("a field");
  add(id->get<int64_t>(), path, name);
  return Walk(*type, path, depth + 1, add);
}

template <class Add>
Status Walk(const json& type, const std::string& path, int depth, const Add& add) {
  if (depth > kDepthMax) return Broken("types too deep");
  if (type.is_string()) return {};
  const json* kind = Member(type, "type");
  if (kind == nullptr || !kind->is_string()) return Broken("a type");
  const std::string before = path.empty() ? "" : path + ".";
  if (*kind == "record") {
    const json* fields = Member(type, "fields");
    if (fields == nullptr || !fields->is_array()) return Broken("a record");
    for (const json& field : *fields) {
      const json* name = Member(field, "name");
      if (name == nullptr || !name->is_string()) return Broken("a field's name");
      const auto text = name->get<std::string>();
      TRY(WalkField(Member(field, "id"), Member(field, "type"), before + text, text, depth, add));
    }
    return {};
  }
  if (*kind == "array") {
    return WalkField(Member(type, "element_id"), Member(type, "element"), before + "item", "item",
                     depth, add);
  }
  if (*kind == "map") {
    return WalkField(Member(type, "value_id"), Member(type, "value"), before + "value", "value",
                     depth, add);
  }
  return Broken(kind->get<std::string>());
}

Result<std::string> VersionOf(const json& schema) {
  const json* version = Member(schema, "version_id");
  if (version == nullptr || !version->is_number_integer()) return Broken("version_id");
  return Padded(version->dump());
}

}  // namespace

Result<SchemaVersions> SchemaVersions::Parse(std::string_view current, std::string_view history) {
  SchemaVersions made;
  const auto read = [&](const json& schema) -> Result<Fields> {
    Fields fields;
    TRY(Walk(schema, "", 0, [&](int64_t id, const std::string& path, const std::string& name) {
      fields[id] = {path, name};
    }));
    return fields;
  };
  if (!history.empty()) {
    const json parsed = json::parse(history, nullptr, false);
    const json* schemas = Member(parsed, "schemas");
    if (schemas == nullptr || !schemas->is_array()) return Broken("no list of schemas");
    for (const json& schema : *schemas) {
      TRY_ASSIGN(const std::string version, VersionOf(schema));
      TRY_ASSIGN(made.versions_[version], read(schema));
    }
  }
  const json parsed = json::parse(current, nullptr, false);
  TRY_ASSIGN(made.current_, read(parsed));
  TRY_ASSIGN(const std::string version, VersionOf(parsed));
  made.versions_[version] = made.current_;
  for (const auto& [instant, fields] : made.versions_) {
    if (!made.NamesAt(instant).empty()) made.has_renames_ = true;
  }
  return made;
}

std::vector<columnar::FileColumnName> SchemaVersions::NamesAt(std::string_view instant) const {
  std::vector<columnar::FileColumnName> names;
  if (versions_.empty()) return names;
  auto version = versions_.upper_bound(Padded(instant));
  if (version != versions_.begin()) --version;
  const Fields& then = version->second;
  std::set<std::string_view> taken;  // paths the file has
  for (const auto& [id, field] : then) taken.insert(field.path);
  for (const auto& [id, field] : current_) {
    const auto old = then.find(id);
    if (old == then.end()) {
      // A dropped column of the same name is another one.
      if (taken.contains(field.path)) names.push_back({field.path, std::nullopt});
    } else if (old->second.name != field.name) {
      names.push_back({field.path, old->second.name});
    }
  }
  return names;
}

Result<std::string> ReadSchemaHistory(const storage::ObjectStore& store,
                                      const lake::hudi::CommittedInstants& instants,
                                      const Budget& budget) {
  TRY_ASSIGN(const auto listing, store.List(kFolder, {}, budget));
  std::string newest;
  std::string newest_key;
  for (const auto& object : listing.objects) {
    std::string_view name = std::string_view(object.key).substr(object.key.rfind('/') + 1);
    if (!name.ends_with(kEnding)) continue;
    name.remove_suffix(kEnding.size());
    const std::string requested(name.substr(0, name.find('_')));
    if (requested <= newest || requested > instants.newest()) continue;
    if (!instants.IsCommitted(requested)) continue;
    newest = requested;
    newest_key = object.key;
  }
  if (newest_key.empty()) return std::string();
  return store.Read(newest_key, budget);
}

}  // namespace tidemark::scan
