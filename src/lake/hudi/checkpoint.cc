#include "lake/hudi/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lake/hudi/json_members.h"
#include "lake/hudi/timeline.h"
#include "lake/hudi/topic_offsets.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::array kKeysByRank = {kStreamerKeyV2,      kStreamerResetKeyV2, kStreamerKeyV1,
                                    kStreamerResetKeyV1, kSparkSinkKey,       kKafkaConnectKey,
                                    kFlinkOffsetsKey,    kFlinkIdKey};
constexpr std::array<std::string_view, 2> kResumePrefixes = {"resumeFromInstantRequestTime:",
                                                             "resumeFromInstantCompletionTime:"};
constexpr std::string_view kShardPrefix = "shardId-";
/// What DFS sources start from before they have seen a file.
constexpr std::string_view kLeastLong = "-9223372036854775808";
constexpr std::string_view kUnknownFlinkId = "-1";
constexpr size_t kEpochSecondsSize = 10;
constexpr size_t kEpochMillisSize = 13;

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
bool HasLetter(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

bool IsResetKey(std::string_view key) {
  return key == kStreamerResetKeyV1 || key == kStreamerResetKeyV2;
}

/// An instant of another table: a date, or one of the special instants, which begin with zeros.
bool IsInstant(std::string_view text) {
  if (text.size() != 14 && text.size() != 17) return false;
  return InstantToWallTime(text).has_value() ||
         (IsDigits(text) && text.starts_with("0000000000000"));
}

/// What a cloud object source notes: an instant, alone or followed by the object it got to.
bool IsIncrementalPosition(std::string_view value) {
  for (const auto prefix : kResumePrefixes)
    if (value.starts_with(prefix)) return IsInstant(value.substr(prefix.size()));
  return IsInstant(value.substr(0, value.find('#')));
}

/// "stream,shardId-000000000000:49…,shardId-…".
bool IsKinesisPosition(std::string_view value) {
  size_t comma = value.find(',');
  if (comma == value.npos || comma == 0) return false;
  while (comma != value.npos) {
    value.remove_prefix(comma + 1);
    comma = value.find(',');
    const auto shard = value.substr(0, comma);
    if (!shard.starts_with(kShardPrefix) || shard.find(':') == shard.npos) return false;
  }
  return true;
}

/// Whether a value claims to be Kafka offsets, right or wrong: Hudi's own test is ".*,.*:.*". A
/// legal topic name with nothing or a comma behind it is taken for a cut-off one.
bool AnnouncesKafka(std::string_view value) {
  const size_t comma = value.find(',');
  if (comma != value.npos && value.find(':', comma) != value.npos) return true;
  return IsTopicName(value.substr(0, comma)) && (comma != value.npos || HasLetter(value));
}

void SetDefect(SourceCheckpoint& checkpoint, std::string defect) {
  checkpoint.kind = CheckpointKind::kOther;
  checkpoint.topics.clear();
  checkpoint.defect = std::move(defect);
}

/// A JSON object under a streamer key: offsets of several writers, or a Pulsar position.
void ReadObject(SourceCheckpoint& checkpoint) {
  const auto members = ParseJsonMembers(checkpoint.value);
  if (!members) return SetDefect(checkpoint, members.error().message);
  if (members->empty()) return SetDefect(checkpoint, "value is an empty JSON object");
  const auto is_pulsar = [](const JsonMember& member) {
    return !member.second || member.first.starts_with("persistent://") ||
           member.first.starts_with("non-persistent://");
  };
  if (std::ranges::all_of(*members, is_pulsar)) {
    checkpoint.kind = CheckpointKind::kPulsar;
    return;
  }
  for (const auto& [writer, text] : *members) {
    if (std::ranges::count(*members, writer, &JsonMember::first) > 1)
      return SetDefect(checkpoint, fmt::format("a writer is named twice writer={}", writer));
    auto offsets = text ? ParseStreamerOffsets(*text)
                        : Result<TopicOffsets>(Fail(ErrorKind::kCorrupt, "value is no string"));
    if (!offsets)
      return SetDefect(checkpoint, fmt::format("writer={}: {}", writer, offsets.error().message));
    offsets->writer = writer;
    checkpoint.topics.push_back(*std::move(offsets));
  }
  checkpoint.kind = CheckpointKind::kKafka;
}

void ReadStreamerValue(SourceCheckpoint& checkpoint) {
  const std::string_view value = checkpoint.value;
  const bool is_epoch =
      (IsDigits(value) && (value.size() == kEpochMillisSize ||
                           (value.size() == kEpochSecondsSize && IsResetKey(checkpoint.key)))) ||
      value == kLeastLong;
  if (is_epoch) {
    checkpoint.kind = CheckpointKind::kEpochMillis;
  } else if (IsIncrementalPosition(value)) {
    checkpoint.kind = CheckpointKind::kInstant;
  } else if (value.starts_with('{')) {
    ReadObject(checkpoint);
  } else if (IsKinesisPosition(value)) {
    checkpoint.kind = CheckpointKind::kKinesis;
  } else if (AnnouncesKafka(value)) {
    auto offsets = ParseStreamerOffsets(value);
    if (!offsets) return SetDefect(checkpoint, std::move(offsets).error().message);
    checkpoint.kind = CheckpointKind::kKafka;
    checkpoint.topics.push_back(*std::move(offsets));
  } else if (value.find_first_not_of(" \t\r\n") == value.npos) {
    SetDefect(checkpoint, "value is blank");
  }
}

void ReadSparkSinkValue(SourceCheckpoint& checkpoint) {
  const auto members = ParseJsonMembers(checkpoint.value);
  if (!members) return SetDefect(checkpoint, members.error().message);
  checkpoint.kind = CheckpointKind::kSparkBatch;
}

void ReadConnectValue(SourceCheckpoint& checkpoint) {
  auto offsets = ParseConnectOffsets(checkpoint.value);
  if (!offsets) return SetDefect(checkpoint, std::move(offsets).error().message);
  checkpoint.kind = CheckpointKind::kKafkaConnect;
  checkpoint.topics.push_back(*std::move(offsets));
}

void ReadFlinkOffsets(SourceCheckpoint& checkpoint) {
  auto topics = ParseFlinkOffsets(checkpoint.value);
  if (!topics) return SetDefect(checkpoint, std::move(topics).error().message);
  checkpoint.kind = CheckpointKind::kFlink;
  checkpoint.topics = *std::move(topics);
}

}  // namespace

std::optional<SourceCheckpoint> CheckpointOf(const std::map<std::string, std::string>& extra) {
  for (const std::string_view key : kKeysByRank) {
    const auto found = extra.find(std::string(key));
    if (found == extra.end() || found->second.empty()) continue;
    if (key == kFlinkIdKey && found->second == kUnknownFlinkId) continue;
    return ParseCheckpoint(key, found->second);
  }
  return std::nullopt;
}

SourceCheckpoint ParseCheckpoint(std::string_view key, std::string_view value) {
  SourceCheckpoint checkpoint;
  checkpoint.key = key;
  checkpoint.value = value;
  if (key == kSparkSinkKey) {
    ReadSparkSinkValue(checkpoint);
  } else if (key == kKafkaConnectKey) {
    ReadConnectValue(checkpoint);
  } else if (key == kFlinkOffsetsKey) {
    ReadFlinkOffsets(checkpoint);
  } else if (key == kFlinkIdKey) {
    checkpoint.kind = CheckpointKind::kFlink;
  } else {
    ReadStreamerValue(checkpoint);
  }
  return checkpoint;
}

bool IsSamePosition(const SourceCheckpoint& a, const SourceCheckpoint& b) {
  if (a.kind != b.kind) return false;
  if (a.topics.empty() || b.topics.empty()) return a.value == b.value;
  return std::ranges::is_permutation(a.topics, b.topics);
}

}  // namespace tidemark::lake::hudi
