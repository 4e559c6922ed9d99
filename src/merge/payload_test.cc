// Payload classes and partial updates: rows that are put together from several.
#include <gtest/gtest.h>

#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"
#include "support/merge_log.h"

namespace tidemark::merge {
namespace {

using support::BaseRow;
using support::EventTimeSettings;
using support::GetProfile;
using support::Hudi014;
using support::Hudi11;
using support::Log;
using support::OrderingOf;

const Profile kEventTime = support::EventTimeProfile();

// --- Payload classes -----------------------------------------------------------------------------

TEST(PayloadTest, OverwriteWithLatestComparesInTheLogsOf014AndNotWithTheBase) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  const Profile p014 = Hudi014(Payload::kOverwriteWithLatest);
  EXPECT_EQ(Log().Row(3).Row(1).Shown(p014), "0");
  EXPECT_EQ(Log().Row(1).Shown(p014, &base), "0");
  // 1.1 takes the payload for commit time.
  const Profile p11 = GetProfile("hudi-1.1", EventTimeSettings(Payload::kOverwriteWithLatest));
  EXPECT_EQ(Log().Row(3).Row(1).Shown(p11), "1");
}

TEST(PayloadTest, FirstValueKeepsTheFirstOfEqualOnes) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  TableSettings settings = EventTimeSettings(Payload::kFirstValue);
  const Profile p102 = GetProfile("hudi-1.0.2", settings);
  EXPECT_EQ(Log().Row(3).Row(3).Shown(p102), "0");
  EXPECT_EQ(Log().Row(3).Shown(p102, &base), "base");
  EXPECT_EQ(Log().Row(4).Shown(p102, &base), "0");
}

TEST(PayloadTest, AwsDmsNeverComparesWithTheBase) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  const Profile p014 = Hudi014(Payload::kAwsDms);
  EXPECT_EQ(Log().Row(1).Shown(p014, &base), "0");
  EXPECT_EQ(Log().Flagged(1).Shown(p014, &base), "gone");
}

TEST(PayloadTest, PostgresComparesDeletesAndFillsUnavailableValues) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  const Profile p014 = Hudi014(Payload::kPostgresDebezium);
  EXPECT_EQ(Log().Flagged(1).Shown(p014, &base), "base");
  const Merged merged = Log().Row(4).Under(p014, &base);
  EXPECT_EQ(merged.fill, Fill::kUnavailable);
  ASSERT_EQ(merged.layers.size(), 2u);
  EXPECT_EQ(merged.layers[0].row, 0u);
  EXPECT_EQ(merged.layers[1].row, 100u);
}

TEST(PayloadTest, BinlogPositionsAreNumbersAgainstTheBaseAndTextInTheLogsOf014) {
  const OrderingColumn column{ColumnType::kString, 0};
  const auto row = [&](std::string_view seq, RowHandle handle) {
    Version version;
    version.ordering = *OrderingValue::OfBytes(column, seq);
    version.row = handle;
    return version;
  };
  const Version older = row("00000.23", 0);
  const Version newer = row("00000.123", 1);
  const Profile p014 = Hudi014(Payload::kMySqlDebezium);
  const Version log[] = {older, newer};
  EXPECT_EQ(MergeSlice(p014.read, nullptr, log).winner.row, 0u);  // HUDI-6766: as text
  EXPECT_EQ(MergeSlice(p014.read, &older, {&newer, 1}).winner.row, 1u);
  EXPECT_EQ(MergeSlice(p014.read, &newer, {&older, 1}).winner.row, 1u);
  TableSettings settings = EventTimeSettings(Payload::kMySqlDebezium);
  settings.ordering_fields = {"_event_seq"};
  EXPECT_EQ(MergeSlice(GetProfile("event-time", settings).read, nullptr, log).winner.row, 1u);
  const Version broken = row("position", 2);
  EXPECT_EQ(MergeSlice(p014.read, &broken, {&newer, 1}).reason, Reason::kFailsOnEventSeq);
}

TEST(PayloadTest, PartialUpdateFillsNullsOfTheWinner) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  const Profile p014 = Hudi014(Payload::kPartialUpdate);
  const Merged merged = Log().Row(5).Row(4).Under(p014, &base);
  EXPECT_EQ(merged.fill, Fill::kNulls);
  ASSERT_EQ(merged.layers.size(), 3u);
  EXPECT_EQ(merged.layers[0].row, 0u);
  EXPECT_EQ(merged.layers[1].row, 1u);
  EXPECT_EQ(merged.layers[2].row, 100u);
  // Older than the base: the base row is on top.
  EXPECT_EQ(Log().Row(1).Under(p014, &base).layers[0].row, 100u);
  // … but not where the payload sees two classes.
  OrderingOf dates(ColumnType::kDate);
  const Version dated = BaseRow(dates, 3);
  EXPECT_EQ(Log(ColumnType::kDate).Row(1).Under(p014, &dated).layers[0].row, 0u);
}

TEST(PayloadTest, UpTo015OnlyPartialUpdateFillsFromRowsInTheLogs) {
  // pay_postgres_0140 and pay_nondefaults_0140: the base row alone fills, and nothing fills it.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  for (const Payload payload : {Payload::kPostgresDebezium, Payload::kOverwriteNonDefaults}) {
    const Profile p014 = Hudi014(payload);
    EXPECT_TRUE(Log().Row(5).Row(4).Under(p014).layers.empty()) << PayloadName(payload);
    const Merged over_base = Log().Row(5).Row(4).Under(p014, &base);
    ASSERT_EQ(over_base.layers.size(), 2u) << PayloadName(payload);
    EXPECT_EQ(over_base.layers[0].row, 0u) << PayloadName(payload);
    EXPECT_EQ(over_base.layers[1].row, 100u) << PayloadName(payload);
  }
  const Merged under_base = Log().Row(2).Under(Hudi014(Payload::kPostgresDebezium), &base);
  EXPECT_TRUE(under_base.is_from_base);
  EXPECT_TRUE(under_base.layers.empty());
}

TEST(PayloadTest, NothingOfARowThatWasDeletedComesBackByFilling) {
  // pay_nondefaults_111, commit time: 1.1 gives the base row's columns to what came after a delete.
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  settings.mode = MergeMode::kCommitTime;
  settings.partial_update_mode = "IGNORE_DEFAULTS";
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 1);
  const Log log = Log().Deleted(2).Row(3);
  EXPECT_EQ(log.Under(GetProfile("hudi-1.1", settings), &base).layers.size(), 2u);
  const Merged right = log.Under(GetProfile("event-time", settings), &base);
  EXPECT_TRUE(right.is_live());
  EXPECT_TRUE(right.layers.empty());
}

TEST(PayloadTest, PostgresIsFilledBy102AndNotBy11) {
  // pay_postgres_102 and pay_postgres_111_v8.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  const TableSettings settings = EventTimeSettings(Payload::kPostgresDebezium);
  const Profile p102 = GetProfile("hudi-1.0.2", settings);
  EXPECT_EQ(Log().Row(4).Row(5).Under(p102, &base).layers.size(), 3u);
  EXPECT_TRUE(Log().Row(5).Row(4).Under(p102).layers.empty());
  EXPECT_TRUE(Log().Row(2).Under(p102, &base).layers.empty());
  EXPECT_TRUE(Log().Row(4).Row(5).Under(GetProfile("hudi-1.1", settings), &base).layers.empty());
  EXPECT_EQ(GetProfile("event-time", settings).read.fill, Fill::kUnavailable);
}

TEST(PayloadTest, Release100LetsDeletesWinWherePayloadsMerge) {
  // pay_eventtime_101, pay_dms_101, pay_postgres_101, pay_partial_101.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  for (const Payload payload : {Payload::kEventTime, Payload::kAwsDms, Payload::kFirstValue}) {
    const Profile p100 = GetProfile("hudi-1.0.0", EventTimeSettings(payload));
    EXPECT_EQ(Log().Row(3).Deleted(2).Shown(p100), "gone") << PayloadName(payload);
    EXPECT_EQ(Log().Deleted(3).Row(2).Shown(p100), "gone") << PayloadName(payload);
    EXPECT_EQ(Log().Deleted(2).Row(3).Shown(p100), "1") << PayloadName(payload);
    EXPECT_EQ(Log().Deleted(2).Shown(p100, &base), "gone") << PayloadName(payload);
  }
  const Profile dms = GetProfile("hudi-1.0.0", EventTimeSettings(Payload::kAwsDms));
  EXPECT_EQ(Log().Row(3).Row(2).Shown(dms), "1");
  const Profile postgres = GetProfile("hudi-1.0.0", EventTimeSettings(Payload::kPostgresDebezium));
  EXPECT_EQ(Log().Row(1).Row(2).Under(postgres).layers.size(), 2u);
  EXPECT_TRUE(Log().Row(2).Row(1).Under(postgres).layers.empty());
  const Profile partial = GetProfile("hudi-1.0.0", EventTimeSettings(Payload::kPartialUpdate));
  EXPECT_EQ(Log().Row(2).Row(1).Under(partial).meta_row, 1u);
  EXPECT_EQ(Log().Row(1).Row(2).Under(partial).meta_row, 1u);
}

TEST(PayloadTest, MarkedBaseRowsAreShown) {
  // cols_flagged_*: bulk_insert puts flagged rows into base files, and readers take them for rows.
  OrderingOf ordering(ColumnType::kLong);
  Version base = BaseRow(ordering, 3);
  base.op = Op::kDeletedRow;
  const TableSettings payload = EventTimeSettings(Payload::kEventTime);
  for (const std::string_view name : {"hudi-0.14", "hudi-1.0.2", "hudi-1.1"}) {
    const Profile profile = GetProfile(name, payload);
    EXPECT_TRUE(MergeBase(profile.read, &base, nullptr).is_live()) << name;
    const bool is_swallowed = name == "hudi-1.0.2";
    EXPECT_EQ(Log().Row(4).Shown(profile, &base), is_swallowed ? "gone" : "0") << name;
    EXPECT_EQ(Log().Row(2).Shown(profile, &base), is_swallowed ? "gone" : "base") << name;
  }
  EXPECT_FALSE(MergeBase(kEventTime.read, &base, nullptr).is_live());
}

TEST(PayloadTest, PartialUpdateGivesTheMetaColumnsOfTheLaterRow) {
  // pay_partial_0140: whichever row is on top.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 4);
  const Profile p014 = Hudi014(Payload::kPartialUpdate);
  EXPECT_EQ(Log().Row(3).Row(2).Under(p014).meta_row, 1u);
  EXPECT_EQ(Log().Row(3).Row(2).Under(p014, &base).meta_row, 1u);
  EXPECT_EQ(Log().Row(3).Under(p014, &base).meta_row, 0u);
  EXPECT_EQ(Log().Row(3).Under(kEventTime, &base).meta_row, kNoRow);
}

TEST(PayloadTest, AwsDmsOf014CannotReadADeleteWithoutABaseRow) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 1);
  const Profile p014 = Hudi014(Payload::kAwsDms);
  EXPECT_EQ(Log().Row(1).Deleted(2).Shown(p014), "fails");
  EXPECT_EQ(Log().Row(3).Deleted(2).Shown(p014), "0");
  EXPECT_EQ(Log().Row(1).Deleted(2).Shown(p014, &base), "gone");
}

TEST(PayloadTest, Release11RunsCustomPayloadsWithoutComparingDeletes) {
  const Profile p11 = GetProfile("hudi-1.1", EventTimeSettings(Payload::kPostgresDebezium));
  EXPECT_EQ(Log().Row(3).Deleted(2).Shown(p11), "gone");
  EXPECT_EQ(Log().Deleted(4).Row(3).Shown(p11), "1");
  EXPECT_EQ(Log().Row(3).Row(2).Shown(p11), "0");
  const Profile p102 = GetProfile("hudi-1.0.2", EventTimeSettings(Payload::kPostgresDebezium));
  EXPECT_EQ(Log().Deleted(4).Row(3).Shown(p102), "gone");
}

// --- Partial updates -----------------------------------------------------------------------------

std::vector<RowHandle> LayersOf(const Merged& merged) {
  std::vector<RowHandle> rows;
  for (const Version& layer : merged.layers) rows.push_back(layer.row);
  return rows;
}

TEST(PartialTest, AsRealMergeIntoDoes) {
  // b_partial_update_v9: k1 gets a@20, then b@30, over a row of 10; k2 gets a@5 over a row of 10.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 1);
  for (const Profile& profile : {kEventTime, Hudi11()}) {
    const Merged k1 = Log().Row(2, 1).PartialMode().Row(3, 2).PartialMode().Under(profile, &base);
    EXPECT_EQ(LayersOf(k1), (std::vector<RowHandle>{1, 0, 100})) << profile.name;
    const Merged k2 = Log().Row(0, 1).PartialMode().Under(profile, &base);
    EXPECT_TRUE(k2.is_from_base) << profile.name;
    EXPECT_TRUE(k2.layers.empty()) << profile.name;
  }
}

TEST(PartialTest, ALatePartialRowStandsAtItsOwnValue) {
  // {a}@3, then {b}@1, then {b}@2: the b of 2 is newer. 1.1 has given b away by then.
  const Log log = Log().Row(3, 1).Row(1, 2).Row(2, 2);
  EXPECT_EQ(LayersOf(log.Under(kEventTime)), (std::vector<RowHandle>{0, 2, 1}));
  EXPECT_EQ(LayersOf(log.Under(Hudi11())), (std::vector<RowHandle>{0, 1, 2}));
}

TEST(PartialTest, ADeleteBetweenCutsWhatIsBelowIt) {
  const Log log = Log().Row(1).Row(4, 1).Deleted(2).Row(3, 2);
  EXPECT_EQ(LayersOf(log.Under(kEventTime)), (std::vector<RowHandle>{1, 3}));
  const Log late = Log().Row(4, 1).Deleted(3).Row(2, 2);
  EXPECT_EQ(LayersOf(late.Under(kEventTime)), (std::vector<RowHandle>{0}));
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 2);
  EXPECT_EQ(LayersOf(late.Under(kEventTime, &base)), (std::vector<RowHandle>{0}));
}

TEST(PartialTest, AWholeRowHidesWhatIsBelow) {
  EXPECT_TRUE(Log().Row(1, 1).Row(2).Under(kEventTime).layers.empty());
  EXPECT_EQ(LayersOf(Log().Row(3, 1).Row(2).Row(1, 2).Under(kEventTime)),
            (std::vector<RowHandle>{0, 1}));
}

TEST(PartialTest, Release102ForgetsDeletesInPartialMode) {
  const Profile p102 = GetProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  EXPECT_EQ(Log().Flagged(4).Row(3, 1).PartialMode().Shown(p102), "1");
  EXPECT_EQ(Log().Flagged(4).Row(3).Shown(p102), "gone");
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  EXPECT_EQ(Log().Deleted(2).PartialMode().Shown(p102, &base), "gone");
  EXPECT_EQ(Log().Deleted(2).Shown(p102, &base), "base");
}

TEST(PartialTest, IgnoreDefaultsFillsFromLowerValuesToo) {
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  settings.partial_update_mode = "IGNORE_DEFAULTS";
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 1);
  for (const std::string_view name : {"hudi-1.1", "event-time", "table"}) {
    const Merged merged = Log().Row(4).Row(2).Under(GetProfile(name, settings), &base);
    EXPECT_EQ(merged.fill, Fill::kNullDefaults) << name;
    EXPECT_EQ(LayersOf(merged), (std::vector<RowHandle>{0, 1, 100})) << name;
  }
}

TEST(PartialTest, ThePileOfOneKeyIsBounded) {
  Log log;
  for (size_t i = 0; i < kLayersMax + 10; ++i) log.Row(3, 1);
  const Merged merged = log.Under(kEventTime);
  EXPECT_TRUE(merged.is_cut);
  EXPECT_EQ(merged.layers.size(), kLayersMax);
}

}  // namespace
}  // namespace tidemark::merge
