#include "storage/folder_watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Not;

using Seen = std::pair<std::string, std::string>;

bool Has(const std::vector<Seen>& all, const Seen& one) {
  return std::ranges::find(all, one) != all.end();
}

class FolderWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_ASSIGN(watch_, FolderWatch::Start([this](FolderWatch::Sighting sighting) {
                       const std::lock_guard lock(mutex_);
                       seen_.emplace_back(std::move(sighting.folder), std::move(sighting.file));
                       changed_.notify_all();
                     }));
  }
  void TearDown() override { watch_.reset(); }

  std::string Path(const std::string& name) { return (fs::path(folder_.path()) / name).string(); }
  std::string MakeFolder(const std::string& name) {
    fs::create_directories(Path(name));
    return Path(name);
  }
  static void Write(const std::string& path) { std::ofstream(path) << "x"; }

  /// Writes until something is seen of it: a watch is there some time after Set().
  void AwaitWatched(const std::string& folder) {
    for (int i = 0; i < 500; ++i) {
      Write(folder + "/beginning");
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, 20ms);
      if (Has(seen_, {folder, "beginning"})) return;
    }
    FAIL() << folder << " is never watched";
  }
  bool Await(const Seen& sighting) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return Has(seen_, sighting); });
  }
  void Forget() {
    const std::lock_guard lock(mutex_);
    seen_.clear();
  }
  /// All that was seen up to a file that is written now, which comes last.
  std::vector<Seen> SeenUntilMark(const std::string& folder) {
    Write(folder + "/mark");
    EXPECT_TRUE(Await({folder, "mark"}));
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  support::TemporaryFolder folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Seen> seen_;
  std::unique_ptr<FolderWatch> watch_;
};

TEST_F(FolderWatchTest, WrittenAndMovedInFilesAreSeen) {
  const std::string folder = MakeFolder("a");
  watch_->Set({folder});
  AwaitWatched(folder);
  Write(folder + "/written");
  EXPECT_TRUE(Await({folder, "written"}));
  Write(Path("elsewhere"));
  fs::rename(Path("elsewhere"), folder + "/moved");
  EXPECT_TRUE(Await({folder, "moved"}));
}

TEST_F(FolderWatchTest, AFileIsSeenOnceItIsClosed) {
  const std::string folder = MakeFolder("a");
  watch_->Set({folder});
  AwaitWatched(folder);
  std::ofstream slow(folder + "/slow");
  slow << "half" << std::flush;
  EXPECT_THAT(SeenUntilMark(folder), Not(Contains(Seen(folder, "slow"))));
  slow.close();
  EXPECT_TRUE(Await({folder, "slow"}));
}

TEST_F(FolderWatchTest, NewFoldersAndRemovedFilesAreNot) {
  const std::string folder = MakeFolder("a");
  watch_->Set({folder});
  AwaitWatched(folder);
  MakeFolder("a/inner");
  fs::create_directories(Path("b"));
  fs::rename(Path("b"), folder + "/b");
  fs::remove(folder + "/beginning");
  for (const auto& [where, file] : SeenUntilMark(folder)) {
    EXPECT_TRUE(file == "beginning" || file == "mark") << file;
  }
}

TEST_F(FolderWatchTest, AFolderThatComesAboutLaterIsNewsAsAWhole) {
  const std::string folder = Path("later/.hoodie");
  watch_->Set({folder});
  const std::string other = MakeFolder("other");
  watch_->Set({folder, other});
  AwaitWatched(other);
  MakeFolder("later/.hoodie");
  EXPECT_TRUE(Await({folder, ""}));
  AwaitWatched(folder);
}

TEST_F(FolderWatchTest, AFolderThatWasReplacedIsWatchedAnew) {
  const std::string folder = MakeFolder("a");
  watch_->Set({folder});
  AwaitWatched(folder);
  fs::rename(folder, Path("old"));
  MakeFolder("a");
  EXPECT_TRUE(Await({folder, ""}));
  Forget();
  AwaitWatched(folder);
  Write(Path("old/elsewhere"));
  EXPECT_THAT(SeenUntilMark(folder), Not(Contains(Seen(folder, "elsewhere"))));
}

TEST_F(FolderWatchTest, WhatIsNoLongerAskedForIsNotSeen) {
  const std::string a = MakeFolder("a");
  const std::string b = MakeFolder("b");
  watch_->Set({a, b});
  AwaitWatched(a);
  AwaitWatched(b);
  watch_->Set({b});
  // The change is taken before whatever is written after the next sighting of it.
  for (int i = 0; i < 500; ++i) {
    Forget();
    Write(a + "/after");
    if (!Has(SeenUntilMark(b), {a, "after"})) return;
  }
  FAIL() << "still seen";
}

TEST_F(FolderWatchTest, TwoNamesOfOneFolderAreBothTold) {
  const std::string folder = MakeFolder("a");
  fs::create_directory_symlink(folder, Path("link"));
  watch_->Set({folder, Path("link")});
  AwaitWatched(folder);
  Write(folder + "/file");
  EXPECT_TRUE(Await({folder, "file"}));
  EXPECT_TRUE(Await({Path("link"), "file"}));
}

TEST_F(FolderWatchTest, MoreThanTheKernelKeepsIsToldAsAWhole) {
  // In memory: tens of thousands of files take a disk a minute.
  std::string folder = "/dev/shm/tidemark-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  watch_->Set({folder});
  AwaitWatched(folder);
  int queue = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
  ASSERT_GT(queue, 0);
  {
    // While the watch's own thread waits here, nothing is read. Events that are alike become one.
    const std::lock_guard lock(mutex_);
    const std::string paths[] = {folder + "/one", folder + "/other"};
    for (int i = 0; i < 2 * queue; ++i) {
      ::close(::open(paths[i % 2].c_str(), O_WRONLY | O_CREAT, 0644));
    }
  }
  EXPECT_TRUE(Await({folder, ""}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tidemark::storage
