/// Findings as every JSON object of ours shows them.
#pragma once

#include <vector>

#include "api/json_writer_internal.h"
#include "lake/finding.h"

namespace tidemark::api {

/// The key "findings" with `[{"kind":…,"place":…,"message":…}]`, empty when there are none.
inline void WriteFindings(JsonWriter& json, const std::vector<lake::Finding>& findings) {
  json.Key("findings").BeginArray();
  for (const lake::Finding& finding : findings) {
    json.BeginObject();
    json.Key("kind").Text(finding.kind);
    json.Key("place").Text(finding.place);
    json.Key("message").Text(finding.message);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace tidemark::api
