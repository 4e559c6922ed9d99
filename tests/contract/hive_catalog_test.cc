// The Hive sink against a real Hive Metastore.
#include "sink/hive_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "sink/catalog_comparison.h"
#include "sink/catalog_sink.h"
#include "sink/catalog_table.h"
#include "support/change_column.h"
#include "support/hive_metastore.h"
#include "support/result_matchers.h"

namespace tidemark::sink {
namespace {

using support::ColumnOf;
using support::HiveMetastore;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

// Started by main(): a child ends with the thread that started it.
std::unique_ptr<HiveMetastore> metastore;
std::unique_ptr<HiveMetastore> closed;  // one that wants a login

Budget Ample() {
  return Budget::For(std::chrono::minutes(3));
}

PartitionView Hour(int number) {
  PartitionView partition;
  const std::string day =
      "2026-" + std::to_string(10 + number / 2400) + "-" + std::to_string(10 + number / 24 % 100);
  const std::string hour = std::to_string(number % 24);
  partition.path = "dt=" + day + "/hour=" + hour;
  partition.values = {day, hour};
  return partition;
}

class HiveSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    static int count = 0;
    view_.table_name = "orders" + std::to_string(++count);
    view_.identity.table_id = "default." + view_.table_name;
    view_.identity.base_path = metastore->folder() + "/tables/" + view_.table_name;
    view_.partition_columns = {"dt", "hour"};
    view_.schema.columns = {ColumnOf("id", "bigint"), ColumnOf("Name", "string"),
                            ColumnOf("dt", "string"), ColumnOf("hour", "string")};
    view_.last_commit_requested = "20260131000000000";
    view_.partitions = [this] { return partitions_; };
  }

  static HiveOptions Options() {
    return {.addresses = {{"127.0.0.1", static_cast<uint16_t>(metastore->port())}},
            .user = "tidemark"};
  }
  static CatalogSink NewSink(CatalogNaming naming = {},
                             WhenDropped when_dropped = WhenDropped::kKeep) {
    return CatalogSink(std::make_unique<HiveCatalog>(Options()),
                       {.naming = naming, .when_dropped = when_dropped});
  }
  SinkOutcome Apply(CatalogSink& sink, SinkStamp stamp, const TableDelta* delta = nullptr) {
    return sink.Apply({.now = view_, .stamp = stamp, .delta = delta}, Ample());
  }
  /// Tries again as a sink's pace does: Derby gives up one of two transactions that wait for each
  /// other.
  SinkOutcome ApplyAgain(CatalogSink& sink, SinkStamp stamp, const TableDelta* delta = nullptr) {
    constexpr int kTriesMax = 5;
    auto outcome = Apply(sink, stamp, delta);
    for (int tries = 1; outcome.kind == OutcomeKind::kTemporary && tries < kTriesMax; ++tries)
      outcome = Apply(sink, stamp, delta);
    return outcome;
  }
  std::optional<CatalogTable> There(const std::string& name) {
    auto table = reader_.ReadTable("default", name, Ample());
    EXPECT_THAT(table, support::IsOk());
    return table ? *table : std::nullopt;
  }
  size_t PartitionsOf(const CatalogTable& table) {
    auto list = reader_.ListPartitions(table, Ample());
    EXPECT_THAT(list, support::IsOk());
    return list ? list->size() : 0;
  }
  /// Against what the table shows, told up to `told`.
  CatalogComparison Compare(SinkStamp told, CatalogNaming naming = {}) {
    const TableTruth truth{.view = view_, .partitions = partitions_, .told = told};
    auto found = CompareCatalog(reader_, {.naming = std::move(naming)}, truth, Ample());
    EXPECT_THAT(found, support::IsOk());
    return found ? found->at(0) : CatalogComparison{};
  }
  void AddPartitions(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      partitions_.push_back(Hour(i));
      std::filesystem::create_directories(view_.identity.base_path + "/" + partitions_.back().path);
    }
  }

  TableView view_;
  std::vector<PartitionView> partitions_;
  HiveCatalog reader_{Options()};
};

TEST(HiveLoginTest, APasswordLetsInAndAWrongOneOrNoneDoesNot) {
  HiveOptions options{.addresses = {{"127.0.0.1", static_cast<uint16_t>(closed->port())}},
                      .user = HiveMetastore::kUser,
                      .password = HiveMetastore::kPassword};
  EXPECT_THAT(HiveCatalog(options).Check(Ample()), support::IsOk());
  options.password = "wrong-pa55word";
  EXPECT_THAT(HiveCatalog(options).Check(Ample()),
              support::IsError(ErrorKind::kDenied, testing::Not(HasSubstr("wrong-pa55word"))));
  options.password.clear();
  EXPECT_THAT(HiveCatalog(options).Check(Budget::For(std::chrono::seconds(5))),
              testing::Not(support::IsOk()));
}

TEST_F(HiveSinkTest, TheServerAnswers) {
  EXPECT_THAT(NewSink().Check(Ample()), support::IsOk());
}

TEST_F(HiveSinkTest, ATableIsMadeAsHudisOwnSyncMakesIt) {
  AddPartitions(0, 30);
  CatalogSink sink = NewSink();
  const auto outcome = Apply(sink, {1, 4});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(outcome.partitions_added, 30U);
  const auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->input_format, "org.apache.hudi.hadoop.HoodieParquetInputFormat");
  EXPECT_EQ(table->serde, "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe");
  EXPECT_THAT(table->serde_properties, Contains(Pair("hoodie.query.as.ro.table", "false")));
  EXPECT_THAT(table->properties, Contains(Pair("EXTERNAL", "TRUE")));
  EXPECT_THAT(table->properties, Contains(Pair("hudi_sync_epoch", "1")));
  EXPECT_THAT(table->properties, Contains(Pair("hudi_sync_seq", "4")));
  EXPECT_THAT(table->properties, Contains(Pair("last_commit_time_sync", "20260131000000000")));
  EXPECT_THAT(table->properties, Contains(Pair("spark.sql.sources.provider", "hudi")));
  EXPECT_THAT(table->properties, Contains(Key("spark.sql.sources.schema.part.0")));
  ASSERT_EQ(table->columns.size(), 7U);
  EXPECT_EQ(table->columns[5].type, "bigint");
  EXPECT_EQ(table->columns[6].name, "name");
  ASSERT_EQ(table->partition_keys.size(), 2U);
  EXPECT_EQ(table->partition_keys[1].name, "hour");
  EXPECT_EQ(PartitionsOf(*table), 30U);
}

TEST_F(HiveSinkTest, AMergeOnReadTableBecomesTwo) {
  view_.type = lake::hudi::TableType::kMergeOnRead;
  AddPartitions(0, 2);
  CatalogSink sink = NewSink();
  EXPECT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  const auto optimized = There(view_.table_name + "_ro");
  const auto realtime = There(view_.table_name + "_rt");
  ASSERT_TRUE(optimized && realtime);
  EXPECT_EQ(optimized->input_format, "org.apache.hudi.hadoop.HoodieParquetInputFormat");
  EXPECT_EQ(realtime->input_format,
            "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat");
  EXPECT_THAT(optimized->serde_properties, Contains(Pair("hoodie.query.as.ro.table", "true")));
  EXPECT_EQ(PartitionsOf(*optimized), 2U);
  EXPECT_EQ(PartitionsOf(*realtime), 2U);
}

TEST_F(HiveSinkTest, AnIncrementalUpdateAddsAndDropsWhatTheDeltaSays) {
  AddPartitions(0, 5);
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  TableDelta delta{.from = {1, 1}, .to = {1, 2}};
  delta.dropped = {Hour(0)};
  AddPartitions(5, 7);
  delta.added = {Hour(5), Hour(6)};
  view_.partitions = [] {
    ADD_FAILURE() << "everything was asked for";
    return std::vector<PartitionView>{};
  };
  const auto outcome = Apply(sink, {1, 2}, &delta);
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_FALSE(outcome.was_full);
  const auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  EXPECT_EQ(PartitionsOf(*table), 6U);
  EXPECT_EQ(StampOf(*table), (SinkStamp{1, 2}));
  // Once more, as after a crash before the stamp: everything is there already, or gone.
  EXPECT_EQ(Apply(sink, {1, 2}, &delta).kind, OutcomeKind::kApplied);
}

TEST_F(HiveSinkTest, ValuesThatHiveEscapesComeBackAsTheyWere) {
  for (const std::string value : {"a b", "50%", "x=y", "q?", "é", "a/b", "a:b", "{}", "[x]^"}) {
    PartitionView partition;
    partition.path = "p" + std::to_string(partitions_.size());
    partition.values = {value, std::nullopt};
    partitions_.push_back(partition);
  }
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  const auto outcome = Apply(sink, {2, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_TRUE(outcome.was_full);
  EXPECT_EQ(outcome.partitions_added, 0U);
  EXPECT_EQ(outcome.partitions_dropped, 0U);
  partitions_.clear();
  EXPECT_EQ(Apply(sink, {2, 2}).partitions_dropped, 9U);
  EXPECT_EQ(PartitionsOf(*There(view_.table_name)), 0U);
}

TEST_F(HiveSinkTest, AColumnInTheMiddleAWidenedOneAndADroppedOneArrive) {
  AddPartitions(0, 3);
  view_.schema.columns[0].type = "int";
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  view_.schema.columns[0].type = "bigint";
  view_.schema.columns.insert(view_.schema.columns.begin() + 1, ColumnOf("qty", "decimal(10,2)"));
  auto outcome = Apply(sink, {1, 2});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->columns.size(), 8U);
  EXPECT_EQ(table->columns[5].type, "bigint");
  EXPECT_EQ(table->columns[7].name, "qty");
  EXPECT_EQ(table->columns[7].type, "decimal(10,2)");
  // The last one in the metastore.
  std::erase_if(view_.schema.columns, [](const auto& column) { return column.name == "qty"; });
  outcome = Apply(sink, {1, 3});
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(There(view_.table_name)->columns.size(), 7U);
}

TEST_F(HiveSinkTest, AColumnDroppedInTheMiddleIsRefusedByTheServerOrTheTableMadeAnew) {
  AddPartitions(0, 3);
  view_.schema.columns.push_back(ColumnOf("qty", "decimal(10,2)"));
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  std::erase_if(view_.schema.columns, [](const auto& column) { return column.name == "Name"; });
  const auto refused = Apply(sink, {1, 2});
  EXPECT_EQ(refused.kind, OutcomeKind::kPermanent);
  EXPECT_THAT(refused.reason, HasSubstr("incompatible"));
  EXPECT_THAT(refused.cure, HasSubstr("disallow.incompatible.col.type.changes"));
  CatalogSink recreating(std::make_unique<HiveCatalog>(Options()),
                         {.when_refused = WhenRefused::kRecreate});
  const auto outcome = Apply(recreating, {1, 2});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(outcome.partitions_added, 3U);
  const auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns.size(), 7U);
  EXPECT_EQ(StampOf(*table), (SinkStamp{1, 2}));
}

TEST_F(HiveSinkTest, ATypeThatCannotBeReadIsRefusedForGoodWithWhatToDo) {
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  view_.schema.columns[1].type = "int";
  const auto outcome = Apply(sink, {1, 2});
  EXPECT_EQ(outcome.kind, OutcomeKind::kPermanent);
  EXPECT_THAT(outcome.reason, HasSubstr("column=name from=string to=int"));
  EXPECT_THAT(outcome.cure, HasSubstr("drop the table"));
  EXPECT_EQ(StampOf(*There(view_.table_name)), (SinkStamp{1, 1}));
}

TEST_F(HiveSinkTest, AnOlderProcessIsRefused) {
  CatalogSink newer = NewSink();
  CatalogSink older = NewSink();
  ASSERT_EQ(Apply(newer, {2, 9}).kind, OutcomeKind::kApplied);
  const auto outcome = Apply(older, {2, 8});
  EXPECT_EQ(outcome.kind, OutcomeKind::kStale);
  EXPECT_EQ(outcome.target, (SinkStamp{2, 9}));
  EXPECT_EQ(Apply(older, {1, 100}).kind, OutcomeKind::kStale);
}

TEST_F(HiveSinkTest, AnAlterationOfATableThatChangedSinceIsRefusedByTheServer) {
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  HiveCatalog slow(Options());
  const auto before = slow.ReadTable("default", view_.table_name, Ample());
  ASSERT_TRUE(before && *before);
  ASSERT_EQ(Apply(sink, {1, 2}).kind, OutcomeKind::kApplied);
  CatalogTable after = **before;
  SetStamp(after, {1, 2});
  EXPECT_THAT(slow.AlterTable(**before, after, Ample()),
              support::IsError(ErrorKind::kConflict, HasSubstr("has been modified")));
}

TEST_F(HiveSinkTest, WhatOthersDidBehindTheSinksBackIsNamedAndMendedWhenAskedFor) {
  AddPartitions(0, 30);
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 4}).kind, OutcomeKind::kApplied);
  auto found = Compare({1, 4});
  EXPECT_EQ(found.agreement, change::Agreement::kEqual)
      << found.message << testing::PrintToString(found.differences);
  EXPECT_EQ(Compare({1, 5}).agreement, change::Agreement::kBehind);
  EXPECT_EQ(Compare({1, 3}).agreement, change::Agreement::kDifferent);
  const auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  const std::vector<PartitionView> lost = {Hour(7)};
  const std::vector<PartitionView> foreign = {{.path = "x", .values = {"a b/c", "50%"}}};
  ASSERT_THAT(reader_.DropPartitions(*table, lost, Ample()), support::IsOk());
  ASSERT_THAT(reader_.AddPartitions(*table, foreign, Ample()), support::IsOk());
  found = Compare({1, 4});
  EXPECT_EQ(found.agreement, change::Agreement::kDifferent);
  EXPECT_THAT(found.missing, testing::ElementsAre("dt=2026-10-10/hour=7"));
  EXPECT_THAT(found.surplus, testing::ElementsAre("dt=a b%2Fc/hour=50%25"));
  EXPECT_THAT(found.differences, testing::IsEmpty());
  // Its stamp says that there is nothing to do, so somebody has to ask.
  EXPECT_FALSE(Apply(sink, {1, 4}).was_full);
  const auto outcome = sink.Apply({.now = view_, .stamp = {1, 4}, .compares_all = true}, Ample());
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(Compare({1, 4}).agreement, change::Agreement::kEqual);
}

TEST_F(HiveSinkTest, ATableThatOthersAlteredOrMadeOrDroppedIsSaidToBeSo) {
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  auto table = There(view_.table_name);
  ASSERT_TRUE(table);
  CatalogTable altered = *table;
  altered.columns.push_back({.name = "extra", .type = "int"});
  ASSERT_THAT(reader_.AlterTable(*table, altered, Ample()), support::IsOk());
  auto found = Compare({1, 1});
  EXPECT_EQ(found.agreement, change::Agreement::kDifferent);
  EXPECT_THAT(found.differences, testing::ElementsAre("surplus column=extra"));
  ASSERT_THAT(reader_.DropTable("default", view_.table_name, Ample()), support::IsOk());
  found = Compare({1, 1});
  EXPECT_EQ(found.agreement, change::Agreement::kDifferent);
  EXPECT_FALSE(found.is_there);
  ASSERT_THAT(reader_.CreateTable(CatalogTables(view_, {})->at(0), Ample()), support::IsOk());
  found = Compare({1, 1});
  EXPECT_EQ(found.agreement, change::Agreement::kUnknown);
  EXPECT_THAT(found.message, HasSubstr("no stamp"));
  found = Compare({1, 1}, {.database = "nowhere"});
  EXPECT_EQ(found.agreement, change::Agreement::kDifferent);
  EXPECT_FALSE(found.is_there);
}

TEST_F(HiveSinkTest, AMissingDatabaseIsWaitedFor) {
  CatalogSink sink = NewSink({.database = "nowhere"});
  const auto outcome = Apply(sink, {1, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kTemporary) << outcome.reason;
  EXPECT_THAT(outcome.reason, HasSubstr("create it: database=nowhere"));
}

TEST_F(HiveSinkTest, ATableThatIsGoneStaysUnlessToldOtherwise) {
  CatalogSink keeping = NewSink();
  ASSERT_EQ(Apply(keeping, {1, 1}).kind, OutcomeKind::kApplied);
  view_.is_dropped = true;
  EXPECT_EQ(Apply(keeping, {1, 2}).kind, OutcomeKind::kApplied);
  EXPECT_TRUE(There(view_.table_name));
  CatalogSink dropping = NewSink({}, WhenDropped::kDrop);
  EXPECT_EQ(Apply(dropping, {1, 2}).kind, OutcomeKind::kApplied);
  EXPECT_FALSE(There(view_.table_name));
  EXPECT_EQ(Apply(dropping, {1, 2}).kind, OutcomeKind::kApplied);
}

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

TEST_F(HiveSinkTest, TenThousandPartitionsAndThenMoreInEveryUpdate) {
  using std::chrono::steady_clock;
  AddPartitions(0, 10'000);
  CatalogSink sink = NewSink();
  const auto begin = steady_clock::now();
  const auto first = ApplyAgain(sink, {1, 1});
  const double first_seconds = Seconds(steady_clock::now() - begin);
  ASSERT_EQ(first.kind, OutcomeKind::kApplied) << first.reason;
  EXPECT_LE(first.partitions_added, 10'000U);
  std::cout << "first sync of 10000 partitions: " << first_seconds << " s, "
            << 10'000 / first_seconds << " a second\n";
  int64_t seq = 1;
  for (const int count : {1, 100, 1'000}) {
    std::vector<double> times;
    for (int round = 0; round < 7; ++round, ++seq) {
      TableDelta delta{.from = {1, seq}, .to = {1, seq + 1}};
      const auto known = static_cast<int>(partitions_.size());
      AddPartitions(known, known + count);
      delta.added.assign(partitions_.begin() + known, partitions_.end());
      const auto before = steady_clock::now();
      const auto outcome = ApplyAgain(sink, delta.to, &delta);
      times.push_back(Seconds(steady_clock::now() - before));
      ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
      EXPECT_FALSE(outcome.was_full);
    }
    std::ranges::sort(times);
    std::cout << "an update with " << count << " partitions: median " << times[times.size() / 2]
              << " s, longest " << times.back() << " s\n";
  }
  EXPECT_EQ(PartitionsOf(*There(view_.table_name)), partitions_.size());
}

// The last: it stops the server.
TEST_F(HiveSinkTest, AServerThatIsDownIsWaitedForAndFoundAgain) {
  AddPartitions(0, 3);
  CatalogSink sink = NewSink();
  ASSERT_EQ(Apply(sink, {1, 1}).kind, OutcomeKind::kApplied);
  metastore->Stop();
  const auto outcome = Apply(sink, {1, 2});
  EXPECT_EQ(outcome.kind, OutcomeKind::kTemporary);
  EXPECT_THAT(outcome.reason, HasSubstr("127.0.0.1"));
  const auto found = Compare({1, 1});
  EXPECT_EQ(found.agreement, change::Agreement::kUnknown);
  EXPECT_THAT(found.message, HasSubstr("127.0.0.1"));
  ASSERT_THAT(metastore->Restart(), support::IsOk());
  const auto again = Apply(sink, {1, 2});
  EXPECT_EQ(again.kind, OutcomeKind::kApplied) << again.reason;
}

}  // namespace
}  // namespace tidemark::sink

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using tidemark::support::HiveMetastore;
  auto started = HiveMetastore::Start();
  auto secured = HiveMetastore::Start(HiveMetastore::Login::kPlain);
  for (const auto* each : {&started, &secured}) {
    if (*each) continue;
    std::cerr << each->error().message << '\n';
    return 1;
  }
  tidemark::sink::metastore = *std::move(started);
  tidemark::sink::closed = *std::move(secured);
  const int code = RUN_ALL_TESTS();
  if (code != 0) std::cerr << tidemark::sink::metastore->Log();
  tidemark::sink::metastore.reset();
  tidemark::sink::closed.reset();
  return code;
}
