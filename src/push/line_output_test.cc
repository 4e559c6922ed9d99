#include "push/line_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::push {
namespace {

using support::IsError;
using support::IsOk;
using testing::_;

std::string Text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(LineOutputTest, LinesAreAddedAlsoToAFileThatWasMovedAway) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() + "/metrics.log";
  EXPECT_THAT(AppendToFile(path, "one\n"), IsOk());
  EXPECT_THAT(AppendToFile(path, "two\n"), IsOk());
  EXPECT_EQ(Text(path), "one\ntwo\n");
  std::filesystem::rename(path, path + ".1");
  EXPECT_THAT(AppendToFile(path, "three\n"), IsOk());
  EXPECT_EQ(Text(path), "three\n");
}

// The agent runs as another user; a file that somebody made for it is theirs.
TEST(LineOutputTest, ANewFileIsForOthersToReadWhateverTheUmaskAndAnOldOneKeepsItsMode) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() + "/metrics.log";
  struct stat status{};
  const mode_t before = ::umask(0077);
  EXPECT_THAT(AppendToFile(path, "one\n"), IsOk());
  ::umask(before);
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_THAT(AppendToFile(path, "two\n"), IsOk());
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(LineOutputTest, WhatDoesNotFitWholeIsTakenBack) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() + "/metrics.log";
  ASSERT_THAT(AppendToFile(path, "one\n"), IsOk());
  // The nearest thing to a full disk: a limit on the size of files.
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto status = AppendToFile(path, "a line that is longer than the rest\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(status, IsError(ErrorKind::kUnavailable, _));
  EXPECT_EQ(Text(path), "one\n");
}

TEST(LineOutputTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THAT(AppendToFile("/nowhere/at/all.log", "x\n"), IsError(ErrorKind::kUnavailable, _));
}

}  // namespace
}  // namespace tidemark::push
