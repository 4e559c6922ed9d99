#include "storage/folder_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/log.h"

namespace tidemark::storage {

namespace {

// A name that is written in place is whole once it is closed; one that is moved in is whole at
// once. What happens to the folder itself says that it is to be looked for again.
constexpr uint32_t kInterest =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
constexpr int kMissingEveryMs = 1000;
constexpr size_t kEventsBytes = 64 * 1024;
static_assert(kEventsBytes > sizeof(inotify_event) + NAME_MAX + 1);

/// A file descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

class FolderWatch::Loop {
 public:
  explicit Loop(std::function<void(Sighting)> on_sighting)
      : on_sighting_(std::move(on_sighting)),
        events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
        knock_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

  Status Begin() {
    if (events_.get() < 0 || knock_.get() < 0) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("the system gives no watch on folders: {}", std::strerror(errno)));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return {};
  }

  ~Loop() {
    thread_.request_stop();
    Knock();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void Set(std::vector<std::string> folders) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = std::set<std::string>(std::make_move_iterator(folders.begin()),
                                      std::make_move_iterator(folders.end()));
      has_changed_ = true;
    }
    Knock();
  }

 private:
  void Knock() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(knock_.get(), &one, sizeof one);
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      TakeWanted();
      WatchMissing();
      std::array<pollfd, 2> polled{{{events_.get(), POLLIN, 0}, {knock_.get(), POLLIN, 0}}};
      ::poll(polled.data(), polled.size(), missing_.empty() ? -1 : kMissingEveryMs);
      uint64_t count = 0;
      [[maybe_unused]] const auto read_bytes = read(knock_.get(), &count, sizeof count);
      if (!stop.stop_requested()) TakeEvents();
    }
  }

  void TakeWanted() {
    std::set<std::string> wanted;
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(has_changed_, false)) return;
      wanted = wanted_;
    }
    for (auto& [watch, folders] : folders_) {
      std::erase_if(folders, [&](const auto& folder) { return !wanted.contains(folder); });
      if (folders.empty()) inotify_rm_watch(events_.get(), watch);
    }
    std::erase_if(folders_, [](const auto& entry) { return entry.second.empty(); });
    for (const auto& [watch, folders] : folders_)
      for (const std::string& folder : folders) wanted.erase(folder);
    const auto before = std::exchange(missing_, {});
    for (const std::string& folder : wanted) {
      const auto known = before.find(folder);
      missing_[folder] = known != before.end() && known->second;
    }
  }

  void WatchMissing() {
    for (auto at = missing_.begin(); at != missing_.end();) {
      auto& [folder, was_missed] = *at;
      const int watch = inotify_add_watch(events_.get(), folder.c_str(), kInterest);
      if (watch < 0) {
        NoteFailure(folder, errno);
        was_missed = true;
        ++at;
        continue;
      }
      complained_.erase(folder);
      folders_[watch].insert(folder);
      if (was_missed) on_sighting_({folder, ""});
      at = missing_.erase(at);
    }
  }

  void NoteFailure(const std::string& folder, int error) {
    if (error == ENOENT || error == ENOTDIR || !complained_.insert(folder).second) return;
    const char* hint = error == ENOSPC ? "; raise fs.inotify.max_user_watches" : "";
    Log(LogLevel::kWarning, fmt::format("a folder cannot be watched and is only listed now and "
                                        "then folder={}: {}{}",
                                        folder, std::strerror(error), hint));
  }

  void TakeEvents() {
    alignas(inotify_event) std::array<char, kEventsBytes> bytes{};
    for (;;) {
      const ssize_t size = read(events_.get(), bytes.data(), bytes.size());
      if (size <= 0) return;
      for (size_t at = 0; at < static_cast<size_t>(size);) {
        inotify_event event{};
        std::memcpy(&event, bytes.data() + at, sizeof event);
        const char* name = bytes.data() + at + sizeof event;
        Take(event, event.len > 0 ? std::string(name) : std::string());
        at += sizeof event + event.len;
      }
    }
  }

  void Take(const inotify_event& event, const std::string& file) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [watch, folders] : folders_)
        for (const std::string& folder : folders) on_sighting_({folder, ""});
      return;
    }
    const auto found = folders_.find(event.wd);
    if (found == folders_.end()) return;
    if ((event.mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
      // After a move the watch still follows the folder under its new name.
      if ((event.mask & IN_IGNORED) == 0) inotify_rm_watch(events_.get(), event.wd);
      for (const std::string& folder : found->second) missing_[folder] = true;
      folders_.erase(found);
      return;
    }
    if ((event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) == 0 || (event.mask & IN_ISDIR) != 0) return;
    for (const std::string& folder : found->second) on_sighting_({folder, file});
  }

  const std::function<void(Sighting)> on_sighting_;
  Descriptor events_;
  Descriptor knock_;
  std::mutex mutex_;  // of the two below
  std::set<std::string> wanted_;
  bool has_changed_ = false;

  // Of the thread. Two names of one folder share a watch.
  std::map<int, std::set<std::string>> folders_;
  std::map<std::string, bool> missing_;  // whether it was looked for in vain
  std::set<std::string> complained_;
  std::jthread thread_;
};

FolderWatch::FolderWatch(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
FolderWatch::~FolderWatch() = default;

Result<std::unique_ptr<FolderWatch>> FolderWatch::Start(std::function<void(Sighting)> on_sighting) {
  auto loop = std::make_unique<Loop>(std::move(on_sighting));
  TRY(loop->Begin());
  return std::make_unique<FolderWatch>(std::move(loop));
}

void FolderWatch::Set(std::vector<std::string> folders) {
  loop_->Set(std::move(folders));
}

}  // namespace tidemark::storage
