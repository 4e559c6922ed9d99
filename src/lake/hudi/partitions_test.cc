#include "lake/hudi/partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/local_store.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/watched_store.h"

namespace tidemark::lake::hudi {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kMark = "/.hoodie_partition_metadata";
constexpr std::string_view kBase = "a-0_0-1-1_20260101000000000.parquet";

storage::MemoryStore Store(const std::vector<std::string>& keys) {
  storage::MemoryStore store;
  for (const auto& key : keys) EXPECT_TRUE(store.Put(key, "x", Budget()).has_value()) << key;
  return store;
}

std::vector<std::string> Paths(const PartitionListing& listing) {
  std::vector<std::string> paths;
  for (const Partition& partition : listing.partitions) paths.push_back(partition.path);
  return paths;
}

std::vector<std::string> Marked(const std::vector<std::string>& paths) {
  std::vector<std::string> keys = {".hoodie/hoodie.properties",
                                   ".hoodie/metadata/files/.hoodie_partition_metadata"};
  for (const auto& path : paths) keys.push_back(path + std::string(kMark));
  return keys;
}

TEST(PartitionsTest, EveryMarkedFolderIsAPartition) {
  const auto store = Store(Marked({"dt=1", "a/b/c", "-early", "late", "p%2Fq", "名 前"}));
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("-early", "a/b/c", "dt=1", "late", "p%2Fq", "名 前"));
  EXPECT_THAT(listing.findings, IsEmpty());
}

TEST(PartitionsTest, ATableWithoutPartitionsIsOneWithAnEmptyPath) {
  auto store = Store({".hoodie/hoodie.properties", ".hoodie_partition_metadata", std::string(kBase),
                      ".hoodie/20260101000000000.commit", ".a-0_20260101000000000.log.1_0-1-1"});
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  ASSERT_THAT(Paths(listing), ElementsAre(""));
  EXPECT_EQ(listing.partitions[0].files.size(), 2u);
}

TEST(PartitionsTest, ALinkToAnotherPartitionIsAFinding) {
  std::string pattern = (std::filesystem::temp_directory_path() / "partitions.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path root = pattern;
  storage::LocalStore store(root.string());
  for (const std::string partition : {"p", "q", "none"})
    ASSERT_TRUE(store.Put(partition + std::string(kMark), "", Budget()).has_value());
  ASSERT_TRUE(store.Put("p/" + std::string(kBase), "x", Budget()).has_value());
  // Of one name and size, and another file.
  ASSERT_TRUE(store.Put("q/" + std::string(kBase), "x", Budget()).has_value());
  std::filesystem::last_write_time(root / "q" / kBase, std::filesystem::file_time_type());
  std::filesystem::create_directory_symlink("p", root / "r");
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("none", "p", "q", "r"));
  ASSERT_EQ(listing.findings.size(), 1u);
  EXPECT_EQ(listing.findings[0].kind, "repeated_partition");
  EXPECT_EQ(listing.findings[0].place, "r");
  EXPECT_TRUE(IsDamage("repeated_partition"));
  std::filesystem::remove_all(root);
}

TEST(PartitionsTest, AFolderOfDataWithoutItsMarkIsAPartitionAndAFinding) {
  const auto store =
      Store({".hoodie/hoodie.properties", "p/" + std::string(kBase), "q/readme.txt"});
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("p"));
  ASSERT_EQ(listing.findings.size(), 1u);
  EXPECT_EQ(listing.findings[0].kind, "unmarked_partition");
  EXPECT_EQ(listing.findings[0].place, "p");
}

TEST(PartitionsTest, ATableInsideTheTableIsNotPartOfIt) {
  auto keys = Marked({"p", "inner/q", "inner2"});
  keys.push_back("inner/.hoodie/hoodie.properties");
  const auto store = Store(keys);
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("inner2", "p"));
  ASSERT_EQ(listing.findings.size(), 1u);
  EXPECT_EQ(listing.findings[0].kind, "nested_table");
}

TEST(PartitionsTest, MarksOfOtherFormatsAreMarks) {
  const auto store =
      Store({"p/.hoodie_partition_metadata.parquet", "q/.hoodie_partition_metadata.orc",
             "r/.hoodie_partition_metadata.crc"});
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, {}, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("p", "q"));
}

TEST(PartitionsTest, OnlyWantedPartitionsAreGiven) {
  const auto store = Store(Marked({"p1", "p2"}));
  const auto wants = [](std::string_view path) { return path == "p2"; };
  ASSERT_OK_ASSIGN(const auto listing, ListPartitions(store, wants, Budget()));
  EXPECT_THAT(Paths(listing), ElementsAre("p2"));
}

TableProperties Properties(std::map<std::string, std::string> all) {
  TableProperties properties;
  properties.all = std::move(all);
  return properties;
}

TEST(PartitionValuesTest, FoldersAreTheColumnsInOrder) {
  const auto properties = Properties({{"hoodie.table.partition.fields", "region:SIMPLE, dt"}});
  EXPECT_THAT(PartitionColumns(properties), ElementsAre("region", "dt"));
  EXPECT_THAT(PartitionValues("north/2026-01-31", properties),
              ElementsAre(PartitionValue{"region", "north"}, PartitionValue{"dt", "2026-01-31"}));
  EXPECT_THAT(PartitionValues("region=north/dt=2026-01-31", properties),
              ElementsAre(PartitionValue{"region", "north"}, PartitionValue{"dt", "2026-01-31"}));
  EXPECT_THAT(PartitionValues("", properties), IsEmpty());
}

TEST(PartitionValuesTest, OneColumnOverSeveralFoldersHasThemAll) {
  const auto properties = Properties({{"hoodie.table.partition.fields", "dt"}});
  EXPECT_THAT(PartitionValues("2026/01/31", properties),
              ElementsAre(PartitionValue{"dt", "2026/01/31"}));
}

TEST(PartitionValuesTest, EncodedValuesAreDecodedWhereTheTableSaysSo) {
  // The folders of a real table: testdata's b2_urlencode_v9 and the notes of the 0.14 one.
  const auto properties = Properties({{"hoodie.table.partition.fields", "part"},
                                      {"hoodie.datasource.write.partitionpath.urlencode", "true"}});
  EXPECT_THAT(PartitionValues("part=a%2Fb", properties),
              ElementsAre(PartitionValue{"part", "a/b"}));
  EXPECT_THAT(PartitionValues("part=c%3Dd", properties),
              ElementsAre(PartitionValue{"part", "c=d"}));
  EXPECT_THAT(PartitionValues("part=50%25", properties),
              ElementsAre(PartitionValue{"part", "50%"}));
  EXPECT_THAT(PartitionValues("part=50%2", properties),
              ElementsAre(PartitionValue{"part", "50%2"}));
  const auto plain = Properties({{"hoodie.table.partition.fields", "part"}});
  EXPECT_THAT(PartitionValues("part=50%25", plain), ElementsAre(PartitionValue{"part", "50%25"}));
}

TEST(PartitionValuesTest, HivesWordForNullIsNull) {
  const auto properties = Properties({{"hoodie.table.partition.fields", "part"}});
  EXPECT_THAT(PartitionValues("part=__HIVE_DEFAULT_PARTITION__", properties),
              ElementsAre(PartitionValue{"part", std::nullopt}));
}

}  // namespace
}  // namespace tidemark::lake::hudi
