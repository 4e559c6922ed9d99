#include "scan/schema_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::scan {
namespace {

using columnar::FileColumnName;
using support::IsError;
using testing::AllOf;
using testing::Field;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string Record(const std::string& version, const std::string& fields) {
  return R"({"max_column_id":9,"version_id":)" + version + R"(,"type":"record","fields":[)" +
         fields + "]}";
}
std::string Column(int id, const std::string& name, const std::string& type = R"("string")") {
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","optional":true,"type":)" +
         type + "}";
}
std::string History(const std::string& schemas) {
  return R"({"schemas":[)" + schemas + "]}";
}
auto Named(const std::string& path, const std::optional<std::string>& name) {
  return AllOf(Field(&FileColumnName::path, path), Field(&FileColumnName::name, name));
}

TEST(SchemaVersionsTest, ARenamedColumnIsFoundUnderItsOldName) {
  const std::string old = Record("0", Column(1, "k") + "," + Column(2, "price"));
  const std::string now = Record("20260102000000000", Column(1, "k") + "," + Column(2, "total"));
  const auto versions = SchemaVersions::Parse(now, History(now + "," + old));
  ASSERT_TRUE(versions.has_value());
  EXPECT_TRUE(versions->has_renames());
  EXPECT_THAT(versions->NamesAt("20260101000000000"),
              UnorderedElementsAre(Named("total", "price")));
  EXPECT_THAT(versions->NamesAt("20260102000000000"), IsEmpty());
  EXPECT_THAT(versions->NamesAt("20260103000000000"), IsEmpty());
}

TEST(SchemaVersionsTest, AColumnDroppedAndAddedAgainIsAnother) {
  const std::string old = Record("0", Column(1, "k") + "," + Column(2, "v"));
  const std::string now = Record("20260102000000000", Column(1, "k") + "," + Column(3, "v"));
  const auto versions = SchemaVersions::Parse(now, History(old));
  ASSERT_TRUE(versions.has_value());
  EXPECT_THAT(versions->NamesAt("20260101000000000"),
              UnorderedElementsAre(Named("v", std::nullopt)));
}

TEST(SchemaVersionsTest, AddedColumnsNeedNoName) {
  const std::string old = Record("0", Column(1, "k"));
  const std::string now = Record("20260102000000000", Column(1, "k") + "," + Column(2, "v"));
  const auto versions = SchemaVersions::Parse(now, History(old));
  ASSERT_TRUE(versions.has_value());
  EXPECT_FALSE(versions->has_renames());
}

TEST(SchemaVersionsTest, FollowsNestedFields) {
  const auto nested = [](const std::string& leaf) {
    return R"({"type":"record","fields":[)" + Column(3, leaf) + "]}";
  };
  const auto list = [&](const std::string& leaf) {
    return R"({"type":"array","element_id":2,"element_optional":true,"element":)" + nested(leaf) +
           "}";
  };
  const std::string old = Record("0", Column(1, "tags", list("x")));
  const std::string now = Record("20260102000000000", Column(1, "tags", list("y")));
  const auto versions = SchemaVersions::Parse(now, History(old));
  ASSERT_TRUE(versions.has_value());
  EXPECT_THAT(versions->NamesAt("20260101000000000"),
              UnorderedElementsAre(Named("tags.item.y", "x")));
}

TEST(SchemaVersionsTest, DamageIsAnErrorNotANameless) {
  const std::string whole = Record("1", Column(1, "k"));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(SchemaVersions::Parse(whole.substr(0, length), ""),
                IsError(ErrorKind::kCorrupt, testing::_))
        << length;
  }
  EXPECT_THAT(SchemaVersions::Parse(whole, "{}"), IsError(ErrorKind::kCorrupt, testing::_));
}

}  // namespace
}  // namespace tidemark::scan
