#include "scan/table_schema.h"

#include <fmt/format.h>

#include <ranges>
#include <utility>

#include "lake/hudi/commit_metadata.h"

namespace tidemark::scan {
namespace {

using lake::hudi::Instant;

constexpr std::string_view kSchemaKey = "schema";
constexpr std::string_view kInternalSchemaKey = "latest_schema";
constexpr std::string_view kCreateSchemaKey = "hoodie.table.create.schema";

Result<TableSchema> Parse(std::string json, std::string place, std::string internal_json) {
  auto schema = lake::avro::Schema::Parse(json);
  if (!schema) {
    return std::unexpected(
        std::move(schema).error().With(fmt::format("schema of the table in {}", place)));
  }
  return TableSchema{*std::move(schema), std::move(json), std::move(place),
                     std::move(internal_json)};
}

/// What one commit says.
struct Saying {
  std::optional<TableSchema> schema;
  bool is_repeated = false;  ///< of what it rewrote
};

Result<Saying> SchemaOf(const storage::ObjectStore& store, const Instant& commit,
                        const Budget& budget) {
  auto body = store.Read(commit.file, budget);
  if (!body && body.error().kind == ErrorKind::kNotFound) {
    return Fail(ErrorKind::kConflict,
                fmt::format("a commit went away while it was read, file={}", commit.file));
  }
  if (!body) return internal::Pass(body);
  auto metadata = lake::hudi::ParseCommitMetadata(*std::move(body));
  if (!metadata) return std::unexpected(std::move(metadata).error().With(commit.file));
  auto& extra = metadata->extra;
  const auto found = extra.find(std::string(kSchemaKey));
  if (found == extra.end() || found->second.empty()) return Saying{};
  const auto internal = extra.find(std::string(kInternalSchemaKey));
  TRY_ASSIGN(TableSchema schema, Parse(std::move(found->second), commit.file,
                                       internal == extra.end() ? "" : std::move(internal->second)));
  const bool is_repeated =
      metadata->operation && !lake::hudi::MayChangeSchema(*metadata->operation);
  return Saying{std::move(schema), is_repeated};
}

}  // namespace

Result<std::optional<TableSchema>> ReadTableSchema(const storage::ObjectStore& store,
                                                   const lake::hudi::TableProperties& properties,
                                                   const lake::hudi::Timeline& timeline,
                                                   const std::optional<std::string>& as_of,
                                                   const Budget& budget) {
  std::optional<TableSchema> repeated;  // by the newest commit that does
  for (const Instant& commit : std::views::reverse(timeline.instants)) {
    if (commit.state != lake::hudi::State::kCompleted || commit.is_archived) continue;
    if (!IsCommitAction(commit.action) || (as_of && commit.requested > *as_of)) continue;
    TRY(budget.Check());
    TRY_ASSIGN(Saying said, SchemaOf(store, commit, budget));
    if (said.schema && !said.is_repeated) return std::move(said.schema);
    if (said.schema && !repeated) repeated = std::move(said.schema);
  }
  if (repeated) return repeated;
  const auto created = properties.Find(kCreateSchemaKey);
  if (!created || created->empty()) return std::nullopt;
  TRY_ASSIGN(TableSchema schema, Parse(std::string(*created), "hoodie.properties", ""));
  return schema;
}

}  // namespace tidemark::scan
