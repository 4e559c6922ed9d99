#include "api/checkpoint_json.h"

#include <algorithm>
#include <map>

#include "api/findings_json_internal.h"
#include "api/json_writer_internal.h"

namespace tidemark::api {

namespace {

using lake::TopicOffsets;

void WriteOffsets(JsonWriter& json, const std::map<int32_t, int64_t>& offsets) {
  json.BeginObject();
  for (const auto& [partition, offset] : offsets)
    json.Key(std::to_string(partition)).Integer(offset);
  json.EndObject();
}

/// "topic" and "offsets" of a checkpoint that is about one topic.
void WriteOneTopic(JsonWriter& json, const std::vector<TopicOffsets>& topics) {
  const bool is_one = !topics.empty() && std::ranges::all_of(topics, [&](const TopicOffsets& each) {
    return each.topic == topics.front().topic;
  });
  json.Key("topic");
  if (is_one && !topics.front().topic.empty()) {
    json.Text(topics.front().topic);
  } else {
    json.Null();
  }
  json.Key("offsets");
  if (!is_one) {
    json.Null();
    return;
  }
  std::map<int32_t, int64_t> lowest;
  for (const TopicOffsets& each : topics) {
    for (const auto& [partition, offset] : each.offsets) {
      const auto [entry, is_new] = lowest.emplace(partition, offset);
      if (!is_new) entry->second = std::min(entry->second, offset);
    }
  }
  WriteOffsets(json, lowest);
}

void WriteWriters(JsonWriter& json, const std::vector<TopicOffsets>& topics) {
  json.Key("writers");
  if (topics.size() < 2) {
    json.Null();
    return;
  }
  json.BeginArray();
  for (const TopicOffsets& each : topics) {
    json.BeginObject();
    json.Key("writer").Text(each.writer);
    json.Key("topic").Text(each.topic);
    json.Key("offsets");
    WriteOffsets(json, each.offsets);
    json.EndObject();
  }
  json.EndArray();
}

void WriteCommit(JsonWriter& json, const lake::CommitPoint& commit,
                 const lake::CheckpointSearch& search) {
  const lake::SourceCheckpoint& checkpoint = commit.checkpoint;
  json.Key("instant").Text(commit.instant);
  json.Key("action").Text(commit.action);
  json.Key("key").Text(checkpoint.key);
  json.Key("value").Text(checkpoint.value);
  json.Key("commit_depth").Integer(commit.commit_depth);
  json.Key("kind").Text(CheckpointKindName(checkpoint.kind));
  WriteOneTopic(json, checkpoint.topics);
  json.Key("completion_time").TextOrNull(commit.completion);
  json.Key("archived").Bool(commit.is_archived);
  json.Key("committed_at").TimeOrNull(commit.committed_at);
  json.Key("last_change_instant");
  if (search.last_change) {
    json.Text(search.last_change->instant);
  } else {
    json.Null();
  }
  WriteWriters(json, checkpoint.topics);
  json.Key("defect");
  if (checkpoint.defect.empty()) {
    json.Null();
  } else {
    json.Text(checkpoint.defect);
  }
}

}  // namespace

std::string CheckpointJson(std::string_view table, const lake::CheckpointSearch& search) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text("tidemark.checkpoint/1");
  json.Key("table").Text(table);
  json.Key("found").Bool(search.found.has_value());
  if (search.found) WriteCommit(json, *search.found, search);
  json.Key("commits_examined").Integer(search.commits_examined);
  json.Key("commits_unreadable").Integer(search.commits_unreadable);
  json.Key("depth_exhausted").Bool(search.is_depth_exhausted);
  WriteFindings(json, search.findings);
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
