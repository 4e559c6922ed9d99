#include "sink/catalog_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "support/change_column.h"
#include "support/memory_catalog.h"

namespace tidemark::sink {
namespace {

using support::ColumnOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::Pair;

PartitionView Day(const std::string& value) {
  return {.path = "dt=" + value, .values = {value}};
}

using Values = std::vector<std::string>;

TEST(StepForTest, ATableOfStamps) {
  using enum SyncStep;
  struct Case {
    std::optional<SinkStamp> there;
    std::optional<SinkStamp> applied;
    SinkStamp now;
    std::optional<SinkStamp> from;
    SyncStep each_update;
    SyncStep with_changes;
  };
  const SinkStamp s14{1, 4};
  const SinkStamp s15{1, 5};
  const SinkStamp s16{1, 6};
  const SinkStamp s21{2, 1};
  const std::vector<Case> cases = {
      // there, applied, now, from
      {std::nullopt, std::nullopt, s15, std::nullopt, kFull, kFull},
      {std::nullopt, s14, s15, s14, kFull, kFull},
      {s14, s14, s15, s14, kDelta, kDelta},
      {s14, std::nullopt, s15, s14, kDelta, kFull},
      {s14, s14, s15, std::nullopt, kFull, kFull},
      {s14, s15, s16, s15, kFull, kDelta},
      {s14, s14, s16, s15, kFull, kFull},
      {s15, s14, s16, s14, kFull, kFull},
      {s14, s15, s15, s14, kDelta, kNothing},
      {s15, std::nullopt, s15, s14, kNothing, kNothing},
      {s16, s15, s15, s14, kStale, kStale},
      {s21, s14, s15, s14, kStale, kStale},
      {s15, s15, s21, s15, kFull, kFull},
      {s15, s15, s21, SinkStamp{2, 0}, kFull, kFull},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [there, applied, now, from, each_update, with_changes] = cases[i];
    EXPECT_EQ(StepFor(there, applied, now, from, Stamping::kEachUpdate), each_update);
    EXPECT_EQ(StepFor(there, applied, now, from, Stamping::kWithChanges), with_changes);
  }
}

class CatalogSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    view_.table_name = "Orders";
    view_.identity.database = "Sales";
    view_.identity.base_path = "s3://lake/orders";
    view_.partition_columns = {"dt"};
    view_.schema.columns = {ColumnOf("id", "int"), ColumnOf("dt", "string")};
    view_.partitions = [this] { return partitions_; };
    partitions_ = {Day("1"), Day("2")};
  }

  SinkOutcome Apply(SinkStamp stamp, const TableDelta* delta = nullptr,
                    CatalogSinkOptions options = {}) {
    tables_.calls.clear();
    CatalogSink sink(std::make_unique<support::MemoryCatalog>(tables_), std::move(options));
    return sink.Apply({.now = view_,
                       .stamp = stamp,
                       .delta = delta,
                       .applied = applied_,
                       .compares_all = compares_all_},
                      {});
  }
  const support::MemoryCatalog::Entry& There(const std::string& name = "sales.orders") {
    return tables_.entries.at(name);
  }

  TableView view_;
  std::vector<PartitionView> partitions_;
  std::optional<SinkStamp> applied_;
  bool compares_all_ = false;
  support::MemoryCatalog::Tables tables_;
};

TEST_F(CatalogSinkTest, ANewTableIsMadeFilledAndStampedLast) {
  const auto outcome = Apply({1, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied);
  EXPECT_TRUE(outcome.was_full);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders", "create orders", "read orders",
                                         "list orders", "add 2", "alter orders"));
  EXPECT_THAT(There().partitions, ElementsAre(Values{"1"}, Values{"2"}));
  EXPECT_EQ(StampOf(There().table), (SinkStamp{1, 1}));
}

TEST_F(CatalogSinkTest, OneBehindAsksForNoListing) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  TableDelta delta{.from = {1, 1}, .to = {1, 2}, .added = {Day("3")}, .dropped = {Day("1")}};
  const auto outcome = Apply({1, 2}, &delta);
  EXPECT_EQ(outcome.partitions_added, 1U);
  EXPECT_EQ(outcome.partitions_dropped, 1U);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders", "remove 1", "add 1", "alter orders"));
  EXPECT_THAT(There().partitions, ElementsAre(Values{"2"}, Values{"3"}));
}

TEST_F(CatalogSinkTest, FilesAloneMoveTheStampAloneAndInGlueNothing) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  TableDelta delta{.from = {1, 1}, .to = {1, 2}, .touched = {Day("1")}};
  Apply({1, 2}, &delta);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders", "alter orders"));
  delta.from = {1, 2};
  applied_ = {1, 2};
  EXPECT_EQ(Apply({1, 3}, &delta, {.stamping = Stamping::kWithChanges}).kind,
            OutcomeKind::kApplied);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders"));
}

TEST_F(CatalogSinkTest, ANewEpochIsStampedInGlueTooSoThatWhatFollowsIsADelta) {
  const CatalogSinkOptions glue{.stamping = Stamping::kWithChanges};
  ASSERT_EQ(Apply({1, 7}, nullptr, glue).kind, OutcomeKind::kApplied);
  applied_ = {1, 7};
  EXPECT_TRUE(Apply({2, 1}, nullptr, glue).was_full);
  EXPECT_EQ(StampOf(There().table), (SinkStamp{2, 1}));
  applied_ = {2, 1};
  const TableDelta delta{.from = {2, 1}, .to = {2, 2}, .touched = {Day("1")}};
  EXPECT_FALSE(Apply({2, 2}, &delta, glue).was_full);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders"));
}

TEST_F(CatalogSinkTest, AfterAGapEverythingIsCompared) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  partitions_ = {Day("2"), Day("4")};
  TableDelta delta{.from = {1, 7}, .to = {1, 8}};
  const auto outcome = Apply({1, 8}, &delta);
  EXPECT_TRUE(outcome.was_full);
  EXPECT_THAT(There().partitions, ElementsAre(Values{"2"}, Values{"4"}));
}

// Whoever resumes a table has a reason: others may have changed what the stamp vouches for.
TEST_F(CatalogSinkTest, WhatOthersChangedUnderTheStampIsMendedWhenAskedFor) {
  for (const auto stamping : {Stamping::kEachUpdate, Stamping::kWithChanges}) {
    tables_ = {};
    ASSERT_EQ(Apply({1, 5}).kind, OutcomeKind::kApplied);
    auto& partitions = tables_.entries.at("sales.orders").partitions;
    partitions.erase(Values{"1"});
    partitions.insert(Values{"9"});
    applied_ = {1, 5};
    Apply({1, 5}, nullptr, {.stamping = stamping});
    EXPECT_THAT(There().partitions, ElementsAre(Values{"2"}, Values{"9"}));
    compares_all_ = true;
    EXPECT_EQ(Apply({1, 5}, nullptr, {.stamping = stamping}).partitions_dropped, 1U);
    EXPECT_THAT(There().partitions, ElementsAre(Values{"1"}, Values{"2"}));
    EXPECT_EQ(Apply({1, 4}, nullptr, {.stamping = stamping}).kind, OutcomeKind::kStale);
    compares_all_ = false;
    applied_ = {};
  }
}

TEST_F(CatalogSinkTest, AnOlderProcessWritesNothing) {
  ASSERT_EQ(Apply({3, 9}).kind, OutcomeKind::kApplied);
  const auto outcome = Apply({3, 8});
  EXPECT_EQ(outcome.kind, OutcomeKind::kStale);
  EXPECT_EQ(outcome.target, (SinkStamp{3, 9}));
  EXPECT_THAT(tables_.calls, ElementsAre("read orders"));
}

// Whatever call fails, before or after the catalog has done it: the next try ends where one without
// failure does.
TEST_F(CatalogSinkTest, AFailureAtAnyCallHealsWithTheNextTry) {
  for (const bool does_it_first : {false, true}) {
    for (int call = 0;; ++call) {
      tables_ = {};
      partitions_ = {Day("1"), Day("2")};
      view_.schema.columns[0].type = "int";
      ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
      view_.schema.columns[0].type = "bigint";
      partitions_ = {Day("2"), Day("3")};
      const TableDelta delta{.from = {1, 1},
                             .to = {1, 2},
                             .has_schema_change = true,
                             .added = {Day("3")},
                             .dropped = {Day("1")}};
      tables_.fails_at = call;
      tables_.does_it_first = does_it_first;
      const auto outcome = Apply({1, 2}, &delta);
      tables_.fails_at = -1;
      if (outcome.kind == OutcomeKind::kApplied) {
        EXPECT_GE(call, 5);
        break;
      }
      EXPECT_EQ(outcome.kind, OutcomeKind::kTemporary);
      EXPECT_EQ(Apply({1, 2}, &delta).kind, OutcomeKind::kApplied);
      EXPECT_THAT(There().partitions, ElementsAre(Values{"2"}, Values{"3"}));
      EXPECT_EQ(StampOf(There().table), (SinkStamp{1, 2}));
      EXPECT_EQ(There().table.columns.back().type, "bigint");
    }
  }
}

TEST_F(CatalogSinkTest, TwoFoldersOfTheSameValuesAreOnePartition) {
  partitions_ = {Day("1"), {.path = "1", .values = {"1"}}, Day("2")};
  EXPECT_EQ(Apply({1, 1}).partitions_added, 2U);
  EXPECT_EQ(Apply({2, 1}).partitions_added, 0U);
  EXPECT_THAT(There().partitions, ElementsAre(Values{"1"}, Values{"2"}));
}

TEST_F(CatalogSinkTest, WhatIsNotOursStays) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  auto& table = tables_.entries.at("sales.orders").table;
  table.properties["owner_team"] = "sales";
  table.properties["spark.sql.sources.schema.part.7"] = "left behind";
  view_.schema.columns.push_back(ColumnOf("qty", "int"));
  TableDelta delta{.from = {1, 1}, .to = {1, 2}, .has_schema_change = true};
  ASSERT_EQ(Apply({1, 2}, &delta).kind, OutcomeKind::kApplied);
  EXPECT_THAT(tables_.calls, ElementsAre("read orders", "alter orders"));
  EXPECT_THAT(There().table.properties, Contains(Pair("owner_team", "sales")));
  EXPECT_THAT(There().table.properties, Not(Contains(Key("spark.sql.sources.schema.part.7"))));
}

TEST_F(CatalogSinkTest, ATableThatLiesElsewhereIsNotTouched) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  view_.identity.base_path = "s3://other/orders";
  const auto outcome = Apply({1, 2});
  EXPECT_EQ(outcome.kind, OutcomeKind::kPermanent);
  EXPECT_THAT(outcome.reason, HasSubstr("lies elsewhere: location=s3://lake/orders"));
  EXPECT_EQ(outcome.cure, "see the manual");
  EXPECT_THAT(tables_.calls, ElementsAre("read orders"));
}

TEST_F(CatalogSinkTest, AnotherSchemeOfTheSamePlaceIsTheSamePlace) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  tables_.entries.at("sales.orders").table.location = "s3a://lake/orders/";
  EXPECT_EQ(Apply({1, 2}).kind, OutcomeKind::kApplied);
}

TEST_F(CatalogSinkTest, ARefusedAlterationQuarantinesOrMakesTheTableAnew) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  view_.schema.columns.insert(view_.schema.columns.begin(), ColumnOf("qty", "int"));
  tables_.refuses_alterations = true;
  TableDelta delta{.from = {1, 1}, .to = {1, 2}, .has_schema_change = true};
  EXPECT_EQ(Apply({1, 2}, &delta).kind, OutcomeKind::kPermanent);
  const auto outcome = Apply({1, 2}, &delta, {.when_refused = WhenRefused::kRecreate});
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied);
  EXPECT_EQ(outcome.partitions_added, 2U);
  EXPECT_THAT(There().partitions, ElementsAre(Values{"1"}, Values{"2"}));
}

TEST_F(CatalogSinkTest, ATableOfSomebodyElseIsNeverDropped) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  tables_.entries.at("sales.orders").table.properties.erase(std::string(kSeqKey));
  view_.is_dropped = true;
  EXPECT_EQ(Apply({1, 2}, nullptr, {.when_dropped = WhenDropped::kDrop}).kind,
            OutcomeKind::kApplied);
  EXPECT_EQ(tables_.entries.size(), 1U);
  SetStamp(tables_.entries.at("sales.orders").table, {1, 1});
  Apply({1, 2}, nullptr, {.when_dropped = WhenDropped::kDrop});
  EXPECT_THAT(tables_.entries, IsEmpty());
}

TEST_F(CatalogSinkTest, ATableOfMergesOnReadIsNamedAsAsked) {
  view_.type = lake::hudi::TableType::kMergeOnRead;
  struct Case {
    MergeOnReadTables which;
    std::vector<std::string> names;
  };
  for (const auto& [which, names] :
       {Case{MergeOnReadTables::kBoth, {"sales.x_orders_ro", "sales.x_orders_rt"}},
        Case{MergeOnReadTables::kSnapshot, {"sales.x_orders"}},
        Case{MergeOnReadTables::kOptimized, {"sales.x_orders"}}}) {
    tables_ = {};
    Apply({1, 1}, nullptr, {.naming = {.prefix = "x_", .merge_on_read = which}});
    std::vector<std::string> made;
    for (const auto& [name, entry] : tables_.entries) made.push_back(name);
    EXPECT_EQ(made, names);
  }
}

TEST_F(CatalogSinkTest, WhatCannotBeATableIsRefusedForGood) {
  struct Case {
    const char* what;
    std::function<void(TableView&)> change;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"case", [](TableView& view) { view.schema.columns.push_back(ColumnOf("ID", "int")); },
       "differ only in the case of their letters"},
      {"values", [](TableView& view) { view.partition_columns.push_back("hour"); },
       "not as many values as the table has partition columns: path=dt=1 values=1 columns=2"},
      {"schema", [](TableView& view) { view.schema.columns.clear(); }, "schema is not known yet"},
      {"name", [](TableView& view) { view.table_name.clear(); }, "no name"},
  };
  const TableView good = view_;
  for (const auto& [what, change, reason] : cases) {
    SCOPED_TRACE(what);
    tables_ = {};
    view_ = good;
    change(view_);
    const auto outcome = Apply({1, 1});
    EXPECT_EQ(outcome.kind, OutcomeKind::kPermanent);
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
  }
}

TEST_F(CatalogSinkTest, ALongSchemaIsCutIntoPiecesOfCharacters) {
  for (int i = 0; i < 200; ++i)
    view_.schema.columns.push_back(ColumnOf("\xC3\xA9t\xC3\xA9_" + std::to_string(i), "string"));
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  const auto& properties = There().table.properties;
  const int count =
      static_cast<int>(std::count_if(properties.begin(), properties.end(), [](const auto& each) {
        return each.first.starts_with("spark.sql.sources.schema.part.");
      }));
  EXPECT_GT(count, 3);
  std::string whole;
  for (int i = 0; i < count; ++i) {
    const auto& piece = properties.at("spark.sql.sources.schema.part." + std::to_string(i));
    EXPECT_LE(piece.size(), 4000U);
    EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xC0, 0x80);
    whole += piece;
  }
  EXPECT_TRUE(whole.ends_with(R"("name":"dt","type":"string","nullable":true,"metadata":{}}]})"));
}

}  // namespace
}  // namespace tidemark::sink
