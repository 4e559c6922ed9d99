#include "lake/hudi/topic_offsets.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace tidemark::lake::hudi {
namespace {

constexpr size_t kTopicNameSizeMax = 249;
/// How much of a bad value a message shows.
constexpr size_t kShownSize = 60;
constexpr std::string_view kFlinkEntry = "kafka_metadata%3A";
constexpr std::string_view kFlinkCluster = "kafka_cluster%3A";
constexpr std::string_view kFlinkColon = "%3A";

std::string Shown(std::string_view text) {
  return Shortened(text, kShownSize);
}

/// A number of digits only.
template <std::integral T>
Result<T> ParseNumber(std::string_view what, std::string_view text) {
  const bool is_digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_digits)
    return Fail(ErrorKind::kCorrupt, fmt::format("{} is no number text='{}'", what, Shown(text)));
  T number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    return Fail(ErrorKind::kCorrupt, fmt::format("{} is over {} text='{}'", what,
                                                 std::numeric_limits<T>::max(), Shown(text)));
  }
  return number;
}

/// One "partition<separator>offset".
Status AddOffset(std::string_view item, char separator, TopicOffsets& into) {
  const size_t at = item.find(separator);
  if (at == item.npos) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("no offset follows the partition text='{}'", Shown(item)));
  }
  TRY_ASSIGN(const auto partition, ParseNumber<int32_t>("partition", item.substr(0, at)));
  TRY_ASSIGN(const auto offset, ParseNumber<int64_t>("offset", item.substr(at + 1)));
  if (!into.offsets.emplace(partition, offset).second) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("a partition is named twice partition={}", partition));
  }
  return {};
}

Status AddOffsets(std::string_view items, char separator, TopicOffsets& into) {
  while (true) {
    const size_t comma = items.find(',');
    TRY(AddOffset(items.substr(0, comma), separator, into));
    if (comma == items.npos) return {};
    items.remove_prefix(comma + 1);
  }
}

Status AddFlinkEntry(std::string_view entry, std::vector<TopicOffsets>& topics) {
  if (!entry.starts_with(kFlinkEntry)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("entry does not begin with '{}' text='{}'", kFlinkEntry, Shown(entry)));
  }
  entry.remove_prefix(kFlinkEntry.size());
  if (entry.starts_with(kFlinkCluster)) return {};
  const size_t colon = entry.rfind(kFlinkColon);
  const auto topic = entry.substr(0, colon == entry.npos ? 0 : colon);
  if (!IsTopicName(topic)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("entry names no topic Kafka allows text='{}'", Shown(entry)));
  }
  auto found = std::ranges::find(topics, topic, &TopicOffsets::topic);
  if (found == topics.end()) {
    topics.push_back({std::string(topic), {}, ""});
    found = std::prev(topics.end());
  }
  return AddOffset(entry.substr(colon + kFlinkColon.size()), ':', *found);
}

}  // namespace

bool IsTopicName(std::string_view name) {
  if (name == "." || name == "..") return false;
  return !name.empty() && name.size() <= kTopicNameSizeMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

Result<TopicOffsets> ParseStreamerOffsets(std::string_view value) {
  const size_t comma = value.find(',');
  TopicOffsets result;
  result.topic = value.substr(0, comma);
  if (!IsTopicName(result.topic)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("value names no topic Kafka allows text='{}'", Shown(result.topic)));
  }
  if (comma == value.npos)
    return Fail(ErrorKind::kCorrupt,
                fmt::format("no partition follows the topic topic={}", result.topic));
  TRY(AddOffsets(value.substr(comma + 1), ':', result));
  return result;
}

Result<TopicOffsets> ParseConnectOffsets(std::string_view value) {
  TopicOffsets result;
  TRY(AddOffsets(value, '=', result));
  return result;
}

Result<std::vector<TopicOffsets>> ParseFlinkOffsets(std::string_view value) {
  std::vector<TopicOffsets> topics;
  while (true) {
    const size_t end = value.find(';');
    TRY(AddFlinkEntry(value.substr(0, end), topics));
    if (end == value.npos) return topics;
    value.remove_prefix(end + 1);
    if (value.empty()) return topics;
  }
}

}  // namespace tidemark::lake::hudi
