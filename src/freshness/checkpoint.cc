#include <algorithm>
#include <utility>

#include "freshness/checkpoint_internal.h"

namespace tidemark::freshness {

namespace {

using Topic = kafka::ProbeRequest::Topic;

/// Negative numbers and nameless topics are no positions.
bool IsReadable(const lake::TopicOffsets& offsets, const std::string& topic) {
  return !topic.empty() && !offsets.offsets.empty() &&
         std::ranges::all_of(offsets.offsets, [](const auto& entry) {
           return entry.first >= 0 && entry.second >= 0;
         });
}

/// Several writers of one table may read one partition: what all of them have read counts.
void Merge(std::vector<Topic>& topics, const std::string& name, const lake::TopicOffsets& offsets) {
  auto topic = std::ranges::find(topics, name, &Topic::name);
  if (topic == topics.end()) {
    topics.push_back({.name = name, .committed = {}, .wants_config = true});
    topic = std::prev(topics.end());
  }
  for (const auto& [partition, offset] : offsets.offsets) {
    const auto [entry, is_new] = topic->committed.emplace(partition, offset);
    if (!is_new) entry->second = std::min(entry->second, offset);
  }
}

}  // namespace

TopicSelection SelectTopics(const PipelineSpec& spec, const lake::CheckpointSearch& search) {
  if (!search.found) {
    return {.reason = search.commits_unreadable > 0 ? Reason::kCheckpointUnreadable
                                                    : Reason::kNoCheckpoint,
            .topics = {}};
  }
  const lake::SourceCheckpoint& checkpoint = search.found->checkpoint;
  if (!checkpoint.defect.empty()) return {.reason = Reason::kCheckpointUnreadable, .topics = {}};
  const bool is_connect = checkpoint.kind == lake::CheckpointKind::kKafkaConnect;
  if (!is_connect && checkpoint.kind != lake::CheckpointKind::kKafka)
    return {.reason = Reason::kCheckpointNotKafka, .topics = {}};

  TopicSelection selection;
  for (const lake::TopicOffsets& offsets : checkpoint.topics) {
    const std::string name = is_connect ? spec.topic.value_or("") : offsets.topic;
    if (!IsReadable(offsets, name)) return {.reason = Reason::kCheckpointUnreadable, .topics = {}};
    if (spec.topic && name != *spec.topic) continue;
    Merge(selection.topics, name, offsets);
  }
  if (selection.topics.empty()) {
    selection.reason =
        checkpoint.topics.empty() ? Reason::kCheckpointUnreadable : Reason::kTopicMismatch;
  }
  return selection;
}

std::vector<kafka::ProbeRequest::Topic> TopicsToProbe(const PipelineSpec& spec,
                                                      const lake::CheckpointSearch& search) {
  return SelectTopics(spec, search).topics;
}

}  // namespace tidemark::freshness
