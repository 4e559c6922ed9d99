/// Reading one batch of each partition from one broker, in as few requests as their sizes allow.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "kafka/probe_rounds.h"
#include "kafka/wire/asker_internal.h"
#include "kafka/wire/connection_internal.h"
#include "kafka/wire/fetch_messages_internal.h"

namespace tidemark::kafka::wire {

/// One partition on its way through requests.
struct ReadItem {
  SearchTarget* target = nullptr;
  TopicMemory* topic = nullptr;
  int32_t leader_epoch = kNoEpoch;
  Offset position = 0;
  int32_t bytes_max = 0;     ///< asked for; grows until the batch fits
  bool is_scout = false;     ///< asked with those of other topics, to tell its topic's size
  int silences = 0;          ///< times its log gave nothing though nothing stood in the way
  bool is_answered = false;  ///< of the response that is looked at
};

/// What to ask for where batches of this size were seen: they are alike, not equal.
int32_t RoomFor(int64_t batch_size);

/// Decides what it can, and leaves the rest undecided or kAgain. Not moved: answers come back to
/// it.
///
/// A broker fills a partition's part of a response up to the limit in the request, and leaves it
/// empty when the first batch is larger; only the first batch of a whole response always comes. So
/// the limit should be the size of the batch, which nobody knows: one partition of each topic goes
/// ahead and tells it for the others, all of them in one request with little room each, then those
/// for which that was not enough alone. Where a limit was too small, the next request asks for
/// more.
class BrokerReader {
 public:
  struct Context {
    IsolationLevel isolation = IsolationLevel::kReadUncommitted;
    QuestionId question = 0;
    int32_t response_bytes_max = 0;       ///< the settings'
    std::function<void(MonoTime)> renew;  ///< something has come
  };

  /// The items of one topic stand together. `first_sample`: which topic's item may go alone first.
  BrokerReader(const Context& context, Connection& connection, std::vector<ReadItem> items,
               size_t first_sample);
  BrokerReader(const BrokerReader&) = delete;
  BrokerReader& operator=(const BrokerReader&) = delete;

  /// Sends the first requests once the connection is ready.
  void Begin();
  bool is_done() const { return open_ == 0; }
  /// Why the connection was lost; null: it was not.
  const Farewell* farewell() const { return is_lost_ ? &connection_.farewell() : nullptr; }

 private:
  using Batch = std::vector<ReadItem*>;

  void Start();
  static bool IsSample(const Batch& batch);
  void SendSamples(size_t first_sample);
  void SendScouts(const Batch& scouts);
  void SendAlone(ReadItem* item);
  void QueueRest();
  int32_t LimitFor(const TopicMemory& topic) const;
  void Fill();
  Batch TakeBatch();
  void Send(Batch batch);
  void Take(const Batch& batch, const FetchResponse& answer);
  /// Why a partition's part of a response may be empty.
  enum class Room {
    kEnough,        ///< it was asked alone: nothing stood in the way
    kTooSmall,      ///< its first batch is over the limit
    kResponseFull,  ///< others came first
  };
  void TakePartition(ReadItem* item, const FetchResponse::Partition& answer, Room room);
  void TakeEmpty(ReadItem* item, const FetchResponse::Partition& answer, Room room);
  void TakeMissing(ReadItem* item, const FetchResponse& answer);
  void Lose(const Batch& batch);
  void Decide(ReadItem* item, SearchTarget::Outcome outcome, ProbeFault fault, std::string message);
  void Requeue(ReadItem* item);
  void LearnSize(ReadItem* item, size_t size);

  const Context& context_;
  Connection& connection_;
  std::vector<ReadItem> items_;
  size_t first_sample_;
  std::deque<ReadItem*> queue_;
  std::vector<ReadItem*> unsampled_;
  std::vector<ReadItem*> returned_;  // scouts that learned nothing
  size_t alone_ = 0;                 // items that were asked alone
  size_t open_ = 0;
  size_t samples_ = 0;  // requests of scouts and lone items under way
  size_t in_flight_ = 0;
  size_t response_bytes_ = 0;   // wanted at most in one response
  std::vector<int32_t> sizes_;  // of sampled batches
  bool is_lost_ = false;
  bool has_too_large_ = false;
};

}  // namespace tidemark::kafka::wire
