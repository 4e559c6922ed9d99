#include "merge/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/merge_events.h"

namespace tidemark::merge {
namespace {

using support::Events;
using support::EventTimeSettings;
using support::SplitEvents;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A key whose events are told as "I1 U3 | D2 I1": what went into slices that `writer` compacted
/// one event at a time, and the log of the slice that readers read.
class Key {
 public:
  Key(std::string_view compacted, std::string_view log, const Profile& writer,
      ColumnType type = ColumnType::kString)
      : events_(type) {
    for (const std::string& name : SplitEvents(compacted)) past_.push_back(Next(name));
    SliceVersions slice;
    for (const Version& version : past_) {
      slice.log = {&version, 1};
      older_.push_back(slice);
      slice = Compacted(writer, slice);
    }
    for (const std::string& name : SplitEvents(log)) log_.push_back(Next(name));
    current_ = slice;
    current_.log = log_;
  }
  Key(const Key&) = delete;  // its slices view its versions

  KeyVersions WithHistory() const { return {current_, older_}; }
  KeyVersions SliceOnly() const { return {current_, {}}; }
  std::string NameOf(const Version& version) const {
    Version original = version;
    if (original.row >= kCopy) original.row %= kCopy;
    return events_.NameOf(original);
  }

 private:
  static constexpr RowHandle kCopy = 1000;

  Version Next(const std::string& name) { return events_.Of(name, ++count_); }
  SliceVersions Compacted(const Profile& writer, const SliceVersions& slice) {
    SliceVersions next;
    next.base_writer = BaseWriter::kCompaction;
    next.base_commit = count_ + static_cast<uint32_t>(older_.size()) * 100;
    next.base = CompactSlice(writer.read, slice.base ? &*slice.base : nullptr, slice.log);
    if (next.base) {  // a base file has its own copy
      next.base->row = next.base->row % kCopy + kCopy * older_.size();
      next.base->place = {next.base->place.commit, 0, 0, 7};
    }
    return next;
  }

  Events events_;
  uint32_t count_ = 0;
  std::vector<Version> past_;
  std::vector<Version> log_;
  std::vector<SliceVersions> older_;
  SliceVersions current_;
};

class FindingTest : public testing::Test {
 protected:
  const Profile right_ = *MakeProfile("event-time", EventTimeSettings());
  const Profile p014_ = *MakeProfile("hudi-0.14", EventTimeSettings());
  const Profile p11_ = *MakeProfile("hudi-1.1", EventTimeSettings(Payload::kNone, 9));

  std::vector<MergeFinding> Inspect(const Profile& reader, const KeyVersions& key) const {
    return InspectKey(right_, {&reader, 1}, key, MergeKey(right_, key));
  }
  static SliceVersions SliceOf(std::span<const Version> log) {
    SliceVersions slice;
    slice.log = log;
    return slice;
  }
};

TEST_F(FindingTest, ALostRowOfTheLogMerge) {
  const Key key("", "U3 D2", p014_);
  const auto finding = ExplainDifference(right_, p014_, key.SliceOnly());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kLostRow);
  EXPECT_EQ(finding->severity, Severity::kError);
  EXPECT_TRUE(finding->is_repairable);
  ASSERT_EQ(finding->evidence.size(), 2u);
  EXPECT_EQ(key.NameOf(finding->evidence[0]), "U3");
  EXPECT_EQ(key.NameOf(finding->evidence[1]), "D2");
  EXPECT_EQ(
      finding->explanation,
      "the log merge of hudi-0.14 lets the delete at 1000 (StringWrapper) win because it cannot "
      "compare a String with a Utf8; the next compaction by hudi-0.14 makes it permanent, until "
      "then an event-time compaction repairs it, or write the right row again with a higher "
      "ordering value");
  EXPECT_FALSE(ExplainDifference(right_, p11_, key.SliceOnly()).has_value());
}

TEST_F(FindingTest, ALostRowOfTheBaseMerge) {
  const Key key("U3", "D2", p014_, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, p014_, key.WithHistory());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kLostRow);
  EXPECT_THAT(
      finding->explanation,
      HasSubstr("the base merge of hudi-0.14 lets a delete in the log win over the base row"));
  EXPECT_TRUE(finding->is_repairable);
  EXPECT_FALSE(finding->rests_on_history);
}

TEST_F(FindingTest, AResurrectedRowOfTheLogMerge) {
  const Key key("", "D4 U3", p014_);
  const auto finding = ExplainDifference(right_, p014_, key.SliceOnly());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kResurrectedRow);
  EXPECT_THAT(finding->explanation, HasSubstr("it arrived after a delete, without comparing"));
  EXPECT_THAT(finding->explanation, HasSubstr("delete the key again with a higher ordering value"));
}

TEST_F(FindingTest, AResurrectedRowAfterACompactionIsProvedByTheOlderSlice) {
  const Key key("I1 D4", "U3", p11_, ColumnType::kLong);
  EXPECT_FALSE(ExplainDifference(right_, p11_, key.SliceOnly()).has_value());
  const auto finding = ExplainDifference(right_, p11_, key.WithHistory());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kResurrectedRow);
  EXPECT_TRUE(finding->rests_on_history);
  EXPECT_FALSE(finding->is_repairable);
  EXPECT_THAT(
      finding->explanation,
      HasSubstr("a past compaction dropped the delete at 6000 (LongWrapper): base files keep no "
                "deletes"));
  EXPECT_THAT(finding->explanation, HasSubstr("until the cleaner removes them"));
}

TEST_F(FindingTest, ARowLostByAPastCompaction) {
  const Key key("U3 D2", "", p014_, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, p014_, key.WithHistory());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kLostRow);
  EXPECT_TRUE(finding->rests_on_history);
  EXPECT_THAT(finding->explanation, HasSubstr("a past compaction dropped the row at 5000 (long)"));
}

TEST_F(FindingTest, AStaleRow) {
  const Key key("", "U3 D2 I1", p014_);
  const auto finding = ExplainDifference(right_, p014_, key.SliceOnly());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kStaleRow);
  EXPECT_EQ(key.NameOf(finding->evidence[0]), "U3");
  EXPECT_EQ(key.NameOf(finding->evidence[1]), "D2");
  EXPECT_EQ(key.NameOf(finding->evidence[2]), "I1");
}

TEST_F(FindingTest, ADeleteOfSqlThatIsForgottenAtTheBaseRow) {
  const Key key("U3", "D∅ I1", p11_, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, p11_, key.WithHistory());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kStaleRow);
  EXPECT_THAT(finding->explanation, HasSubstr("has forgotten the delete without ordering value"));
}

TEST_F(FindingTest, ACarriedBaseRowIsTheRecordItWasCopiedFrom) {
  const Key key("I1 U3", "D2", p11_, ColumnType::kLong);
  EXPECT_FALSE(ExplainDifference(right_, p11_, key.WithHistory()).has_value());
}

TEST_F(FindingTest, AReaderThatThrows) {
  const Key key("", "N U3", p11_, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, p11_, key.SliceOnly());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kReaderFails);
  EXPECT_THAT(finding->explanation, HasSubstr("hudi-1.1 cannot read a null ordering value"));
}

TEST_F(FindingTest, TheReaderOf100HasItsOwnWay) {
  const Profile p100 = *MakeProfile("hudi-1.0.0", EventTimeSettings(Payload::kNone, 8));
  const Key key("", "I1 D∅ U3", p100, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, p100, key.SliceOnly());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kLostRow);
  EXPECT_THAT(finding->explanation, HasSubstr("reads the newest log file first"));
}

TEST_F(FindingTest, LastArrivalNamesWhoAskedForIt) {
  const Profile overwrite =
      *MakeProfile("hudi-0.14", EventTimeSettings(Payload::kOverwriteWithLatest));
  const Key key("U3", "I1", overwrite, ColumnType::kLong);
  const auto finding = ExplainDifference(right_, overwrite, key.WithHistory());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kStaleRow);
  EXPECT_THAT(finding->explanation,
              HasSubstr("as the table's OverwriteWithLatestAvroPayload asks"));
}

TEST_F(FindingTest, EveryDifferenceOfEveryOrderIsExplained) {
  std::vector<std::string> names = {"D2", "D4", "I0", "I1", "U3"};
  const Profile p010 = *MakeProfile("hudi-0.10", EventTimeSettings());
  const Profile p102 = *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8));
  size_t explained = 0;
  do {
    std::string all;
    for (const std::string& name : names) all += name + " ";
    for (const Profile& profile : {p010, p014_, p102, p11_}) {
      for (const size_t cut : {size_t{0}, size_t{6}}) {
        const Key key(all.substr(0, cut), all.substr(cut), profile);
        const auto versions = key.WithHistory();
        const Merged right = MergeKey(right_, versions);
        const Merged shown = MergeSlice(profile, versions.slice);
        const auto kind = CompareResults(right, shown);
        const auto finding = ExplainDifference(right_, profile, versions);
        ASSERT_EQ(finding.has_value(), kind.has_value()) << all;
        if (!finding) continue;
        ++explained;
        EXPECT_EQ(finding->kind, *kind);
        EXPECT_THAT(finding->explanation, testing::Not(HasSubstr("other version"))) << all;
        EXPECT_GE(finding->evidence.size(), 2u) << all << finding->explanation;
      }
    }
  } while (std::next_permutation(names.begin(), names.end()));
  EXPECT_GT(explained, 300u);
}

std::vector<FindingKind> KindsOf(const std::vector<MergeFinding>& findings) {
  std::vector<FindingKind> kinds;
  for (const auto& finding : findings) kinds.push_back(finding.kind);
  return kinds;
}

TEST_F(FindingTest, AStaleDeleteAndItsClassMismatchAreSeenBeforeAnythingIsLost) {
  const Key key("", "U3 D2", p014_);
  EXPECT_THAT(KindsOf(Inspect(p014_, key.SliceOnly())),
              ElementsAre(FindingKind::kStaleDelete, FindingKind::kClassMismatch));
  EXPECT_THAT(KindsOf(Inspect(p11_, key.SliceOnly())), ElementsAre(FindingKind::kStaleDelete));
  const Key in_order("", "I1 U3", p014_);
  EXPECT_THAT(Inspect(p014_, in_order.SliceOnly()), IsEmpty());
}

TEST_F(FindingTest, DeletesWithoutValueAreToldByWhoWroteThem) {
  Key key("", "U3 D∅", p014_, ColumnType::kLong);
  KeyVersions versions = key.SliceOnly();
  std::vector<Version> log(versions.slice.log.begin(), versions.slice.log.end());
  log[1].writer = WriterOperation::kDelete;
  versions.slice.log = log;
  auto findings = Inspect(p014_, versions);
  ASSERT_THAT(KindsOf(findings), ElementsAre(FindingKind::kSentinelDelete));
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  log[1].writer = WriterOperation::kUpsert;
  findings = Inspect(p014_, versions);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_THAT(findings[0].explanation, HasSubstr("hoodie.combine.before.upsert=false"));
}

TEST_F(FindingTest, ARowThatMeansADeleteIsToBeDeletedAgain) {
  const Profile spark = *MakeProfile("hudi-0.14", EventTimeSettings(), Engine::kSpark);
  Key key("", "I1 U3", spark, ColumnType::kLong);
  KeyVersions versions = key.SliceOnly();
  std::vector<Version> log(versions.slice.log.begin(), versions.slice.log.end());
  log[1].op = Op::kOperationDelete;
  versions.slice.log = log;
  const auto finding = ExplainDifference(right_, spark, versions);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->kind, FindingKind::kLeakedOperation);
  EXPECT_FALSE(finding->right.is_live());
  EXPECT_THAT(finding->explanation,
              testing::EndsWith("or delete the key again with a higher ordering value"));
}

TEST_F(FindingTest, ATieInsideOneFlushIsAmbiguous) {
  Key key("", "U3 D3", p014_, ColumnType::kLong);
  KeyVersions versions = key.SliceOnly();
  std::vector<Version> log(versions.slice.log.begin(), versions.slice.log.end());
  log[1].place = {log[0].place.commit, log[0].place.file, 1, 0};
  versions.slice.log = log;
  EXPECT_THAT(KindsOf(Inspect(p014_, versions)), ElementsAre(FindingKind::kAmbiguousTie));
}

TEST_F(FindingTest, AThousandfoldIsAMatterOfUnits) {
  Version row;
  row.ordering = OrderingValue::OfInteger({ColumnType::kTimestampMicros, 0}, 1'764'664'208'453'900);
  row.place = {1, 1, 0, 0};
  Version deleted;
  deleted.op = Op::kDelete;
  deleted.place = {2, 2, 1, 0};
  deleted.ordering = OrderingValue::DeletedInteger(DeleteBranch::kLong, 1'764'664'300'000,
                                                   {ColumnType::kTimestampMicros, 0});
  const std::vector<Version> log = {row, deleted};
  const KeyVersions versions{SliceOf(log)};
  EXPECT_THAT(KindsOf(Inspect(p11_, versions)),
              ElementsAre(FindingKind::kUnitMismatch, FindingKind::kStaleDelete));
}

TEST_F(FindingTest, OrderingValuesWithoutAnOrderAreTold) {
  Version number;
  number.ordering = OrderingValue::OfInteger({ColumnType::kLong, 0}, 5);
  number.place = {1, 1, 0, 0};
  Version text;
  text.ordering = *OrderingValue::OfBytes({ColumnType::kString, 0}, "4");
  text.place = {2, 2, 0, 0};
  const std::vector<Version> log = {number, text};
  EXPECT_THAT(KindsOf(Inspect(p11_, {SliceOf(log)})), ElementsAre(FindingKind::kIncomparable));
}

TEST(FindingNameTest, AreTheWordsOfTheAudit) {
  EXPECT_EQ(FindingKindName(FindingKind::kLostRow), "lost_row");
  EXPECT_EQ(FindingKindName(FindingKind::kResurrectedRow), "resurrected_row");
  EXPECT_EQ(FindingKindName(FindingKind::kStaleRow), "stale_row");
  EXPECT_EQ(FindingKindName(FindingKind::kAmbiguousTie), "ambiguous_tie");
  EXPECT_EQ(FindingKindName(FindingKind::kClassMismatch), "class_mismatch");
  EXPECT_EQ(SeverityName(Severity::kWarning), "warning");
}

}  // namespace
}  // namespace tidemark::merge
