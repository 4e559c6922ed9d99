#include <fmt/core.h>

#include <algorithm>

#include "kafka/wire/broker_reader_internal.h"
#include "kafka/wire/record_batch_internal.h"

namespace tidemark::kafka::wire {

namespace {

// Wanted in one response: more only costs memory. A single batch may be larger.
constexpr size_t kResponseBytes = 8 << 20;
constexpr size_t kPartitionsPerRequest = 1'000;
constexpr size_t kInFlight = 4;
// A partition's part of a response without its records, generously.
constexpr size_t kPartitionOverhead = 256;
// Topics asked about alone in the beginning. Each is a request.
constexpr size_t kAloneMax = 32;
// What a scout may bring: enough for what small producers send, little where logs hold more.
constexpr int32_t kScoutBytes = 24 << 10;
// Asked for when a partition is asked alone: its first batch comes, whatever its size.
constexpr int32_t kSampleBytes = 1;
// Where no sample told a size.
constexpr int32_t kBytesUnsampled = 64 << 10;
constexpr int32_t kBytesGrowth = 4;
// A log that is asked alone so often, and gives nothing, is asked again in another round.
constexpr int kSilencesMax = 3;
// A sample far above the others' median may be an outlier of its topic.
constexpr int32_t kAboveMedianMax = 4;

ReadItem* FindItem(const std::vector<ReadItem*>& batch, const FetchResponse::Topic& topic,
                   int32_t partition, size_t* next) {
  for (size_t tries = 0; tries < batch.size(); ++tries) {
    ReadItem* item = batch[*next];
    *next = (*next + 1) % batch.size();
    const TopicPartition& place = item->target->facts->partition;
    if (place.partition != partition) continue;
    const bool is_it = topic.name.empty() ? item->topic->id == topic.id : place.topic == topic.name;
    if (is_it) return item;
  }
  return nullptr;
}

}  // namespace

int32_t RoomFor(int64_t batch_size) {
  constexpr int64_t kSmall = 128;
  return static_cast<int32_t>(
      std::min<int64_t>(batch_size + batch_size / 8 + kSmall, INT32_MAX / 2));
}

BrokerReader::BrokerReader(const Context& context, Connection& connection,
                           std::vector<ReadItem> items, size_t first_sample)
    : context_(context),
      connection_(connection),
      items_(std::move(items)),
      first_sample_(first_sample),
      open_(items_.size()),
      response_bytes_(
          std::min(kResponseBytes, static_cast<size_t>(context.response_bytes_max) / 2)) {}

void BrokerReader::Begin() {
  connection_.WhenReady(context_.question, [this] {
    if (!connection_.is_closed()) return Start();
    Batch all;
    for (ReadItem& item : items_) all.push_back(&item);
    Lose(all);
  });
}

void BrokerReader::Start() {
  SendSamples(first_sample_);
  if (samples_ == 0) QueueRest();
  Fill();
}

bool BrokerReader::IsSample(const Batch& batch) {
  const ReadItem& first = *batch.front();
  return first.is_scout || (batch.size() == 1 && first.bytes_max == kSampleBytes);
}

// Of each topic whose size is not known one item; the others of it wait for its answer.
void BrokerReader::SendSamples(size_t first_sample) {
  std::vector<std::pair<size_t, size_t>> groups;  // begin and end of unknown topics
  for (size_t begin = 0; begin < items_.size();) {
    size_t end = begin;
    while (end < items_.size() && items_[end].topic == items_[begin].topic) ++end;
    if (items_[begin].topic->fetch_bytes == 0) {
      groups.emplace_back(begin, end);
    } else {
      for (size_t i = begin; i < end; ++i) {
        items_[i].bytes_max = items_[i].topic->fetch_bytes;
        queue_.push_back(&items_[i]);
      }
    }
    begin = end;
  }
  const size_t scouts_max = response_bytes_ / (kScoutBytes + kPartitionOverhead);
  Batch scouts;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [begin, end] = groups[(i + first_sample) % groups.size()];
    const bool is_scout = scouts.size() < scouts_max;
    for (size_t at = begin + (is_scout ? 1 : 0); at < end; ++at) unsampled_.push_back(&items_[at]);
    if (is_scout) scouts.push_back(&items_[begin]);
  }
  // Sent last: answers may come at once.
  if (scouts.size() == 1) return SendAlone(scouts.front());
  if (!scouts.empty()) SendScouts(scouts);
}

void BrokerReader::SendScouts(const Batch& scouts) {
  for (ReadItem* item : scouts) {
    item->is_scout = true;
    item->bytes_max = kScoutBytes;
  }
  ++samples_;
  Send(scouts);
}

void BrokerReader::SendAlone(ReadItem* item) {
  item->bytes_max = kSampleBytes;
  ++alone_;
  ++samples_;
  Send({item});
}

int32_t BrokerReader::LimitFor(const TopicMemory& topic) const {
  if (sizes_.empty()) return topic.fetch_bytes > 0 ? topic.fetch_bytes : kBytesUnsampled;
  std::vector<int32_t> sorted = sizes_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  if (topic.fetch_bytes == 0) return *middle;
  const int64_t most = std::max<int64_t>(kBytesUnsampled, int64_t{kAboveMedianMax} * *middle);
  return static_cast<int32_t>(std::min<int64_t>(topic.fetch_bytes, most));
}

void BrokerReader::QueueRest() {
  std::ranges::sort(unsampled_);  // as the items stand: topics together
  const TopicMemory* topic = nullptr;
  int32_t limit = 0;
  for (ReadItem* item : unsampled_) {
    if (item->topic != topic) limit = LimitFor(*item->topic);
    topic = item->topic;
    item->bytes_max = limit;
    queue_.push_back(item);
  }
  unsampled_.clear();
}

void BrokerReader::Fill() {
  while (!is_lost_ && !queue_.empty() && in_flight_ < kInFlight + samples_) Send(TakeBatch());
}

BrokerReader::Batch BrokerReader::TakeBatch() {
  Batch batch;
  for (size_t bytes = 0; !queue_.empty() && batch.size() < kPartitionsPerRequest;) {
    ReadItem* item = queue_.front();
    bytes += static_cast<size_t>(item->bytes_max) + kPartitionOverhead;
    if (!batch.empty() && bytes > response_bytes_) break;
    batch.push_back(item);
    queue_.pop_front();
  }
  return batch;
}

void BrokerReader::Send(Batch batch) {
  const auto has_id = [](const ReadItem* item) { return item->topic->id != TopicId{}; };
  const auto limit = std::ranges::all_of(batch, has_id)
                         ? FetchRequest::kApi.max
                         : static_cast<int16_t>(FetchRequest::kByTopicId - 1);
  const auto version = connection_.VersionOf(FetchRequest::kApi, limit);
  if (!version) {
    if (IsSample(batch) && --samples_ == 0) QueueRest();
    for (ReadItem* item : batch) {
      Decide(item, SearchTarget::Outcome::kFault, ProbeFault::kOther,
             "no version of Fetch that both know");
    }
    return;
  }
  FetchRequest request;
  request.bytes_max = static_cast<int32_t>(response_bytes_);
  request.is_read_committed = context_.isolation == IsolationLevel::kReadCommitted;
  const TopicMemory* topic = nullptr;
  for (const ReadItem* item : batch) {
    const TopicPartition& place = item->target->facts->partition;
    if (item->topic != topic) {
      request.topics.push_back({.name = place.topic, .id = item->topic->id, .partitions = {}});
    }
    topic = item->topic;
    request.topics.back().partitions.push_back({.index = place.partition,
                                                .leader_epoch = item->leader_epoch,
                                                .offset = item->position,
                                                .bytes_max = item->bytes_max});
  }
  ++in_flight_;
  connection_.Ask(
      context_.question, request, *version,
      [this, batch = std::move(batch)](const Result<FetchResponse>& answer) {
        --in_flight_;
        if (!answer) return Lose(batch);
        Take(batch, *answer);
        context_.renew(std::max(std::chrono::steady_clock::now(), connection_.throttled_until()));
        Fill();
      });
}

void BrokerReader::Take(const Batch& batch, const FetchResponse& answer) {
  const bool is_sample = IsSample(batch);
  size_t bytes = 0;
  for (const auto& topic : answer.topics) {
    for (const auto& partition : topic.partitions) bytes += partition.records.bytes.size();
  }
  // Answers come in the order of the question.
  size_t next = 0;
  for (ReadItem* item : batch) item->is_answered = false;
  for (const auto& topic : answer.topics) {
    for (const auto& partition : topic.partitions) {
      ReadItem* item = FindItem(batch, topic, partition.index, &next);
      if (item == nullptr || item->is_answered) continue;
      item->is_answered = true;
      // The batch of the first one comes whatever its size, and may have taken all the room.
      const bool was_full = bytes + static_cast<size_t>(item->bytes_max) > response_bytes_;
      TakePartition(item, partition,
                    batch.size() == 1 ? Room::kEnough
                    : was_full        ? Room::kResponseFull
                                      : Room::kTooSmall);
    }
  }
  for (ReadItem* item : batch) {
    if (!item->is_answered) TakeMissing(item, answer);
  }
  if (!is_sample) return;
  --samples_;
  for (ReadItem* item : std::exchange(returned_, {})) {
    if (is_lost_) {
      Requeue(item);  // which ends it
    } else if (alone_ >= kAloneMax) {
      unsampled_.push_back(item);
    } else {
      SendAlone(item);
    }
  }
  if (samples_ == 0) QueueRest();
}

// Throttled answers are empty, refused ones too.
void BrokerReader::TakeMissing(ReadItem* item, const FetchResponse& answer) {
  using Outcome = SearchTarget::Outcome;
  if (answer.error != 0) {
    const FaultOfCode meaning = FaultOf(answer.error);
    Decide(item, meaning.is_passing ? Outcome::kAgain : Outcome::kFault, meaning.fault,
           WordsOf(answer.error));
  } else if (answer.throttle_ms == 0 && ++item->silences >= kSilencesMax) {
    Decide(item, Outcome::kAgain, ProbeFault::kTimeout,
           "the broker leaves the partition out of its answers");
  } else {
    Requeue(item);
  }
}

void BrokerReader::TakePartition(ReadItem* item, const FetchResponse::Partition& answer,
                                 Room room) {
  using Outcome = SearchTarget::Outcome;
  if (answer.error == static_cast<int16_t>(ErrorCode::kOffsetOutOfRange)) {
    return Decide(item, Outcome::kOutOfRange, ProbeFault::kNone, "");
  }
  if (answer.error != 0) {
    const FaultOfCode meaning = FaultOf(answer.error);
    return Decide(item, meaning.is_passing ? Outcome::kAgain : Outcome::kFault, meaning.fault,
                  WordsOf(answer.error));
  }
  const RecordQuestion question{
      .isolation = context_.isolation, .from = item->position, .end = item->target->end};
  RecordAnswer found = FindFirstRecord(answer.records.bytes, answer.aborted, question);
  if (found.first_batch_size > 0) LearnSize(item, found.first_batch_size);
  switch (found.outcome) {
    case RecordAnswer::Outcome::kRecord:
      item->target->first = found.first;
      return Decide(item, Outcome::kRecord, ProbeFault::kNone, "");
    case RecordAnswer::Outcome::kEnd: return Decide(item, Outcome::kEnd, ProbeFault::kNone, "");
    case RecordAnswer::Outcome::kUndecodable:
      return Decide(item, Outcome::kFault, ProbeFault::kUndecodable, std::move(found.message));
    case RecordAnswer::Outcome::kMore: break;
  }
  if (found.next > item->position) {
    item->position = found.next;
    item->silences = 0;
    item->bytes_max = std::max(item->bytes_max, LimitFor(*item->topic));
    return Requeue(item);
  }
  if (found.cut_batch_size > 0) {
    item->bytes_max =
        std::max(item->bytes_max, RoomFor(static_cast<int64_t>(found.cut_batch_size)));
    return Requeue(item);
  }
  TakeEmpty(item, answer, room);
}

// Nothing at the offset, which lies before the end we know.
void BrokerReader::TakeEmpty(ReadItem* item, const FetchResponse::Partition& answer, Room room) {
  const bool is_committed = context_.isolation == IsolationLevel::kReadCommitted;
  const Offset end =
      is_committed && answer.last_stable >= 0 ? answer.last_stable : answer.high_watermark;
  if (end < item->target->end) {
    return Decide(item, SearchTarget::Outcome::kOutOfRange, ProbeFault::kNone, "");
  }
  if (item->is_scout && room != Room::kEnough && !is_lost_) {
    item->is_scout = false;
    returned_.push_back(item);
    return;
  }
  if (room == Room::kTooSmall) {
    const int64_t grown = int64_t{item->bytes_max} * kBytesGrowth;
    const int64_t wanted = std::max<int64_t>(grown, LimitFor(*item->topic));
    item->bytes_max = static_cast<int32_t>(std::min<int64_t>(wanted, context_.response_bytes_max));
  } else if (room == Room::kEnough && ++item->silences >= kSilencesMax) {
    // No proof of an end: a tier that is slow to answer looks the same.
    return Decide(item, SearchTarget::Outcome::kAgain, ProbeFault::kTimeout,
                  fmt::format("the broker gives no records at offset={}", item->position));
  }
  Requeue(item);
}

// A response over the limit is one whose first batch is.
void BrokerReader::Lose(const Batch& batch) {
  is_lost_ = true;
  const Farewell& farewell = connection_.farewell();
  const bool is_too_large = farewell.fault == ProbeFault::kTooLarge && !has_too_large_;
  has_too_large_ = has_too_large_ || is_too_large;
  using Outcome = SearchTarget::Outcome;
  for (ReadItem* item : batch) {
    const bool is_culprit = is_too_large && item == batch.front();
    const bool is_final = is_culprit || farewell.is_refusal();
    const ProbeFault fault = farewell.fault == ProbeFault::kTooLarge && !is_culprit
                                 ? ProbeFault::kBrokerUnreachable
                                 : farewell.fault;
    Decide(item, is_final ? Outcome::kFault : Outcome::kAgain, fault, farewell.reason);
  }
  for (ReadItem* item : std::exchange(queue_, {})) {
    Decide(item, Outcome::kAgain, ProbeFault::kBrokerUnreachable, farewell.reason);
  }
  for (ReadItem* item : std::exchange(unsampled_, {})) {
    Decide(item, Outcome::kAgain, ProbeFault::kBrokerUnreachable, farewell.reason);
  }
}

void BrokerReader::Decide(ReadItem* item, SearchTarget::Outcome outcome, ProbeFault fault,
                          std::string message) {
  if (item->target->outcome != SearchTarget::Outcome::kUndecided) return;
  item->target->outcome = outcome;
  item->target->fault = fault;
  item->target->message = std::move(message);
  --open_;
}

void BrokerReader::Requeue(ReadItem* item) {
  item->is_scout = false;
  if (is_lost_) {
    return Decide(item, SearchTarget::Outcome::kAgain, ProbeFault::kBrokerUnreachable,
                  connection_.farewell().reason);
  }
  if (item->bytes_max == kSampleBytes) item->bytes_max = LimitFor(*item->topic);
  queue_.push_back(item);
}

void BrokerReader::LearnSize(ReadItem* item, size_t size) {
  TopicMemory& topic = *item->topic;
  const auto bytes = static_cast<int64_t>(size);
  ++topic.seen_count;
  topic.seen_bytes += bytes;
  topic.seen_bytes_max = std::max(topic.seen_bytes_max, bytes);
  if (item->bytes_max != kSampleBytes && !item->is_scout) return;
  topic.fetch_bytes = std::max(topic.fetch_bytes, RoomFor(bytes));
  sizes_.push_back(RoomFor(bytes));
}

}  // namespace tidemark::kafka::wire
