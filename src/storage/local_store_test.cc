#include "storage/local_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "storage/local_file.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

namespace fs = std::filesystem;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LocalStoreTest : public ::testing::Test {
 protected:
  LocalStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "tidemark-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    store_ = std::make_unique<LocalStore>(root_.string());
  }
  ~LocalStoreTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::vector<std::string> Keys(bool is_recursive = true) {
    std::vector<std::string> keys;
    const auto listing = store_->List("", {.start_after = "", .is_recursive = is_recursive}, {});
    EXPECT_THAT(listing, IsOk());
    if (listing) {
      for (const auto& object : listing->objects) keys.push_back(object.key);
    }
    return keys;
  }
  void Write(const std::string& key, const std::string& bytes = "x") {
    fs::create_directories((root_ / key).parent_path());
    std::ofstream(root_ / key) << bytes;
  }

  fs::path root_;
  std::unique_ptr<LocalStore> store_;
};

TEST_F(LocalStoreTest, UnfinishedFilesAreNotListed) {
  Write("a");
  Write(".tidemark-put-12-1", "half");
  Write("b/.tidemark-put-12-2", "half");
  EXPECT_THAT(Keys(), ElementsAre("a"));
}

TEST_F(LocalStoreTest, APutLeavesNothingBehind) {
  ASSERT_THAT(store_->Put("a/b", "x", {}), IsOk());
  ASSERT_THAT(store_->PutIfAbsent("a/c", "x", {}), IsOk());
  ASSERT_THAT(store_->PutIfAbsent("a/c", "y", {}), IsError(ErrorKind::kConflict, _));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(root_ / "a")) ++entries;
  EXPECT_EQ(entries, 2);
}

TEST_F(LocalStoreTest, TheRootKeepsItsName) {
  EXPECT_EQ(LocalStore("/", "file:///").uri(), "file:///");
  EXPECT_EQ(LocalStore("/").uri(), "/");
  EXPECT_EQ(LocalStore("/a/", "file:///a/").uri(), "file:///a");
}

TEST_F(LocalStoreTest, LinksToFilesAndFoldersAreFollowed) {
  Write("real/data", "12345");
  fs::create_symlink("real/data", root_ / "file");
  fs::create_directory_symlink("real", root_ / "folder");
  EXPECT_THAT(Keys(), ElementsAre("file", "folder/data", "real/data"));
  ASSERT_OK_ASSIGN(const ObjectInfo info, store_->Stat("file", {}));
  EXPECT_EQ(info.size, 5u);
}

TEST_F(LocalStoreTest, ALinkToAParentEndsTheDescent) {
  Write("a/b/c");
  fs::create_directory_symlink("../..", root_ / "a/b/up");
  fs::create_directory_symlink(".", root_ / "self");
  EXPECT_THAT(Keys(), ElementsAre("a/b/c"));
}

TEST_F(LocalStoreTest, LinksThatLeadNowhereAreNoObjects) {
  Write("a");
  fs::create_symlink("nothing", root_ / "dangling");
  fs::create_symlink("loop", root_ / "loop");
  EXPECT_THAT(Keys(), ElementsAre("a"));
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", {}, {}));
  EXPECT_THAT(listing.others, testing::UnorderedElementsAre("dangling", "loop"));
  EXPECT_THAT(store_->Read("dangling", {}), IsError(ErrorKind::kNotFound, _));
  EXPECT_THAT(store_->Read("loop", {}), IsError(ErrorKind::kNotFound, _));
}

TEST_F(LocalStoreTest, APipeIsNotAnObjectAndIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Keys(), IsEmpty());
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", {}, {}));
  EXPECT_THAT(listing.others, ElementsAre("pipe"));
  EXPECT_THAT(store_->Read("pipe", {}), IsError(ErrorKind::kNotFound, HasSubstr("pipe")));
  EXPECT_THAT(store_->Stat("pipe", {}), IsError(ErrorKind::kNotFound, HasSubstr("pipe")));
}

TEST_F(LocalStoreTest, NamesThatAreNotUtf8AreKeys) {
  const std::string key = "a\xff\x80z";
  ASSERT_THAT(store_->Put(key, "x", {}), IsOk());
  EXPECT_THAT(Keys(), ElementsAre(key));
  EXPECT_THAT(store_->Read(key, {}), IsOkAnd(std::string("x")));
}

TEST_F(LocalStoreTest, AFolderWithoutFilesIsStillAFolder) {
  fs::create_directories(root_ / "empty");
  ASSERT_OK_ASSIGN(const Listing listing, store_->List("", {}, {}));
  EXPECT_THAT(listing.folders, ElementsAre("empty/"));
}

TEST_F(LocalStoreTest, AFolderInTheWayOfAPutIsSaid) {
  Write("a/b");
  EXPECT_THAT(store_->Put("a", "x", {}), IsError(ErrorKind::kInvalidArgument, HasSubstr("folder")));
  EXPECT_THAT(store_->PutIfAbsent("a", "x", {}), IsError(ErrorKind::kConflict, _));
}

TEST_F(LocalStoreTest, ANameThatIsTooLongForTheFileSystemIsInvalid) {
  const std::string key(300, 'x');
  EXPECT_THAT(store_->Read(key, {}), IsError(ErrorKind::kInvalidArgument, _));
  EXPECT_THAT(store_->Put(key, "x", {}), IsError(ErrorKind::kInvalidArgument, _));
}

TEST_F(LocalStoreTest, ARootThatIsAFileIsNotFound) {
  Write("a");
  LocalStore store((root_ / "a").string());
  EXPECT_THAT(store.List("", {}, {}), IsError(ErrorKind::kNotFound, HasSubstr("/a")));
}

TEST_F(LocalStoreTest, PutMakesTheRoot) {
  LocalStore store((root_ / "new/table").string());
  ASSERT_THAT(store.Put("x/y", "z", {}), IsOk());
  EXPECT_THAT(store.Read("x/y", {}), IsOkAnd(std::string("z")));
}

TEST_F(LocalStoreTest, DeepFoldersAreABoundNotACrash) {
  fs::path deep = root_;
  for (int i = 0; i < 130; ++i) deep /= "d";
  fs::create_directories(deep);
  EXPECT_THAT(store_->List("", {.start_after = "", .is_recursive = true}, {}),
              IsError(ErrorKind::kExhausted, HasSubstr("deeper")));
}

TEST_F(LocalStoreTest, WhatMayNotBeReadIsDenied) {
  Write("open/a");
  Write("closed/b");
  Write("secret");
  ASSERT_EQ(::chmod((root_ / "closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod((root_ / "secret").c_str(), 0), 0);
  ASSERT_EQ(::chmod(root_.c_str(), 0755), 0);
  // Root may read everything, so the questions are asked by a child that is nobody.
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) ::_exit(99);
    const auto is_denied = [](const auto& result) {
      return !result.has_value() && result.error().kind == ErrorKind::kDenied;
    };
    int failed = 0;
    if (!is_denied(store_->Read("secret", {}))) failed |= 1;
    if (!is_denied(store_->List("", {.start_after = "", .is_recursive = true}, {}))) failed |= 2;
    if (!is_denied(store_->List("closed", {}, {}))) failed |= 4;
    if (!is_denied(store_->Stat("closed/b", {}))) failed |= 8;
    if (!is_denied(store_->Put("closed/new", "x", {}))) failed |= 16;
    if (!store_->List("open", {}, {})) failed |= 32;
    ::_exit(failed);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_EQ(::chmod((root_ / "closed").c_str(), 0755), 0);
}

TEST(FailErrnoTest, TheKindSaysWhatToDo) {
  const struct {
    int error;
    ErrorKind kind;
  } cases[] = {
      {ENOENT, ErrorKind::kNotFound},       {ENOTDIR, ErrorKind::kNotFound},
      {EACCES, ErrorKind::kDenied},         {EPERM, ErrorKind::kDenied},
      {EROFS, ErrorKind::kDenied},          {EIO, ErrorKind::kUnavailable},
      {ESTALE, ErrorKind::kUnavailable},    {ENOSPC, ErrorKind::kUnavailable},
      {EMFILE, ErrorKind::kUnavailable},    {ENAMETOOLONG, ErrorKind::kInvalidArgument},
      {ETIMEDOUT, ErrorKind::kUnavailable},
  };
  for (const auto& [error, kind] : cases)
    EXPECT_EQ(FailErrno(error, "reading", "x").error().kind, kind) << error;
}

}  // namespace
}  // namespace tidemark::storage
