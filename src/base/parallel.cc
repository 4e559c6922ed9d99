#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {

Status InParallel(size_t count, unsigned threads, const std::function<Status(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<Status> done(count);
  std::atomic<bool> has_failed = false;
  const auto run = [&] {
    while (!has_failed) {
      const size_t i = next++;
      if (i >= count) return;
      done[i] = work(i);
      if (!done[i]) has_failed = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::min<size_t>(threads, count); ++i) helpers.emplace_back(run);
    run();
  }
  for (Status& status : done) TRY(std::move(status));
  return {};
}

}  // namespace tidemark
