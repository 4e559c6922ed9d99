#include "push/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::push {
namespace {

namespace fs = std::filesystem;
using support::IsError;
using support::IsOk;
using testing::_;
using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.insert(entry.path().filename().string());
    return names;
  }
  static std::string Text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  support::TemporaryFolder folder_;
};

TEST_F(AtomicFileTest, AFileIsMadeAndReplacedAndNothingElseIsThere) {
  const std::string path = Path("t.prom");
  EXPECT_THAT(ReplaceFile(path, "one, and longer\n"), IsOk());
  EXPECT_EQ(Text(path), "one, and longer\n");
  EXPECT_THAT(ReplaceFile(path, "two\n"), IsOk());
  EXPECT_EQ(Text(path), "two\n");
  EXPECT_EQ(Names(), (std::set<std::string>{"t.prom"}));
}

// The collector runs as another user, and the systemd unit has a umask of 0077 for the state.
TEST_F(AtomicFileTest, OthersMayReadItWhateverTheUmask) {
  for (const mode_t mask : {mode_t{0022}, mode_t{0077}, mode_t{0}}) {
    const mode_t before = ::umask(mask);
    EXPECT_THAT(ReplaceFile(Path("t.prom"), "x"), IsOk());
    ::umask(before);
    struct stat status{};
    ASSERT_EQ(::stat(Path("t.prom").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0644U) << mask;
  }
}

TEST_F(AtomicFileTest, WhatAKillLeftBehindIsForOthersToo) {
  Write(Path(".t.prom.new"), "half");
  ASSERT_EQ(::chmod(Path(".t.prom.new").c_str(), 0600), 0);
  EXPECT_THAT(ReplaceFile(Path("t.prom"), "x"), IsOk());
  struct stat status{};
  ASSERT_EQ(::stat(Path("t.prom").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST_F(AtomicFileTest, WhoReadsTheOldFileReadsItToItsEnd) {
  const std::string path = Path("t.prom");
  Write(path, "old\n");
  std::ifstream reader(path);
  EXPECT_THAT(ReplaceFile(path, "new\n"), IsOk());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old\n");
}

TEST_F(AtomicFileTest, WhatAKillLeftBehindIsUsedAgain) {
  Write(Path(".t.prom.new"), "half of a number 1234567890");
  EXPECT_THAT(ReplaceFile(Path("t.prom"), "x 1\n"), IsOk());
  EXPECT_EQ(Text(Path("t.prom")), "x 1\n");
  EXPECT_EQ(Names(), (std::set<std::string>{"t.prom"}));
}

TEST_F(AtomicFileTest, AfterAnErrorTheOldFileStaysAlone) {
  fs::create_directories(Path("t.prom/inside"));  // a folder cannot be replaced by a file
  EXPECT_THAT(ReplaceFile(Path("t.prom"), "x 1\n"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("path=")));
  EXPECT_EQ(Names(), (std::set<std::string>{"t.prom"}));
}

TEST_F(AtomicFileTest, AFolderThatIsNotThereIsTheUsersMistake) {
  EXPECT_THAT(ReplaceFile(Path("nowhere/t.prom"), "x"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("No such file")));
}

TEST_F(AtomicFileTest, ALinkUnderTheHiddenNameIsNotFollowed) {
  Write(Path("precious"), "keep me");
  fs::create_symlink(Path("precious"), Path(".t.prom.new"));
  EXPECT_THAT(ReplaceFile(Path("t.prom"), "x"), IsError(ErrorKind::kUnavailable, _));
  EXPECT_EQ(Text(Path("precious")), "keep me");
}

TEST_F(AtomicFileTest, RemovingTakesTheHiddenOneToo) {
  Write(Path("t.prom"), "x");
  Write(Path(".t.prom.new"), "y");
  EXPECT_THAT(RemoveFile(Path("t.prom")), IsOk());
  EXPECT_TRUE(Names().empty());
  EXPECT_THAT(RemoveFile(Path("t.prom")), IsOk());
}

}  // namespace
}  // namespace tidemark::push
