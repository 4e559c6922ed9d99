#include "app/store_place.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

namespace tidemark::app {
namespace {

// Lines as proc(5) describes them.
constexpr const char* kMounts =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "40 27 0:35 / /mnt/lake rw,relatime shared:1 - nfs4 server:/lake rw\n"
    "41 40 0:36 / /mnt/lake/hot rw - nfs4 other:/hot rw\n"
    "42 27 0:37 / /mnt/with\\040blank\\134 rw - tmpfs tmpfs rw\n"
    "rubbish\n"
    "43 27 0:38 /\n";

TEST(StorePlaceTest, ATableLiesInTheInnermostMountThatHoldsIt) {
  const std::pair<std::string, std::string> rows[] = {
      {"/data/t", "/"},
      {"/", "/"},
      {"/mnt/lake/t", "/mnt/lake"},
      {"/mnt/lake", "/mnt/lake"},
      {"/mnt/lakeside/t", "/"},
      {"/mnt/lake/hot/t", "/mnt/lake/hot"},
      {"/mnt/lake/hotter", "/mnt/lake"},
      {"/mnt/with blank\\/t", "/mnt/with blank\\"},
  };
  for (const auto& [path, mount] : rows) {
    std::istringstream mounts(kMounts);
    EXPECT_EQ(StorePlaces(mounts).MountPointOf(path), mount) << path;
  }
  std::istringstream none;
  EXPECT_EQ(StorePlaces(none).MountPointOf("/data/t"), "/");
}

TEST(StorePlaceTest, TablesOfABucketShareItHoweverItsSchemeIsWritten) {
  EXPECT_EQ(StorePlaces().Of("s3://lake/a/b"), "s3://lake");
  EXPECT_EQ(StorePlaces().Of("s3a://lake"), "s3://lake");
  EXPECT_EQ(StorePlaces().Of("abfss://c@acc.dfs.core.windows.net/x"),
            StorePlaces().Of("abfss://c@acc.dfs.core.windows.net/y/z"));
  EXPECT_NE(StorePlaces().Of("gs://lake/a"), StorePlaces().Of("s3://lake/a"));
  EXPECT_NE(StorePlaces().Of("memory://a"), StorePlaces().Of("memory://b"));
}

TEST(StorePlaceTest, LocalTablesShareTheirMount) {
  EXPECT_EQ(StorePlaces().Of("/proc/t"), "file:/proc");
  EXPECT_EQ(StorePlaces().Of("file:/proc/t/"), "file:/proc");
  EXPECT_EQ(StorePlaces().Of("/"), "file:/");
}

}  // namespace
}  // namespace tidemark::app
