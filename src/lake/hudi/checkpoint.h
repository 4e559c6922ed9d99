/// Source checkpoints in a commit's extra metadata: their keys, their values, and which one counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lake/commit_point.h"

namespace tidemark::lake::hudi {

// The keys, in the order in which they count within one commit.
inline constexpr std::string_view kStreamerKeyV2 = "streamer.checkpoint.key.v2";
inline constexpr std::string_view kStreamerResetKeyV2 = "streamer.checkpoint.reset.key.v2";
inline constexpr std::string_view kStreamerKeyV1 = "deltastreamer.checkpoint.key";
inline constexpr std::string_view kStreamerResetKeyV1 = "deltastreamer.checkpoint.reset_key";
inline constexpr std::string_view kSparkSinkKey = "_hudi_streaming_sink_checkpoint";
inline constexpr std::string_view kKafkaConnectKey = "kafka.commit.offsets";
inline constexpr std::string_view kFlinkOffsetsKey = "HoodieMetadataKey";
inline constexpr std::string_view kFlinkIdKey = "flink_checkpoint_id";

/// The checkpoint that counts of one commit: the first key of the order above whose value is not
/// empty; nullopt when there is none. A reset key comes into play only where the checkpoint key of
/// its version is empty: the streamer was told to start there and has committed nothing since. A
/// Flink id of -1 (a recommit that did not know it) is none.
std::optional<SourceCheckpoint> CheckpointOf(const std::map<std::string, std::string>& extra);

/// Reads the value that stood under `key`. Never fails: a value that announces offsets and breaks
/// its grammar comes back as kOther with `defect`. `value` is not empty.
SourceCheckpoint ParseCheckpoint(std::string_view key, std::string_view value);

/// Whether two checkpoints say the same position, whatever key or order they are written with.
bool IsSamePosition(const SourceCheckpoint& a, const SourceCheckpoint& b);

}  // namespace tidemark::lake::hudi
