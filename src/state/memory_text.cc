// {"checkpoint": "…", "cluster": "…", "clock": [steady, ahead],
//  "topics": {"orders": {"id": "…", "partitions": {"0": {"ends": [[end, ms, for, advance], …],
//                                                        "first": [offset, ms, "create",
//                                                        after],
//                                              "led": [epoch, end, begin, previous],
//                                              "cut": at}}}}}
// `first` ends with the committed offset it follows, or null. Parts that are empty are left out.
// `for` and `advance` are milliseconds; releases before them wrote pairs.
#include "state/memory_text.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace tidemark::state {

namespace {

using freshness::PipelineMemory;
using nlohmann::json;

constexpr std::string_view kTypeWords[] = {"none", "create", "append"};  // as TimestampType
constexpr std::string_view kLevelWords[] = {"read_uncommitted",
                                            "read_committed"};  // IsolationLevel

json PartitionOf(const PipelineMemory& memory, const kafka::TopicPartition& key) {
  json partition = json::object();
  if (const auto found = memory.arrivals.find(key); found != memory.arrivals.end()) {
    json ends = json::array();
    for (const auto& arrival : found->second)
      ends.push_back({arrival.end, MillisOf(arrival.seen_at), arrival.seen_for.count(),
                      arrival.clock_advance.count()});
    partition["ends"] = std::move(ends);
  }
  if (const auto found = memory.stamps.find(key); found != memory.stamps.end()) {
    const PipelineMemory::Stamp& stamp = found->second;
    partition["first"] = {stamp.offset, stamp.timestamp_ms,
                          kTypeWords[static_cast<size_t>(stamp.timestamp_type)],
                          stamp.committed ? json(*stamp.committed) : json()};
  }
  if (const auto found = memory.leaderships.find(key); found != memory.leaderships.end())
    partition["led"] = {found->second.epoch, found->second.end,
                        found->second.begin ? json(*found->second.begin) : json(),
                        found->second.previous};
  if (const auto found = memory.cuts.find(key); found != memory.cuts.end())
    partition["cut"] = found->second;
  return partition;
}

std::unexpected<Error> Corrupt(std::string_view what, std::string_view where) {
  return Fail(ErrorKind::kCorrupt, fmt::format("{} at={}", what, where));
}

/// The member, or nullptr.
const json* Find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

Result<int64_t> IntegerOf(const json& value, std::string_view where) {
  if (!value.is_number_integer()) return Corrupt("not a whole number", where);
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return Corrupt("number is over 9223372036854775807", where);
  return value.get<int64_t>();
}

/// Bounded, so that sums of two and a time never overflow.
constexpr int64_t kDurationMax = int64_t{1} << 50;  // 35,000 years

Result<Milliseconds> DurationOf(const json& value, std::string_view where, int64_t least = 0) {
  TRY_ASSIGN(const int64_t ms, IntegerOf(value, where));
  if (ms < least || ms > kDurationMax) return Corrupt("not a duration", where);
  return Milliseconds(ms);
}

Status ReadText(const json& object, const char* key, std::string& text) {
  const json* value = Find(object, key);
  if (value == nullptr) return {};
  if (!value->is_string()) return Corrupt("not a text", key);
  text = value->get<std::string>();
  return {};
}

Status ReadEnds(const json& ends, std::string_view where,
                std::vector<PipelineMemory::Arrival>& arrivals) {
  if (!ends.is_array()) return Corrupt("not a list", where);
  for (const json& end : ends) {
    if (!end.is_array() || (end.size() != 2 && end.size() != 4))
      return Corrupt("not an end and its times", where);
    PipelineMemory::Arrival arrival;
    TRY_ASSIGN(arrival.end, IntegerOf(end[0], where));
    TRY_ASSIGN(const int64_t seen_ms, IntegerOf(end[1], where));
    arrival.seen_at = WallTimeFromMillis(seen_ms);
    if (end.size() == 4) {
      TRY_ASSIGN(arrival.seen_for, DurationOf(end[2], where, -kDurationMax));
      TRY_ASSIGN(arrival.clock_advance, DurationOf(end[3], where));
    }
    arrivals.push_back(arrival);
  }
  return {};
}

Result<PipelineMemory::Stamp> ReadStamp(const json& first, std::string_view where) {
  if (!first.is_array() || first.size() != 4 || !first[2].is_string())
    return Corrupt("not a first record", where);
  PipelineMemory::Stamp stamp;
  TRY_ASSIGN(stamp.offset, IntegerOf(first[0], where));
  TRY_ASSIGN(stamp.timestamp_ms, IntegerOf(first[1], where));
  const auto word = std::ranges::find(kTypeWords, first[2].get<std::string>());
  if (word == std::end(kTypeWords)) return Corrupt("not a timestamp type", where);
  stamp.timestamp_type = static_cast<kafka::TimestampType>(word - std::begin(kTypeWords));
  if (first[3].is_null()) return stamp;
  TRY_ASSIGN(stamp.committed, IntegerOf(first[3], where));
  return stamp;
}

Result<int32_t> EpochIn(const json& value, std::string_view where) {
  TRY_ASSIGN(const int64_t epoch, IntegerOf(value, where));
  if (!std::in_range<int32_t>(epoch)) return Corrupt("not a leader epoch", where);
  return static_cast<int32_t>(epoch);
}

Result<PipelineMemory::Leadership> ReadLeadership(const json& led, std::string_view where) {
  if (!led.is_array() || led.size() != 4) return Corrupt("not a leadership", where);
  PipelineMemory::Leadership leadership;
  TRY_ASSIGN(leadership.epoch, EpochIn(led[0], where));
  TRY_ASSIGN(leadership.end, IntegerOf(led[1], where));
  if (!led[2].is_null()) {
    TRY_ASSIGN(leadership.begin, IntegerOf(led[2], where));
  }
  TRY_ASSIGN(leadership.previous, EpochIn(led[3], where));
  return leadership;
}

Status ReadPartition(const kafka::TopicPartition& key, const json& partition,
                     PipelineMemory& memory) {
  const std::string where = fmt::format("{}/{}", key.topic, key.partition);
  if (!partition.is_object()) return Corrupt("not an object", where);
  if (const json* ends = Find(partition, "ends")) TRY(ReadEnds(*ends, where, memory.arrivals[key]));
  if (const json* first = Find(partition, "first")) {
    TRY_ASSIGN(memory.stamps[key], ReadStamp(*first, where));
  }
  if (const json* led = Find(partition, "led")) {
    TRY_ASSIGN(memory.leaderships[key], ReadLeadership(*led, where));
  }
  if (const json* cut = Find(partition, "cut")) {
    TRY_ASSIGN(memory.cuts[key], IntegerOf(*cut, where));
  }
  return {};
}

Status ReadTopic(const std::string& name, const json& topic, PipelineMemory& memory) {
  if (!topic.is_object()) return Corrupt("not an object", name);
  std::string id;
  TRY(ReadText(topic, "id", id));
  if (!id.empty()) memory.topic_ids[name] = std::move(id);
  const json* partitions = Find(topic, "partitions");
  if (partitions == nullptr) return {};
  if (!partitions->is_object()) return Corrupt("not an object", name);
  for (const auto& [number, partition] : partitions->items()) {
    kafka::PartitionId id_of = 0;
    const char* end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, id_of);
    if (error != std::errc{} || rest != end || id_of < 0)
      return Corrupt("not a partition number", name);
    TRY(ReadPartition({name, id_of}, partition, memory));
  }
  return {};
}

Status ReadAsked(const json& asked, PipelineMemory& memory) {
  if (!asked.is_array() || asked.size() != 2 || !asked[0].is_string() || !asked[1].is_string())
    return Corrupt("not a cluster and a level", "asked");
  memory.cluster = asked[0].get<std::string>();
  const auto word = std::ranges::find(kLevelWords, asked[1].get<std::string>());
  if (word == std::end(kLevelWords)) return Corrupt("not an isolation level", "asked");
  memory.isolation = static_cast<kafka::IsolationLevel>(word - std::begin(kLevelWords));
  return {};
}

Status ReadClockOf(const json& clock, std::optional<ClockReading>& reading) {
  if (!clock.is_array() || clock.size() != 2 || !clock[0].is_string() || clock[0] == "")
    return Corrupt("not a clock", "clock");
  TRY_ASSIGN(const int64_t ahead, IntegerOf(clock[1], "clock"));
  if (ahead < -kDurationMax || ahead > kDurationMax) return Corrupt("not a clock", "clock");
  reading = {.steady = clock[0].get<std::string>(), .ahead = Milliseconds(ahead)};
  return {};
}

}  // namespace

std::string FormatMemory(const PipelineMemory& memory) {
  json topics = json::object();
  for (const auto& [name, id] : memory.topic_ids) topics[name]["id"] = id;
  const auto add_partition = [&](const kafka::TopicPartition& key) {
    json& partitions = topics[key.topic]["partitions"];
    const std::string number = std::to_string(key.partition);
    if (!partitions.contains(number)) partitions[number] = PartitionOf(memory, key);
  };
  for (const auto& [key, arrivals] : memory.arrivals) add_partition(key);
  for (const auto& [key, stamp] : memory.stamps) add_partition(key);
  for (const auto& [key, leadership] : memory.leaderships) add_partition(key);
  for (const auto& [key, cut] : memory.cuts) add_partition(key);
  json whole = {{"checkpoint", memory.checkpoint_value},
                {"cluster", memory.cluster_id},
                {"topics", std::move(topics)}};
  if (memory.isolation)
    whole["asked"] = {memory.cluster, kLevelWords[static_cast<size_t>(*memory.isolation)]};
  // Without a name it is of this process alone.
  if (memory.clock && !memory.clock->steady.empty())
    whole["clock"] = {memory.clock->steady, memory.clock->ahead.count()};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<PipelineMemory> ParseMemory(std::string_view text) {
  const json whole = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return Corrupt("not a JSON object", "memory");
  PipelineMemory memory;
  TRY(ReadText(whole, "checkpoint", memory.checkpoint_value));
  TRY(ReadText(whole, "cluster", memory.cluster_id));
  if (const json* asked = Find(whole, "asked")) TRY(ReadAsked(*asked, memory));
  if (const json* clock = Find(whole, "clock")) TRY(ReadClockOf(*clock, memory.clock));
  const json* topics = Find(whole, "topics");
  if (topics == nullptr) return memory;
  if (!topics->is_object()) return Corrupt("not an object", "topics");
  for (const auto& [name, topic] : topics->items()) TRY(ReadTopic(name, topic, memory));
  return memory;
}

}  // namespace tidemark::state
