#include "app/ordered_work.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::app {
namespace {

/// One unit's batches between its thread and the caller's.
struct Lane {
  std::deque<columnar::Batch> batches;
  uint64_t bytes = 0;
  bool is_done = false;
  Status result;
};

class Runner {
 public:
  Runner(const OrderedWork& work, const BatchSink& sink)
      : work_(work), sink_(sink), lanes_(work.units) {}

  Status Run() {
    Status result;
    {
      std::vector<std::jthread> threads;
      const size_t count = std::min<size_t>(work_.threads, work_.units);
      for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { Work(); });
      for (size_t unit = 0; unit < work_.units && result; ++unit) result = Show(unit);
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      changed_.notify_all();
    }
    return result;
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      // No further ahead than there are threads: what waits is held in memory.
      changed_.wait(lock, [this] {
        return is_over_ || next_ >= work_.units || next_ < shown_ + work_.threads;
      });
      if (is_over_ || next_ >= work_.units) return;
      const size_t unit = next_++;
      lock.unlock();
      Status result = work_.run(
          unit, [this, unit](columnar::Batch batch) { return Put(unit, std::move(batch)); });
      lock.lock();
      lanes_[unit].result = std::move(result);
      lanes_[unit].is_done = true;
      changed_.notify_all();
    }
  }

  Status Put(size_t unit, columnar::Batch batch) {
    std::unique_lock lock(mutex_);
    Lane& lane = lanes_[unit];
    // One batch may always wait, however large.
    changed_.wait(lock, [&] {
      return is_over_ || lane.batches.empty() || lane.bytes < work_.held_bytes_max;
    });
    if (is_over_) return Fail(ErrorKind::kCancelled, "the rows are not wanted any more");
    lane.bytes += batch.bytes();
    lane.batches.push_back(std::move(batch));
    changed_.notify_all();
    return {};
  }

  Status Show(size_t unit) {
    std::unique_lock lock(mutex_);
    Lane& lane = lanes_[unit];
    while (true) {
      changed_.wait(lock, [&] { return lane.is_done || !lane.batches.empty(); });
      if (lane.batches.empty()) break;
      columnar::Batch batch = std::move(lane.batches.front());
      lane.batches.pop_front();
      lane.bytes -= std::min<uint64_t>(lane.bytes, batch.bytes());
      changed_.notify_all();
      lock.unlock();
      TRY(sink_(std::move(batch)));
      lock.lock();
    }
    ++shown_;
    changed_.notify_all();
    return lane.result;
  }

  const OrderedWork& work_;
  const BatchSink& sink_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Lane> lanes_;
  size_t next_ = 0;   // unit to begin
  size_t shown_ = 0;  // units whose batches have all gone out
  bool is_over_ = false;
};

}  // namespace

Status RunInOrder(const OrderedWork& work, const BatchSink& sink) {
  if (work.threads <= 1 || work.units <= 1) {
    for (size_t unit = 0; unit < work.units; ++unit) TRY(work.run(unit, sink));
    return {};
  }
  return Runner(work, sink).Run();
}

}  // namespace tidemark::app
