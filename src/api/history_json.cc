#include "api/history_json.h"

#include "api/json_writer_internal.h"

namespace tidemark::api {

std::string HistoryJson(std::string_view pipeline, WallTime from, WallTime to,
                        std::span<const state::HistoryPoint> points) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("tidemark.history/1");
  json.Key("pipeline").Text(pipeline).Key("from").Time(from).Key("to").Time(to);
  json.Key("complete").Bool(points.size() < state::kHistoryPointsMax);
  json.Key("points").BeginArray();
  for (const state::HistoryPoint& point : points) {
    json.BeginObject().Key("at").Time(point.at).Key("width_seconds").Seconds(point.width);
    json.Key("samples").Integer(point.samples).Key("unknown").Integer(point.unknown);
    json.Key("breaches").Integer(point.breaches);
    json.Key("lag_seconds_max").DecimalOrNull(point.lag_seconds_max);
    json.Key("sla_ratio_max").DecimalOrNull(point.sla_ratio_max).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string IncidentsJson(std::span<const state::Incident> incidents) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("tidemark.incidents/1");
  json.Key("incidents").BeginArray();
  for (const state::Incident& incident : incidents) {
    json.BeginObject().Key("pipeline").Text(incident.pipeline);
    json.Key("status").Text(freshness::PipelineStatusName(incident.status));
    json.Key("reason").Text(incident.reason).Key("opened_at").Time(incident.opened_at);
    json.Key("closed_at").TimeOrNull(incident.closed_at).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string CoordinationJson(const SharedPipelines& shared) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("tidemark.coordination/1");
  json.Key("group").Text(shared.group).Key("topic").Text(shared.topic);
  json.Key("member").Bool(shared.is_member).Key("message");
  shared.why_not.empty() ? json.Null() : json.Text(shared.why_not);
  json.Key("pipelines").BeginArray();
  for (const SharedPipelines::Pipeline& pipeline : shared.pipelines) {
    json.BeginObject().Key("pipeline").Text(pipeline.name).Key("partition").Integer(pipeline.part);
    json.Key("reported_here").Bool(pipeline.is_ours).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace tidemark::api
