#include "app/file_stamps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.h"

namespace tidemark::app {
namespace {

namespace fs = std::filesystem;

class FileStampsTest : public ::testing::Test {
 protected:
  std::string PathOf(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(PathOf(name)) << text;
  }
  FileStamps StampsOf(const std::string& name) const {
    FileStamps stamps;
    stamps.Add(PathOf(name));
    return stamps;
  }

  support::TemporaryFolder folder_;
};

TEST_F(FileStampsTest, WhatNobodyTouchesStaysTheSame) {
  Write("a", "1");
  const FileStamps stamps = StampsOf("a");
  EXPECT_EQ(stamps.Now(), stamps);
  EXPECT_FALSE(stamps.empty());
  EXPECT_TRUE(FileStamps().empty());
  const FileStamps absent = StampsOf("none");
  EXPECT_EQ(absent.Now(), absent);
}

TEST_F(FileStampsTest, EveryKindOfChangeShows) {
  const struct {
    const char* what;
    std::function<void()> change;
  } cases[] = {
      {"written", [&] { Write("a", "12"); }},
      {"removed", [&] { fs::remove(PathOf("a")); }},
      {"came back", [&] { Write("a", "12"); }},
      {"replaced by one of the same size and time",
       [&] {
         const auto time = fs::last_write_time(PathOf("a"));
         Write("b", "34");
         fs::last_write_time(PathOf("b"), time);
         fs::rename(PathOf("b"), PathOf("a"));
       }},
      {"other rights", [&] { fs::permissions(PathOf("a"), fs::perms::owner_read); }},
      {"a folder", [&] { fs::remove(PathOf("a")), fs::create_directory(PathOf("a")); }},
      {"a link to nothing",
       [&] { fs::remove(PathOf("a")), fs::create_symlink(PathOf("c"), PathOf("a")); }},
      {"what the link names", [&] { Write("c", "5"); }},
  };
  Write("a", "1");
  for (const auto& [what, change] : cases) {
    const FileStamps before = StampsOf("a");
    change();
    EXPECT_NE(before.Now(), before) << what;
  }
}

TEST_F(FileStampsTest, WhatComesToAPatternOrLeavesItShows) {
  Write("b.yaml", "1");
  Write("a.yaml", "1");
  Write("c.txt", "1");
  const auto matches = [&] {
    FileStamps stamps;
    return std::pair(stamps.AddMatches(folder_.path(), "*.yaml").names, stamps);
  };
  const auto [names, before] = matches();
  EXPECT_EQ(names, (std::vector<std::string>{"a.yaml", "b.yaml"}));
  EXPECT_FALSE(before.empty());
  Write("d.txt", "1");  // nobody's business
  EXPECT_EQ(before.Now(), before);
  Write("c.yaml", "1");
  EXPECT_NE(before.Now(), before);
  fs::remove(PathOf("c.yaml"));
  EXPECT_EQ(before.Now(), before);
  fs::remove(PathOf("a.yaml"));
  EXPECT_NE(before.Now(), before);
  const FileStamps without = matches().second;
  Write("a.yaml", "1");
  EXPECT_NE(without.Now(), without);
}

TEST_F(FileStampsTest, AFolderThatComesOrGoesShows) {
  FileStamps stamps;
  EXPECT_TRUE(stamps.AddMatches(PathOf("p.d"), "*").error);
  EXPECT_EQ(stamps.Now(), stamps);
  fs::create_directory(PathOf("p.d"));
  EXPECT_NE(stamps.Now(), stamps);
}

TEST_F(FileStampsTest, AFileThatIsAddedTwiceStaysAsItWasAtFirst) {
  Write("a", "1");
  FileStamps stamps = StampsOf("a");
  Write("a", "12");
  stamps.Add(PathOf("a"));
  EXPECT_NE(stamps.Now(), stamps);
}

TEST_F(FileStampsTest, AChangeIsToldOnceItRests) {
  Write("a", "1");
  SettledChange change(StampsOf("a"));
  EXPECT_FALSE(change.Look());
  Write("a", "12");
  EXPECT_FALSE(change.Look());
  Write("a", "123");
  EXPECT_FALSE(change.Look());
  EXPECT_TRUE(change.Look());
  EXPECT_TRUE(change.Look());  // until it is read
  change.Set(StampsOf("a"));
  EXPECT_FALSE(change.Look());
  EXPECT_FALSE(change.Look());
}

TEST_F(FileStampsTest, AChangeWhileReadingIsToldWhenTheStampsAreOfBefore) {
  Write("a", "1");
  SettledChange change(FileStamps{});
  FileStamps before = StampsOf("a");
  Write("a", "12");  // behind the reader's back
  change.Set(std::move(before));
  EXPECT_FALSE(change.Look());
  EXPECT_TRUE(change.Look());
}

}  // namespace
}  // namespace tidemark::app
