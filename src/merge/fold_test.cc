#include "merge/fold.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// --- Dedup inside a batch ----------------------------------------------------------------------

TEST(DedupTest, TheHighestValueIsLeftAndTheLaterOfEqualOnes) {
  const auto left = DedupBatch(Hudi014().dedup, Log().Row(1).Row(3).Row(3).Row(2).versions());
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->row, 2u);
}

TEST(DedupTest, StringsAndNegativeDecimalsCompareRightHere) {
  // The first stage of the incident is not this one: all values of a batch have one class.
  EXPECT_EQ(DedupBatch(Hudi014().dedup, Log(ColumnType::kString).Row(3).Flagged(2).versions())->row,
            0u);
  EXPECT_EQ(
      DedupBatch(Hudi014().dedup, Log(ColumnType::kDecimalFixed).Row(3).Flagged(2).versions())->row,
      0u);
}

TEST(DedupTest, APayloadWithoutBytesLosesToWhateverComesAfterIt) {
  EXPECT_EQ(DedupBatch(Hudi014().dedup, Log().Deleted(4).Row(1).versions())->row, 1u);
  EXPECT_EQ(DedupBatch(Hudi014().dedup, Log().Row(3).Deleted(2).versions())->row, 0u);
}

TEST(DedupTest, WritersUpTo015RefuseNullOrdering) {
  EXPECT_FALSE(DedupBatch(Hudi014().dedup, Log().NullRow().versions()).has_value());
  EXPECT_TRUE(DedupBatch(Hudi11().dedup, Log().NullRow().versions()).has_value());
}

TEST(DedupTest, NothingLeavesNothing) {
  EXPECT_FALSE(DedupBatch(Hudi11().dedup, {}).has_value());
}

TEST(DedupTest, ADeleteThatWonInFlinksBufferOf11HasLostItsValue) {
  const auto left = DedupBatch(Hudi11().dedup, Log().Row(1).Flagged(4).versions());
  ASSERT_TRUE(left.has_value());
  EXPECT_TRUE(left->ordering.is_sentinel());
  EXPECT_EQ(DedupBatch(Hudi11().dedup, Log().Row(1).Flagged(4).Row(3).versions())->row, 2u);
  EXPECT_EQ(DedupBatch(Hudi11().dedup, Log().Flagged(4).Row(1).Row(3).versions())->row, 0u);
}

// --- Log merge ---------------------------------------------------------------------------------

TEST(LogMergeTest, TheIncidentInOneKey) {
  // Insert in December, then a delete of October: 0.14 does not compare String with Utf8.
  const Log log = Log(ColumnType::kString).Row(3).Deleted(2);
  EXPECT_EQ(log.Shown(kEventTime), "0");
  EXPECT_EQ(log.Shown(Hudi014()), "gone");
  EXPECT_EQ(log.Under(Hudi014()).reason, Reason::kDeleteClass);
  EXPECT_EQ(log.Shown(Hudi11()), "0");
}

TEST(LogMergeTest, NegativeDecimalsSortAboveInTheBytesOf014) {
  OrderingArena arena;
  const OrderingColumn column{ColumnType::kDecimalFixed, 6};
  const auto decimal = [&](std::string_view bytes) {
    return *OrderingValue::OfBytes(column, bytes);
  };
  Version plus;
  plus.ordering = decimal(std::string_view("\0\7", 2));
  plus.row = 0;
  Version minus;
  minus.ordering = decimal(std::string_view("\xff\xf9", 2));
  minus.row = 1;
  const Version log[] = {plus, minus};
  EXPECT_EQ(MergeSlice(kEventTime.read, nullptr, log).winner.row, 0u);
  const Merged merged = MergeSlice(Hudi014().read, nullptr, log);
  EXPECT_EQ(merged.winner.row, 1u);
  EXPECT_EQ(merged.reason, Reason::kComparedAsBytes);
  EXPECT_EQ(MergeSlice(Hudi11().read, nullptr, log).winner.row, 0u);
}

TEST(LogMergeTest, ADeleteWithoutValueThenARealOneIsForgottenBy11) {
  // hudi-merge 3.2 (a): ts 9 is lost, so 5 is shown.
  const Log log = Log().DeletedByAll().Deleted(8).Row(5);
  EXPECT_EQ(log.Shown(Hudi11()), "2");
  EXPECT_EQ(log.Shown(kEventTime), "gone");
}

TEST(LogMergeTest, NullOrderingFailsWhereItMeetsAnotherClass) {
  EXPECT_EQ(Log().NullRow().Row(3).Shown(Hudi11()), "fails");
  EXPECT_EQ(Log().NullRow().Row(3).Under(Hudi11()).reason, Reason::kFailsOnNull);
  EXPECT_EQ(Log(ColumnType::kInt).NullRow().Row(3).Shown(Hudi11()), "1");
  EXPECT_EQ(Log().NullRow().Shown(Hudi014()), "fails");
  EXPECT_EQ(Log().NullRow().Row(3).Shown(kEventTime), "1");
  EXPECT_EQ(Log().NullRow().NullRow().Shown(kEventTime), "1");
}

TEST(LogMergeTest, DecimalsBreak102AndDatesOf014Break11) {
  const Profile p102 = GetProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  EXPECT_EQ(Log(ColumnType::kDecimalFixed).Deleted(2).Row(3).Shown(p102), "fails");
  EXPECT_EQ(Log(ColumnType::kDecimalFixed).Row(3).Deleted(2).Shown(p102), "gone");
  EXPECT_EQ(Log(ColumnType::kDate).Deleted(2).Row(3).Shown(Hudi11()), "fails");
}

TEST(LogMergeTest, ADeleteOfTheNullBranchBreaks014And102) {
  const auto null = OrderingValue::NoneDeleted({ColumnType::kLong, 0});
  EXPECT_EQ(Log().Row(1).Deleted(null).Shown(Hudi014()), "fails");
  EXPECT_EQ(Log().Row(1).Deleted(null).Shown(kEventTime), "gone");
}

TEST(LogMergeTest, Release010NeverComparesADelete) {
  const Profile p010 = GetProfile("hudi-0.10", EventTimeSettings());
  EXPECT_EQ(Log().Row(3).Deleted(2).Shown(p010), "gone");
  EXPECT_EQ(Log().Row(3).Deleted(2).Row(1).Shown(p010), "2");
  EXPECT_EQ(Log().Row(3).Row(1).Shown(p010), "0");
}

TEST(LogMergeTest, Release100ReadsTheNewestFileFirst) {
  const Profile p100 = GetProfile("hudi-1.0.0", EventTimeSettings(Payload::kNone, 8));
  // Ties between files go to the newer for data, and to the older for a delete.
  EXPECT_EQ(Log().Row(3).Row(3).Shown(p100), "1");
  EXPECT_EQ(Log().Deleted(3).Row(3).Shown(p100), "gone");
  EXPECT_EQ(Log().Deleted(3).Row(3).Under(p100).reason, Reason::kOlderDelete);
  // Inside a file the first of equal records stays.
  EXPECT_EQ(Log().Row(3).Row(3).SameFlush().Shown(p100), "0");
  // Insert, SQL delete, insert again: the delete wins (HUDI-9169).
  EXPECT_EQ(Log().Row(1).DeletedByAll().Row(3).Shown(p100), "gone");
  EXPECT_EQ(Log().Row(1).DeletedByAll().Row(3).Shown(Hudi11()), "2");
  // A string delete is never compared, even when it is the older one.
  EXPECT_EQ(Log(ColumnType::kString).Deleted(2).Row(3).Shown(p100), "gone");
  EXPECT_EQ(Log().Row(3).Row(1).Deleted(2).Shown(p100), "0");
  const TableSettings commit_time = [] {
    TableSettings settings = EventTimeSettings(Payload::kNone, 8);
    settings.mode = MergeMode::kCommitTime;
    return settings;
  }();
  EXPECT_EQ(Log().Row(3).Row(1).Shown(GetProfile("hudi-1.0.0", commit_time)), "1");
  EXPECT_EQ(Log().Row(3).Row(1).SameFlush().Shown(GetProfile("hudi-1.0.0", commit_time)), "0");
}

TEST(LogMergeTest, ChangelogRowsAreDeletesOnlyForSomeReaders) {
  const Log log = Log(ColumnType::kString).Row(1).Flagged(3, Op::kOperationDelete);
  const Log before = Log(ColumnType::kString).Row(1).Flagged(1, Op::kOperationBefore);
  EXPECT_EQ(log.Shown(kEventTime), "gone");
  EXPECT_EQ(log.Shown(Hudi11()), "gone");
  EXPECT_EQ(log.Shown(*MakeProfile("hudi-0.14", EventTimeSettings(), Engine::kFlink)), "gone");
  EXPECT_EQ(log.Shown(*MakeProfile("hudi-0.14", EventTimeSettings(), Engine::kSpark)), "1");
  EXPECT_EQ(before.Shown(*MakeProfile("hudi-0.14", EventTimeSettings(), Engine::kFlink)), "1");
  EXPECT_EQ(before.Shown(Hudi11()), "gone");
}

// --- Base merge --------------------------------------------------------------------------------

TEST(BaseMergeTest, ALogDeleteGoesOverTheBaseRowIn014) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  EXPECT_EQ(Log().Deleted(2).Shown(Hudi014(), &base), "gone");
  EXPECT_EQ(Log().Deleted(2).Under(Hudi014(), &base).reason, Reason::kDeleteBeatsBase);
  EXPECT_EQ(Log().Deleted(2).Shown(Hudi11(), &base), "base");
  EXPECT_EQ(Log().Deleted(2).Shown(kEventTime, &base), "base");
  EXPECT_EQ(Log().Deleted(3).Shown(kEventTime, &base), "gone");
}

TEST(BaseMergeTest, AfterADeleteWithoutValueTheBaseRowIsGoneForGood) {
  // SQL DELETE, then an upsert older than the base row: releases bring the base row back.
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 5);
  const Log log = Log().DeletedByAll().Row(2);
  EXPECT_EQ(log.Shown(kEventTime, &base), "1");
  EXPECT_EQ(log.Shown(Hudi11(), &base), "base");
  EXPECT_EQ(log.Shown(Hudi014(), &base), "base");
  EXPECT_EQ(Log().DeletedByAll().Shown(Hudi11(), &base), "gone");
}

TEST(BaseMergeTest, FlaggedRowsAreComparedByTheDefaultPayloadOnly) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  EXPECT_EQ(Log().Flagged(2).Shown(Hudi014(Payload::kDefault), &base), "base");
  EXPECT_EQ(Log().Flagged(2).Shown(Hudi014(Payload::kEventTime), &base), "gone");
  EXPECT_EQ(Log().Flagged(2).Shown(Hudi014(Payload::kOverwriteWithLatest), &base), "gone");
}

TEST(BaseMergeTest, ANullInTheBaseIsBelowInEventTimeAnd014) {
  Version base;
  base.ordering = OrderingValue::Null({ColumnType::kLong, 0});
  base.row = 100;
  EXPECT_EQ(Log().Row(1).Shown(kEventTime, &base), "0");
  EXPECT_EQ(Log().Row(1).Shown(Hudi014(), &base), "0");
  EXPECT_EQ(Log().Row(1).Shown(Hudi11(), &base), "fails");
}

TEST(BaseMergeTest, KeysWithOneSideOnly) {
  OrderingOf ordering(ColumnType::kLong);
  const Version base = BaseRow(ordering, 3);
  EXPECT_EQ(MergeSlice(Hudi11().read, &base, {}).winner.row, 100u);
  EXPECT_EQ(MergeSlice(Hudi11().read, nullptr, {}).outcome, Merged::Outcome::kAbsent);
  EXPECT_EQ(MergeBase(kEventTime.read, &base, nullptr).winner.row, 100u);
}

// --- Compaction --------------------------------------------------------------------------------

TEST(CompactionTest, ForgetsDeletesSoThatOlderDataLives) {
  for (const Profile& profile : {Hudi014(), Hudi11(), kEventTime}) {
    const Log first = Log().Deleted(4);
    const auto base = CompactSlice(profile.read, nullptr, first.versions());
    EXPECT_FALSE(base.has_value()) << profile.name;
    EXPECT_EQ(Log().Row(3).Shown(profile), "0") << profile.name;
  }
  // The older slice still knows.
  const std::vector<Version> all = Log().Deleted(4).Row(3).versions();
  EXPECT_EQ(MergeHistory(kEventTime.read, all).outcome, Merged::Outcome::kGone);
}

TEST(CompactionTest, TurnsARightAnswerOf014IntoAWrongOne) {
  const Log log = Log().Row(3).Deleted(2);
  EXPECT_EQ(log.Shown(Hudi014()), "0");  // long: compared
  const auto base = CompactSlice(Hudi014().read, nullptr, {&log.versions()[0], 1});
  ASSERT_TRUE(base.has_value());
  EXPECT_FALSE(CompactSlice(Hudi014().read, &*base, {&log.versions()[1], 1}).has_value());
}

// --- R3: what nobody can know --------------------------------------------------------------------

TEST(AmbiguousTest, DataAndDeleteOfOneFlushWithEqualValues) {
  EXPECT_TRUE(Log().Row(3).Deleted(3).SameFlush().Under(kEventTime).is_ambiguous);
  EXPECT_FALSE(Log().Row(3).Deleted(3).Under(kEventTime).is_ambiguous);
  EXPECT_FALSE(Log().Row(3).Row(3).SameFlush().Under(kEventTime).is_ambiguous);
  EXPECT_TRUE(Log().Row(3).DeletedByAll().SameFlush().Under(kEventTime).is_ambiguous);
  EXPECT_TRUE(Log().Row(3).Row(1).DeletedByAll().SameFlush().Under(kEventTime).is_ambiguous);
}

TEST(AmbiguousTest, EndsWithWhatComesLater) {
  EXPECT_FALSE(Log().Row(3).Deleted(3).SameFlush().Row(4).Under(kEventTime).is_ambiguous);
  EXPECT_FALSE(Log().Row(3).Deleted(3).SameFlush().Deleted(3).Under(kEventTime).is_ambiguous);
  EXPECT_TRUE(Log().Row(3).Deleted(3).SameFlush().Row(2).Under(kEventTime).is_ambiguous);
  EXPECT_FALSE(Log().Row(3).DeletedByAll().SameFlush().Row(1).Under(kEventTime).is_ambiguous);
}

// --- Types that changed on the way ---------------------------------------------------------------

TEST(EvolutionTest, TypesWithoutAnOrderCountByArrivalAndAreTold) {
  Version number;
  number.ordering = OrderingValue::OfInteger({ColumnType::kLong, 0}, 5);
  number.row = 0;
  Version text;
  text.ordering = *OrderingValue::OfBytes({ColumnType::kString, 0}, "4");
  text.row = 1;
  const Version log[] = {number, text};
  const Merged merged = MergeSlice(kEventTime.read, nullptr, log);
  EXPECT_TRUE(merged.is_incomparable);
  EXPECT_EQ(merged.winner.row, 1u);
  EXPECT_EQ(MergeSlice(Hudi11().read, nullptr, log).outcome, Merged::Outcome::kReaderFails);
}

TEST(EvolutionTest, ADeleteOfTheNarrowerTypeIsComparedByValueOnly) {
  // int widened to long: IntWrapper against Long.
  OrderingOf ordering(ColumnType::kLong);
  Version row;
  row.ordering = OrderingValue::OfInteger({ColumnType::kLong, 0}, 5);
  Version deleted;
  deleted.op = Op::kDelete;
  deleted.ordering = OrderingValue::DeletedInteger(DeleteBranch::kInt, 4, {ColumnType::kLong, 0});
  const Version log[] = {row, deleted};
  EXPECT_TRUE(MergeSlice(kEventTime.read, nullptr, log).is_live());
  EXPECT_FALSE(MergeSlice(Hudi014().read, nullptr, log).is_live());
}

}  // namespace
}  // namespace tidemark::merge
