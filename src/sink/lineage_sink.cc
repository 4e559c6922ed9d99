#include "sink/lineage_sink.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/time_text.h"

namespace tidemark::sink {

namespace {

using nlohmann::ordered_json;

constexpr const char* kEventSchema =
    "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent";
constexpr const char* kSchemaFacet =
    "https://openlineage.io/spec/facets/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet";
constexpr const char* kVersionFacet =
    "https://openlineage.io/spec/facets/1-0-1/DatasetVersionDatasetFacet.json"
    "#/$defs/DatasetVersionDatasetFacet";
constexpr const char* kLifecycleFacet =
    "https://openlineage.io/spec/facets/1-0-1/LifecycleStateChangeDatasetFacet.json"
    "#/$defs/LifecycleStateChangeDatasetFacet";

ordered_json Facet(std::string_view producer, const char* schema) {
  return {{"_producer", producer}, {"_schemaURL", schema}};
}

ordered_json FieldsJson(const std::vector<change::Column>& columns) {
  auto fields = ordered_json::array();
  int position = 0;
  for (const auto& column : columns) {
    ordered_json field = {{"name", column.name}, {"type", column.type}};
    if (!column.comment.empty()) field["description"] = column.comment;
    field["ordinal_position"] = ++position;
    if (!column.children.empty()) field["fields"] = FieldsJson(column.children);
    fields.push_back(std::move(field));
  }
  return fields;
}

std::optional<std::string_view> LifecycleOf(const SinkUpdate& update) {
  if (update.now.is_dropped) return "DROP";
  if (update.delta == nullptr) return std::nullopt;
  if (update.delta->is_new) return "CREATE";
  if (update.delta->has_schema_change) return "ALTER";
  return std::nullopt;
}

}  // namespace

DatasetName DatasetNameOf(std::string_view base_path) {
  const size_t scheme = base_path.find("://");
  if (scheme == std::string_view::npos || base_path.starts_with("file:")) {
    if (scheme != std::string_view::npos) base_path.remove_prefix(scheme + 3);
    return {.space = "file", .name = std::string(base_path)};
  }
  const size_t slash = base_path.find('/', scheme + 3);
  std::string space(base_path.substr(0, slash));
  for (const std::string_view other : {"s3a://", "s3n://"})
    if (space.starts_with(other)) space.replace(0, other.size(), "s3://");
  return {.space = std::move(space),
          .name = slash == std::string_view::npos ? "/" : std::string(base_path.substr(slash + 1))};
}

std::string LineageEvent(const SinkUpdate& update, std::string_view producer, WallTime now) {
  const DatasetName name = DatasetNameOf(update.now.identity.base_path);
  ordered_json facets = ordered_json::object();
  if (!update.now.schema.columns.empty()) {
    facets["schema"] = Facet(producer, kSchemaFacet);
    facets["schema"]["fields"] = FieldsJson(update.now.schema.columns);
  }
  facets["version"] = Facet(producer, kVersionFacet);
  facets["version"]["datasetVersion"] = StampText(update.stamp);
  if (const auto lifecycle = LifecycleOf(update)) {
    facets["lifecycleStateChange"] = Facet(producer, kLifecycleFacet);
    facets["lifecycleStateChange"]["lifecycleStateChange"] = *lifecycle;
  }
  const ordered_json event = {
      {"eventTime", FormatRfc3339(update.now.last_commit_at.value_or(now))},
      {"producer", producer},
      {"schemaURL", kEventSchema},
      {"dataset", {{"namespace", name.space}, {"name", name.name}, {"facets", facets}}}};
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

SinkOutcome LineageSink::Apply(const SinkUpdate& update, const Budget& budget) {
  if (update.applied && *update.applied >= update.stamp) return {};
  std::string url = options_.url;
  while (url.ends_with('/')) url.pop_back();
  const std::string body = LineageEvent(update, options_.producer, SystemClock().Now());
  const auto sent = receiver_.Send({.method = "POST",
                                    .url = url + "/api/v1/lineage",
                                    .content_type = "application/json; charset=utf-8",
                                    .body = body},
                                   budget);
  if (sent) return {.was_full = update.delta == nullptr};
  SinkOutcome outcome = OutcomeOf(sent.error());
  if (outcome.kind == OutcomeKind::kPermanent)
    outcome.cure = "look why the receiver refuses the event, then resume the sink";
  return outcome;
}

Status LineageSink::Check(const Budget& budget) {
  TRY(budget.Check());
  return push::CheckHttpUrl(options_.url);
}

}  // namespace tidemark::sink
