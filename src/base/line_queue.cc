#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "base/line_queue_internal.h"

namespace tidemark::internal {

namespace {

/// How long the end waits for a thread that has nothing left to write.
constexpr Milliseconds kThreadEnd{100};

}  // namespace

void WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // Whoever gave us the descriptor made it so.
      pollfd writable{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

LineQueue::LineQueue(Options options) : shared_(std::make_shared<Shared>()) {
  shared_->options = std::move(options);
  // Signals are for the threads that wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([shared = shared_] { Run(*shared); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LineQueue::~LineQueue() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_ending = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, kThreadEnd, [this] { return shared_->is_over; });
}

void LineQueue::Put(std::string line) {
  const std::lock_guard lock(shared_->mutex);
  shared_->changed.notify_all();
  if (shared_->lost > 0 || shared_->bytes + line.size() > shared_->options.bytes_max) {
    ++shared_->lost;
    return;
  }
  shared_->bytes += line.size();
  shared_->lines.push_back(std::move(line));
}

bool LineQueue::Drain(Milliseconds limit) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, limit,
                                   [this] { return shared_->bytes == 0 && shared_->lost == 0; });
}

/// With the mutex held. No line was taken since the first was lost: this one stands in its place.
void LineQueue::TellOfLost(Shared& shared) {
  if (shared.lost == 0 || shared.bytes > shared.options.bytes_max / 2) return;
  std::string line = shared.options.lost_line(std::exchange(shared.lost, 0));
  shared.bytes += line.size();
  shared.lines.push_back(std::move(line));
}

void LineQueue::Run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  for (;;) {
    shared.changed.wait(lock, [&] {
      TellOfLost(shared);
      return shared.is_ending || !shared.lines.empty();
    });
    if (shared.is_ending) break;
    const std::string line = std::move(shared.lines.front());
    shared.lines.pop_front();
    lock.unlock();
    WriteAll(shared.options.descriptor, line);
    lock.lock();
    shared.bytes -= line.size();
    shared.changed.notify_all();
  }
  shared.is_over = true;
  shared.changed.notify_all();
}

}  // namespace tidemark::internal
