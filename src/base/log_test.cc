#include "base/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/line_queue_internal.h"

namespace tidemark {
namespace {

using internal::LineQueue;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

/// Longer than any test lasts.
constexpr Milliseconds kPatience{60'000};

/// A pipe with little room.
class Pipe {
 public:
  Pipe() {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    ::fcntl(ends_[1], F_SETPIPE_SZ, 4096);
  }
  ~Pipe() {
    ::close(ends_[0]);
    CloseWriter();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writer() const { return ends_[1]; }
  void CloseWriter() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  /// Waits for it; empty when the writers are gone.
  std::string Line(size_t i) {
    Read(i + 1);
    return i < lines_.size() ? lines_[i] : "";
  }
  /// Waits until there are `count` lines.
  const std::vector<std::string>& Read(size_t count) {
    while (lines_.size() < count) {
      char bytes[4096];
      const ssize_t size = ::read(ends_[0], bytes, sizeof bytes);
      if (size <= 0) break;
      for (const char byte : std::string_view(bytes, static_cast<size_t>(size))) {
        if (byte != '\n') {
          rest_ += byte;
        } else {
          lines_.push_back(std::exchange(rest_, {}));
        }
      }
    }
    return lines_;
  }

 private:
  int ends_[2] = {-1, -1};
  std::string rest_;
  std::vector<std::string> lines_;
};

LineQueue::Options Into(const Pipe& pipe, size_t bytes_max) {
  return {.descriptor = pipe.writer(), .bytes_max = bytes_max, .lost_line = [](uint64_t lost) {
            return fmt::format("lost {}\n", lost);
          }};
}

TEST(LineQueueTest, LinesAreWrittenInOrder) {
  Pipe pipe;
  LineQueue queue(Into(pipe, 1000));
  for (const std::string line : {"one\n", "two\n", "three\n"}) queue.Put(line);
  EXPECT_TRUE(queue.Drain(kPatience));
  EXPECT_THAT(pipe.Read(3), ElementsAre("one", "two", "three"));
}

TEST(LineQueueTest, NobodyWaitsForAReaderAndWhatIsLostIsCountedInItsPlace) {
  constexpr size_t kLines = 2'000;
  Pipe pipe;
  LineQueue queue(Into(pipe, 10'000));
  for (size_t i = 0; i < kLines; ++i) queue.Put(fmt::format("line {:04} {:080}\n", i, 0));
  EXPECT_FALSE(queue.Drain(Milliseconds(0)));
  // As many as the pipe and the queue had room for, from the first on.
  size_t written = 0;
  while (pipe.Line(written).starts_with(fmt::format("line {:04} ", written))) ++written;
  EXPECT_GT(written, 0u);
  EXPECT_EQ(pipe.Line(written), fmt::format("lost {}", kLines - written));
  queue.Put("later\n");
  EXPECT_EQ(pipe.Line(written + 1), "later");
  EXPECT_TRUE(queue.Drain(kPatience));
}

TEST(LineQueueTest, ALineThatIsLongerThanTheQueueIsLostAlone) {
  Pipe pipe;
  LineQueue queue(Into(pipe, 100));
  queue.Put(std::string(101, 'x') + "\n");
  EXPECT_TRUE(queue.Drain(kPatience));
  queue.Put("later\n");
  EXPECT_THAT(pipe.Read(2), ElementsAre("lost 1", "later"));
}

TEST(LineQueueTest, LinesOfManyThreadsAreWholeAndThereOnce) {
  constexpr size_t kThreads = 4, kLines = 200;
  Pipe pipe;
  LineQueue queue(Into(pipe, 1'000'000));
  std::vector<std::string> expected;
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    for (size_t i = 0; i < kLines; ++i) expected.push_back(fmt::format("{} {}", thread, i));
    threads.emplace_back([&queue, thread] {
      for (size_t i = 0; i < kLines; ++i) queue.Put(fmt::format("{} {}\n", thread, i));
    });
  }
  const auto lines = pipe.Read(kThreads * kLines);
  EXPECT_THAT(lines, SizeIs(expected.size()));
  EXPECT_THAT(lines, IsSupersetOf(expected));
}

TEST(LineQueueTest, AReaderThatIsGoneIsNoReasonToWait) {
  Pipe pipe;
  {
    int closed[2];
    ASSERT_EQ(::pipe2(closed, O_CLOEXEC), 0);
    ::close(closed[0]);
    ASSERT_EQ(::dup2(closed[1], pipe.writer()), pipe.writer());
    ::close(closed[1]);
  }
  std::signal(SIGPIPE, SIG_IGN);
  LineQueue queue(Into(pipe, 1'000));
  for (int i = 0; i < 100; ++i) queue.Put("line\n");
  EXPECT_TRUE(queue.Drain(kPatience));
}

TEST(LineQueueTest, ItsEndDoesNotWaitForAReader) {
  Pipe pipe;
  LineQueue queue(Into(pipe, 1'000'000));
  for (int i = 0; i < 2'000; ++i) queue.Put(fmt::format("line {:080}\n", i));
  // The thread has begun; it is in the middle of a write, and is left there.
  EXPECT_THAT(pipe.Line(0), HasSubstr("line 000"));
}

/// stderr goes into a pipe.
class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    ::fflush(stderr);
    before_ = ::dup(STDERR_FILENO);
    ::dup2(pipe_.writer(), STDERR_FILENO);
    pipe_.CloseWriter();
  }
  ~LogTest() override {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

  int before_ = -1;
  Pipe pipe_;
};

TEST_F(LogTest, WithoutAQueueALineIsThereBeforeWhatIsWrittenNext) {
  Log(LogLevel::kWarning, "logged");
  ::dprintf(STDERR_FILENO, "written\n");
  Say("said");
  const auto lines = pipe_.Read(3);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], ContainsRegex("^[-0-9]{10}T[0-9:]{8}\\.[0-9]{3}Z warning logged$"));
  EXPECT_EQ(lines[1], "written");
  EXPECT_EQ(lines[2], "said");
}

TEST_F(LogTest, WhatIsQueuedIsThereAtTheEndInOrder) {
  {
    const QueuedLog queued;
    Log(LogLevel::kWarning, "logged");
    Log(LogLevel::kInfo, "not so much");
    Say("said");
  }
  ::dprintf(STDERR_FILENO, "written\n");
  const auto lines = pipe_.Read(3);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], HasSubstr("warning logged"));
  EXPECT_EQ(lines[1], "said");
  EXPECT_EQ(lines[2], "written");
}

TEST_F(LogTest, ALogThatNobodyReadsHoldsUpNeitherWhoLogsNorTheEnd) {
  constexpr size_t kLines = 40'000;
  {
    const QueuedLog queued;
    for (size_t i = 0; i < kLines; ++i) Log(LogLevel::kWarning, fmt::format("{} {:0100}", i, 0));
  }
  Log(LogLevel::kWarning, "after the end");
  // Somebody reads after all.
  size_t read = 0;
  while (pipe_.Line(read).find("lost=") == std::string::npos) ++read;
  EXPECT_THAT(
      pipe_.Line(read),
      HasSubstr(fmt::format("warning lines of the log are missing here, nobody read it lost={}",
                            kLines + 1 - read)));
  {
    const QueuedLog queued;
  }
  Log(LogLevel::kWarning, "read again");
  EXPECT_THAT(pipe_.Line(read + 1), HasSubstr("warning read again"));
}

TEST(LogDeathTest, ACrashShowsWhatWasLoggedAndThenItsOwnLine) {
  const int log_is_read = 1;
  EXPECT_DEATH(
      {
        const QueuedLog queued;
        for (int i = 0; i < 100; ++i) Log(LogLevel::kError, fmt::format("before {}", i));
        CHECK(log_is_read < 0, "so far");
      },
      "before 98\n.*before 99\n.*check failed: log_is_read < 0: so far\n");
}

}  // namespace
}  // namespace tidemark
