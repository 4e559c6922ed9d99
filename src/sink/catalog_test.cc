#include "sink/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::sink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<CatalogColumn> kKeys = {{.name = "dt", .type = "string"},
                                          {.name = "hour", .type = "string"}};

std::string NameOf(const std::vector<std::string>& values) {
  return PartitionName(kKeys, values);
}

TEST(PartitionNameTest, IsEscapedAsHiveEscapesIt) {
  EXPECT_EQ(NameOf({"2026-01-31", "01"}), "dt=2026-01-31/hour=01");
  EXPECT_EQ(NameOf({"a/b:c", "x=y%"}), "dt=a%2Fb%3Ac/hour=x%3Dy%25");
  EXPECT_EQ(NameOf({"a b", "\xC3\xA9"}), "dt=a b/hour=\xC3\xA9");
  EXPECT_EQ(NameOf({"\x01", "{[^]}"}), "dt=%01/hour=%7B%5B%5E%5D}");
}

TEST(PartitionNameTest, ComesBackAsItsValues) {
  for (const std::string value : {"a", "50%", "x=y/z", "%41", "\x7F", "__HIVE_DEFAULT_PARTITION__"})
    EXPECT_THAT(ValuesOfName(NameOf({value, "1"}), 2),
                support::IsOkAnd(std::vector<std::string>{value, "1"}));
}

TEST(PartitionNameTest, EveryTruncationIsAnErrorOrAShorterValue) {
  const std::string name = NameOf({"2026", "1%"});
  for (size_t size = 0; size < name.size(); ++size) {
    const auto values = ValuesOfName(name.substr(0, size), 2);
    if (size < name.find("hour=") + 5)
      EXPECT_THAT(values, support::IsError(ErrorKind::kCorrupt, HasSubstr("partition columns")));
    else
      EXPECT_THAT(values, support::IsOk());
  }
}

TEST(CatalogValuesTest, NullAndEmptyAreHivesWord) {
  EXPECT_THAT(CatalogValues({.path = "p", .values = {"a", std::nullopt, ""}}),
              ElementsAre("a", kNullPartition, kNullPartition));
}

TEST(PartitionLocationTest, IsBelowTheTable) {
  const CatalogTable table{.location = "s3://lake/orders"};
  EXPECT_EQ(PartitionLocation(table, {.path = "2026/01"}), "s3://lake/orders/2026/01");
  EXPECT_EQ(PartitionLocation(table, {.path = ""}), "s3://lake/orders");
}

}  // namespace
}  // namespace tidemark::sink
