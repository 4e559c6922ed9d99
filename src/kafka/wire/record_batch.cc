#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "kafka/wire/message_set_internal.h"
#include "kafka/wire/plain_bytes_internal.h"
#include "kafka/wire/record_batch_internal.h"

namespace tidemark::kafka::wire {

namespace {

// Every magic: base offset, length of what follows, an epoch or a sum, magic.
constexpr size_t kLengthEnd = 12;
constexpr size_t kMagicAt = 16;
constexpr size_t kHeaderSize = 61;

constexpr int16_t kCodecMask = 0x07;
constexpr int16_t kAppendTime = 1 << 3;
constexpr int16_t kTransactional = 1 << 4;
constexpr int16_t kControl = 1 << 5;
constexpr int16_t kDeleteHorizon = 1 << 6;
/// Of a batch's base: so that no record of it has an offset that does not fit.
constexpr Offset kOffsetMax = INT64_MAX - INT32_MAX;

struct Batch {
  Offset base = 0;
  size_t size = 0;
  int8_t magic = 0;
  // From here on of magic 2 only, and only when the header is whole.
  int16_t attributes = 0;
  Offset last = 0;
  int64_t base_timestamp_ms = -1;
  int64_t max_timestamp_ms = -1;
  int64_t producer_id = -1;
  int32_t record_count = 0;

  bool is(int16_t attribute) const { return (attributes & attribute) != 0; }
  // Nothing was compacted away: every offset has its record. A batch that once was compacted may
  // carry the time of that in place of its base timestamp.
  bool is_dense() const { return record_count == last - base + 1 && !is(kDeleteHorizon); }
};

// nullopt: `bytes` end before the header does.
std::optional<Batch> ReadHeader(std::string_view bytes) {
  if (bytes.size() <= kMagicAt) return std::nullopt;
  ByteCursor cursor(bytes);
  Batch batch;
  batch.base = *cursor.TakeBig<int64_t>();
  batch.size = kLengthEnd + static_cast<uint32_t>(*cursor.TakeBig<int32_t>());
  cursor.Seek(kMagicAt);
  batch.magic = *cursor.TakeBig<int8_t>();
  if (batch.magic != 2) return batch;
  if (bytes.size() < kHeaderSize) return std::nullopt;
  cursor.TakeBig<int32_t>();  // sum
  batch.attributes = *cursor.TakeBig<int16_t>();
  const auto last_delta = *cursor.TakeBig<int32_t>();
  batch.last = last_delta < 0 || batch.base > kOffsetMax ? -1 : batch.base + last_delta;
  batch.base_timestamp_ms = *cursor.TakeBig<int64_t>();
  batch.max_timestamp_ms = *cursor.TakeBig<int64_t>();
  batch.producer_id = *cursor.TakeBig<int64_t>();
  cursor.TakeBig<int16_t>();  // producer's epoch
  cursor.TakeBig<int32_t>();  // sequence
  batch.record_count = *cursor.TakeBig<int32_t>();
  return batch;
}

std::optional<std::string> Damage(const Batch& batch) {
  if (batch.magic < 0 || batch.magic > 2) {
    return fmt::format("unknown batch format magic={}", batch.magic);
  }
  const size_t size_min = batch.magic == 2 ? kHeaderSize : kMagicAt + 1;
  constexpr size_t kSizeMax = kLengthEnd + INT32_MAX;
  if (batch.size < size_min || batch.size > kSizeMax) {
    return fmt::format("a batch of bytes={}", batch.size);
  }
  if (batch.base < 0 || batch.base > kOffsetMax) {
    return fmt::format("a batch at offset={}", batch.base);
  }
  if (batch.magic == 2 && (batch.last < batch.base || batch.record_count < 0 ||
                           batch.record_count > batch.last - batch.base + 1)) {
    return fmt::format("a batch that does not fit its records offset={} last={} records={}",
                       batch.base, batch.last, batch.record_count);
  }
  return std::nullopt;
}

FirstRecord Stamped(const Batch& batch, Offset offset, int64_t create_ms) {
  const bool is_append = batch.is(kAppendTime);
  return StampedRecord(offset, is_append ? batch.max_timestamp_ms : create_ms, is_append);
}

class Search {
 public:
  Search(std::span<const AbortedTransaction> aborted, const RecordQuestion& question)
      : question_(question) {
    if (question.isolation != IsolationLevel::kReadCommitted || aborted.empty()) return;
    aborted_.assign(aborted.begin(), aborted.end());
    std::ranges::sort(aborted_, {}, &AbortedTransaction::first_offset);
  }

  RecordAnswer Run(std::string_view records) {
    answer_.next = question_.from;
    while (answer_.outcome == RecordAnswer::Outcome::kMore) {
      const std::optional<Batch> batch = ReadHeader(records);
      if (!batch) break;
      if (auto damage = Damage(*batch)) {
        Break(*std::move(damage));
        break;
      }
      if (answer_.first_batch_size == 0) answer_.first_batch_size = batch->size;
      const std::string_view bytes = records.substr(0, batch->size);
      if (batch->magic == 2 ? !LookAtBatch(*batch, bytes) : !LookAtMessage(*batch, bytes)) break;
      records.remove_prefix(bytes.size());
    }
    if (answer_.outcome == RecordAnswer::Outcome::kMore && answer_.next >= question_.end) {
      answer_.outcome = RecordAnswer::Outcome::kEnd;
    }
    return std::move(answer_);
  }

 private:
  // Each of these: whether the search goes on behind the batch.

  bool LookAtBatch(const Batch& batch, std::string_view bytes) {
    ApplyAborted(batch, bytes);
    const bool is_hidden = batch.is(kControl) || IsAborted(batch);
    if (is_hidden || batch.last < question_.from || batch.record_count == 0) {
      return Pass(batch.last);
    }
    if (batch.base >= question_.end) return Pass(question_.end - 1) && false;
    const Offset wanted = std::max(batch.base, question_.from);
    const bool is_told_by_header =
        batch.is_dense() && (batch.is(kAppendTime) || wanted == batch.base);
    if (!is_told_by_header) return Walk(batch, bytes);
    return Found(Stamped(batch, wanted, batch.base_timestamp_ms));
  }

  bool Walk(const Batch& batch, std::string_view bytes) {
    PlainBytes plain(static_cast<Codec>(batch.attributes & kCodecMask), bytes.substr(kHeaderSize));
    for (int32_t i = 0; i < batch.record_count; ++i) {
      const auto record = plain.TakeRecord();
      if (!record) return CannotRead(batch, bytes, plain.complaint(batch.base));
      if (record->offset_delta > batch.last - batch.base) {
        return Break(fmt::format("a record outside its batch offset={} delta={}", batch.base,
                                 record->offset_delta));
      }
      const Offset offset = batch.base + record->offset_delta;
      if (offset < question_.from) continue;
      const auto stamp = static_cast<uint64_t>(batch.base_timestamp_ms) +
                         static_cast<uint64_t>(record->timestamp_delta);
      return Found(Stamped(batch, offset, static_cast<int64_t>(stamp)));
    }
    return Pass(batch.last);
  }

  bool LookAtMessage(const Batch& batch, std::string_view bytes) {
    auto looked = FindInMessage(bytes, question_.from);
    if (!looked) return CannotRead(batch, bytes, std::move(looked).error().message);
    return looked->first ? Found(*looked->first) : Pass(looked->last);
  }

  // A batch that is cut short is asked for again, with room for all of it.
  bool CannotRead(const Batch& batch, std::string_view bytes, std::string message) {
    if (bytes.size() == batch.size) return Break(std::move(message));
    answer_.cut_batch_size = batch.size;
    return false;
  }

  bool Found(const FirstRecord& first) {
    if (first.offset >= question_.end) return Pass(question_.end - 1) && false;
    answer_.first = first;
    answer_.outcome = RecordAnswer::Outcome::kRecord;
    return false;
  }

  bool Pass(Offset last) {
    answer_.next = std::max(answer_.next, last + 1);
    return true;
  }

  bool Break(std::string message) {
    answer_.outcome = RecordAnswer::Outcome::kUndecodable;
    answer_.message = std::move(message);
    return false;
  }

  // Producers whose transactions were aborted, from where those began up to their markers.
  void ApplyAborted(const Batch& batch, std::string_view bytes) {
    while (next_aborted_ < aborted_.size() && aborted_[next_aborted_].first_offset <= batch.last) {
      aborting_.push_back(aborted_[next_aborted_++].producer_id);
    }
    if (batch.is(kControl) && !aborting_.empty() && IsAbortMarker(bytes)) {
      std::erase(aborting_, batch.producer_id);
    }
  }

  bool IsAborted(const Batch& batch) const {
    return batch.is(kTransactional) &&
           std::ranges::find(aborting_, batch.producer_id) != aborting_.end();
  }

  // The key of a marker: version, then 0 for an abort and 1 for a commit.
  static bool IsAbortMarker(std::string_view bytes) {
    PlainBytes plain(Codec::kNone, bytes.substr(kHeaderSize));
    const auto record = plain.TakeRecord();
    constexpr std::string_view kAbort("\0\0", 2);
    return record && record->key_begin.size() >= 4 && record->key_begin.substr(2, 2) == kAbort;
  }

  const RecordQuestion& question_;
  std::vector<AbortedTransaction> aborted_;  // by first offset
  size_t next_aborted_ = 0;
  std::vector<int64_t> aborting_;
  RecordAnswer answer_;
};

}  // namespace

RecordAnswer FindFirstRecord(std::string_view records, std::span<const AbortedTransaction> aborted,
                             const RecordQuestion& question) {
  return Search(aborted, question).Run(records);
}

}  // namespace tidemark::kafka::wire
