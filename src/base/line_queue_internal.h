/// Lines on their way to a descriptor whose reader may be slow, or not read at all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace tidemark::internal {

/// Writes all of it, however long that takes; gives up when nobody can ever read it.
void WriteAll(int descriptor, std::string_view text);

/// One mutex, and a thread that writes. The thread may hang in a write for ever: then it is left
/// behind, and so it touches nothing but what it shares in owning. Nobody else waits for it longer
/// than they say. In a child made by fork() the thread is missing: lines stay where they are.
class LineQueue {
 public:
  struct Options {
    int descriptor = -1;  ///< stays open as long as the process
    size_t bytes_max = 0;
    /// The line that stands where others were lost. On the queue's thread; must not Put().
    std::function<std::string(uint64_t lost)> lost_line;
  };
  explicit LineQueue(Options options);
  /// Leaves what is not written.
  ~LineQueue();

  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  /// Never waits. A line for which there is no room is lost, and so are those after it until half
  /// of the room is free again. Any thread.
  void Put(std::string line);

  /// Whether all lines are written; waits for it, at most `limit`. Any thread.
  bool Drain(Milliseconds limit);

 private:
  struct Shared {
    Options options;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex.
    std::deque<std::string> lines;
    size_t bytes = 0;  // of lines, and of the one that is being written
    uint64_t lost = 0;
    bool is_ending = false;
    bool is_over = false;
  };

  static void Run(Shared& shared);
  static void TellOfLost(Shared& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace tidemark::internal
