#include "sink/catalog_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "sink/catalog_table.h"
#include "support/change_column.h"
#include "support/memory_catalog.h"
#include "support/result_matchers.h"

namespace tidemark::sink {
namespace {

using change::Agreement;
using support::ColumnOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Values = std::vector<std::string>;

PartitionView Day(const std::string& value) {
  return {.path = "dt=" + value, .values = {value}};
}

/// lake.orders with the days 1, 2 and 3, of which 3 was named by group 5 and the others before it.
TableTruth Truth() {
  TableTruth truth;
  truth.view.table_name = "orders";
  truth.view.identity = {
      .table_id = "lake.orders", .database = "lake", .base_path = "s3://l/orders"};
  truth.view.partition_columns = {"dt"};
  truth.view.schema.columns = {ColumnOf("id", "int"), ColumnOf("dt", "string")};
  truth.partitions = {Day("1"), Day("2"), Day("3")};
  truth.told = {1, 5};
  truth.named = {{"dt=1", 1}, {"dt=2", 4}, {"dt=3", 5}};
  return truth;
}

CatalogTable Wanted(const TableTruth& truth = Truth()) {
  return CatalogTables(truth.view, {})->at(0);
}

/// What a sink leaves there at a stamp.
CatalogAnswer Answer(const SinkStamp& stamp, std::vector<Values> partitions) {
  CatalogTable table = Wanted();
  SetStamp(table, stamp);
  return {.table = table, .partitions = std::move(partitions)};
}

const std::vector<Values> kAll = {{"1"}, {"2"}, {"3"}};

struct Fact {
  const char* what;
  std::optional<SinkStamp> stamp;
  std::vector<Values> there;
  bool has_old_column;  // a type that the table had before
  bool is_told_whole;
  Agreement each_update;
  Agreement with_changes;
};

std::vector<Fact> Facts() {
  using enum Agreement;
  return {
      // The stamp of the last group.
      {"the same", {{1, 5}}, kAll, false, true, kEqual, kEqual},
      {"one missing", {{1, 5}}, {{"1"}, {"3"}}, false, true, kDifferent, kDifferent},
      {"one too many", {{1, 5}}, {{"1"}, {"2"}, {"3"}, {"4"}}, false, true, kDifferent, kDifferent},
      {"another type", {{1, 5}}, kAll, true, true, kDifferent, kDifferent},
      // An older one: in Glue it says nothing.
      {"older, the same", {{1, 4}}, kAll, false, true, kBehind, kEqual},
      {"older, the newest missing", {{1, 4}}, {{"1"}, {"2"}}, false, true, kBehind, kBehind},
      {"older, told before it and missing",
       {{1, 4}},
       {{"1"}, {"3"}},
       false,
       true,
       kDifferent,
       kDifferent},
      {"one before that was told", {{1, 3}}, {{"1"}, {"3"}}, false, true, kBehind, kBehind},
      {"older, one too many",
       {{1, 4}},
       {{"1"}, {"2"}, {"3"}, {"4"}},
       false,
       true,
       kBehind,
       kBehind},
      {"older, another type", {{1, 4}}, kAll, true, true, kBehind, kBehind},
      // Of an epoch that is over.
      {"old epoch, the same", {{0, 9}}, kAll, false, true, kBehind, kEqual},
      {"old epoch, all missing", {{0, 9}}, {}, false, true, kBehind, kBehind},
      // Further than can be.
      {"further", {{1, 6}}, kAll, false, true, kDifferent, kDifferent},
      {"newer epoch", {{2, 1}}, kAll, false, true, kDifferent, kDifferent},
      {"further and not told whole", {{1, 6}}, kAll, false, false, kDifferent, kDifferent},
      // The publisher has not told all of it yet.
      {"not told, the same", {{1, 5}}, kAll, false, false, kBehind, kBehind},
      {"not told, one too many",
       {{1, 5}},
       {{"1"}, {"2"}, {"3"}, {"4"}},
       false,
       false,
       kBehind,
       kBehind},
      {"not told, told one missing",
       {{1, 5}},
       {{"1"}, {"2"}},
       false,
       false,
       kDifferent,
       kDifferent},
      // Not known to be ours.
      {"no stamp, the same", std::nullopt, kAll, false, true, kUnknown, kUnknown},
      {"no stamp, one missing", std::nullopt, {{"1"}}, false, true, kUnknown, kUnknown},
  };
}

TEST(CompareTableTest, ATableOfFacts) {
  for (const auto& each : Facts()) {
    SCOPED_TRACE(each.what);
    auto truth = Truth();
    truth.is_told_whole = each.is_told_whole;
    if (each.has_old_column) truth.view.schema.columns[0].type = "bigint";
    CatalogAnswer answer = Answer(each.stamp.value_or(SinkStamp{}), each.there);
    if (!each.stamp) answer.table->properties.erase(std::string(kSeqKey));
    const auto found = CompareTable(Wanted(truth), answer, truth, Stamping::kEachUpdate);
    EXPECT_EQ(found.agreement, each.each_update);
    EXPECT_EQ(found.stamp, each.stamp);
    EXPECT_TRUE(found.is_there);
    EXPECT_EQ(CompareTable(Wanted(truth), answer, truth, Stamping::kWithChanges).agreement,
              each.with_changes);
    truth.told.reset();
    const auto untold = CompareTable(Wanted(truth), answer, truth, Stamping::kEachUpdate);
    EXPECT_EQ(untold.agreement, Agreement::kUnknown);
    EXPECT_EQ(untold.missing, found.missing);
  }
}

TEST(CompareTableTest, WhatDiffersIsNamedAsTheCatalogNamesIt) {
  auto truth = Truth();
  truth.view.partition_columns = {"dt", "hour"};
  truth.view.schema.columns = {ColumnOf("id", "bigint"), ColumnOf("qty", "int"),
                               ColumnOf("dt", "string"), ColumnOf("hour", "string")};
  truth.partitions = {{.path = "dt=1/hour=a:b", .values = {"1", "a:b"}},
                      {.path = "dt=2/hour=0", .values = {"2", "0"}}};
  CatalogTable table = Wanted(truth);
  SetStamp(table, {1, 5});
  table.input_format = "somebody.else.InputFormat";
  std::erase_if(table.columns, [](const auto& column) { return column.name == "qty"; });
  table.columns.back().type = "int";
  table.columns.push_back({.name = "gone", .type = "string"});
  table.properties["spark.sql.sources.schema.part.0"] = "{}";
  table.properties["owner_team"] = "sales";  // not ours to compare
  table.properties["last_commit_time_sync"] = "20200101000000000";
  const auto found = CompareTable(Wanted(truth), {table, {{"2", "0"}, {"9", "x/y"}}}, truth,
                                  Stamping::kEachUpdate);
  EXPECT_EQ(found.database, "lake");
  EXPECT_EQ(found.table, "orders");
  EXPECT_THAT(found.missing, ElementsAre("dt=1/hour=a%3Ab"));
  EXPECT_THAT(found.surplus, ElementsAre("dt=9/hour=x%2Fy"));
  EXPECT_THAT(found.differences,
              UnorderedElementsAre("column=id type=int wanted=bigint", "missing column=qty",
                                   "surplus column=gone",
                                   "input_format=somebody.else.InputFormat "
                                   "wanted=org.apache.hudi.hadoop.HoodieParquetInputFormat",
                                   "another property=spark.sql.sources.schema.part.0"));
}

TEST(CompareTableTest, OneThatIsNotThereIsDifferentOnceItWasTold) {
  auto truth = Truth();
  auto found = CompareTable(Wanted(), {}, truth, Stamping::kEachUpdate);
  EXPECT_EQ(found.agreement, Agreement::kDifferent);
  EXPECT_FALSE(found.is_there);
  EXPECT_THAT(found.message, HasSubstr("not in the catalog"));
  truth.told.reset();
  found = CompareTable(Wanted(), {}, truth, Stamping::kEachUpdate);
  EXPECT_EQ(found.agreement, Agreement::kUnknown);
}

// Without our stamp it is another's table; with it the sink is stuck with it.
TEST(CompareTableTest, WhatASinkWouldNotTouchIsUnknownWithoutOurStampAndElseDifferent) {
  struct Case {
    const char* what;
    std::function<void(CatalogTable&)> change;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"view", [](CatalogTable& table) { table.is_view = true; }, "a view has the table's name"},
      {"place", [](CatalogTable& table) { table.location = "s3://other/orders"; },
       "lies elsewhere: location=s3://other/orders wanted=s3://l/orders"},
      {"keys", [](CatalogTable& table) { table.partition_keys[0].name = "day"; },
       "other partition columns: columns=day wanted=dt"},
      {"type", [](CatalogTable& table) { table.columns.back().type = "array<string>"; },
       "column=id from=array<string> to=int"},
  };
  for (const auto& [what, change, message] : cases) {
    SCOPED_TRACE(what);
    CatalogAnswer answer = Answer({1, 4}, kAll);
    change(*answer.table);
    auto found = CompareTable(Wanted(), answer, Truth(), Stamping::kEachUpdate);
    EXPECT_EQ(found.agreement, Agreement::kDifferent);
    EXPECT_THAT(found.message, HasSubstr(message));
    answer.table->properties.erase(std::string(kEpochKey));
    found = CompareTable(Wanted(), answer, Truth(), Stamping::kEachUpdate);
    EXPECT_EQ(found.agreement, Agreement::kUnknown);
    EXPECT_THAT(found.message, HasSubstr(message));
    EXPECT_TRUE(found.is_there);
  }
}

TEST(CompareTableTest, GlueSaysWhyItIsNotKnownWhetherSomethingIsOnItsWay) {
  const auto answer = Answer({1, 4}, {{"1"}, {"2"}});
  EXPECT_THAT(CompareTable(Wanted(), answer, Truth(), Stamping::kWithChanges).message,
              HasSubstr("the stamp moves with the table itself alone"));
  EXPECT_THAT(CompareTable(Wanted(), answer, Truth(), Stamping::kEachUpdate).message, IsEmpty());
}

TEST(CompareTableTest, TwoFoldersOfTheSameValuesAreOnePartitionAndATableWithoutAnyHasNone) {
  auto truth = Truth();
  truth.partitions.push_back({.path = "3", .values = {"3"}});
  EXPECT_EQ(CompareTable(Wanted(), Answer({1, 5}, kAll), truth, Stamping::kEachUpdate).agreement,
            Agreement::kEqual);
  truth.view.partition_columns.clear();
  truth.partitions = {{.path = "", .values = {}}};
  CatalogTable table = Wanted(truth);
  SetStamp(table, {1, 5});
  EXPECT_EQ(CompareTable(Wanted(truth), {table, {}}, truth, Stamping::kEachUpdate).agreement,
            Agreement::kEqual);
}

class CompareCatalogTest : public testing::Test {
 protected:
  void Sync(const TableTruth& truth) {
    TableView view = truth.view;
    view.partitions = [&truth] { return truth.partitions; };
    CatalogSink sink(std::make_unique<support::MemoryCatalog>(tables_), options_);
    ASSERT_EQ(sink.Apply({.now = view, .stamp = *truth.told}, {}).kind, OutcomeKind::kApplied);
  }
  std::vector<CatalogComparison> Compare(const TableTruth& truth) {
    support::MemoryCatalog catalog(tables_);
    tables_.calls.clear();
    auto found = CompareCatalog(catalog, options_, truth, {});
    EXPECT_THAT(found, support::IsOk());
    return found ? *std::move(found) : std::vector<CatalogComparison>{};
  }

  CatalogSinkOptions options_;
  support::MemoryCatalog::Tables tables_;
};

TEST_F(CompareCatalogTest, WhatASinkBroughtIsEqualAndWhatOthersDidBehindItsBackIsNamed) {
  const auto truth = Truth();
  Sync(truth);
  ASSERT_THAT(Compare(truth), SizeIs(1));
  EXPECT_EQ(Compare(truth)[0].agreement, Agreement::kEqual);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders", "list orders"));
  auto& partitions = tables_.entries.at("lake.orders").partitions;
  partitions.erase(Values{"2"});
  partitions.insert(Values{"7"});
  const auto found = Compare(truth)[0];
  EXPECT_EQ(found.agreement, Agreement::kDifferent);
  EXPECT_THAT(found.missing, ElementsAre("dt=2"));
  EXPECT_THAT(found.surplus, ElementsAre("dt=7"));
}

TEST_F(CompareCatalogTest, BothTablesOfOneThatMergesOnReadAreCompared) {
  auto truth = Truth();
  truth.view.type = lake::hudi::TableType::kMergeOnRead;
  Sync(truth);
  tables_.entries.erase("lake.orders_rt");
  const auto found = Compare(truth);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].table, "orders_ro");
  EXPECT_EQ(found[0].agreement, Agreement::kEqual);
  EXPECT_EQ(found[1].table, "orders_rt");
  EXPECT_EQ(found[1].agreement, Agreement::kDifferent);
}

TEST_F(CompareCatalogTest, NoAnswerIsUnknownAndNoDatabaseAnAnswer) {
  const auto truth = Truth();
  Sync(truth);
  for (const int call : {0, 1}) {
    tables_.fails_at = call;
    tables_.failure = {ErrorKind::kUnavailable, "the catalog is away"};
    auto found = Compare(truth)[0];
    EXPECT_EQ(found.agreement, Agreement::kUnknown);
    EXPECT_EQ(found.message, "the catalog is away");
    tables_.failure = {ErrorKind::kNotFound, "create the database"};
    found = Compare(truth)[0];
    EXPECT_EQ(found.agreement, Agreement::kDifferent);
    EXPECT_EQ(found.message, "create the database");
  }
}

TEST_F(CompareCatalogTest, OneThatCannotBeATableThereIsRefusedAsTheSinkWould) {
  auto truth = Truth();
  truth.view.schema.columns.push_back(ColumnOf("ID", "int"));
  support::MemoryCatalog catalog(tables_);
  EXPECT_THAT(CompareCatalog(catalog, options_, truth, {}),
              support::IsError(ErrorKind::kInvalidArgument,
                               HasSubstr("differ only in the case of their letters")));
}

}  // namespace
}  // namespace tidemark::sink
