// Checkpoint values under each key (chosen by the first byte): offsets that are read are offsets
// Kafka can have.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "lake/hudi/checkpoint.h"
#include "lake/hudi/topic_offsets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace hudi = tidemark::lake::hudi;
  using tidemark::lake::CheckpointKind;
  constexpr std::array kKeys = {hudi::kStreamerKeyV2,      hudi::kStreamerKeyV1,
                                hudi::kStreamerResetKeyV1, hudi::kSparkSinkKey,
                                hudi::kKafkaConnectKey,    hudi::kFlinkOffsetsKey,
                                hudi::kFlinkIdKey};
  if (size < 2) return 0;
  const std::string_view value(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto checkpoint = hudi::ParseCheckpoint(kKeys[data[0] % kKeys.size()], value);
  CHECK(checkpoint.value == value, "the value is kept as written");
  const bool is_other = checkpoint.kind == CheckpointKind::kOther;
  CHECK(checkpoint.defect.empty() || is_other, checkpoint.defect);
  CHECK(!is_other || checkpoint.topics.empty(), "offsets of an unreadable value");
  if (checkpoint.kind == CheckpointKind::kKafka) CHECK(!checkpoint.topics.empty(), "no topic");
  for (const auto& topic : checkpoint.topics) {
    CHECK(!topic.offsets.empty(), topic.topic);
    CHECK(topic.topic.empty() || hudi::IsTopicName(topic.topic), topic.topic);
    for (const auto& [partition, offset] : topic.offsets)
      CHECK(partition >= 0 && offset >= 0, "a negative number");
  }
  CHECK(hudi::IsSamePosition(checkpoint, checkpoint), "equal to itself");
  return 0;
}
