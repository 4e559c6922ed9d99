// Tables of facts: versions of a key, and every finding they must give.
#include "merge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/merge_events.h"
#include "support/merge_log.h"

namespace tidemark::merge {
namespace {

using support::Events;
using support::EventTimeSettings;
using support::GetProfile;
using testing::HasSubstr;
using testing::IsEmpty;

/// "before | log": the log of a slice, a compaction by 0.14, and the log of the slice that is read;
/// events in "[ ]" came in one append flush. "base: U3 | D2" starts from a base row.
class Story {
 public:
  Story(std::string_view text, ColumnType type) : events_(type) {
    const size_t bar = text.find('|');
    std::string_view last = text;
    if (bar != std::string_view::npos) {
      past_ = Log(text.substr(0, bar));
      last = text.substr(bar + 1);
      Compact();
    }
    log_ = Log(last);
    slice_.log = log_;
  }
  Story(const Story&) = delete;  // its slices view its versions

  KeyVersions key() const { return {slice_, older_}; }
  std::string NameOf(const Version& version) const { return events_.NameOf(version); }

 private:
  std::vector<Version> Log(std::string_view text) {
    std::vector<Version> log;
    bool is_in_flush = false;
    for (std::string name : support::SplitEvents(text)) {
      const bool begins = name.starts_with('[');
      const bool ends = name.ends_with(']');
      if (begins) name.erase(0, 1);
      if (ends) name.pop_back();
      if (!is_in_flush) ++commit_;
      is_in_flush = (is_in_flush || begins) && !ends;
      log.push_back(Record(name));
      Place& place = log.back().place;
      place = {commit_, commit_, log.back().op == Op::kDelete, static_cast<uint32_t>(log.size())};
    }
    return log;
  }
  /// "D2" and "U3", or with a mark in front: "!" of a delete operation, "-" and "~" a record of
  /// operation -D and -U in changelog mode, "?" a row with the unavailable value.
  Version Record(const std::string& name) {
    const std::string marks = "!-~?";
    const size_t mark = marks.find(name[0]);
    Version version = events_.Of(mark == std::string::npos ? name : name.substr(1), commit_);
    version.writer = WriterOperation::kUpsert;
    if (mark == 0) version.writer = WriterOperation::kDelete;
    if (mark == 1) version.op = Op::kOperationDelete;
    if (mark == 2) version.op = Op::kOperationBefore;
    version.has_unavailable = mark == 3;
    return version;
  }
  void Compact() {
    SliceVersions before;
    before.log = past_;
    older_ = {before};
    slice_.base_writer = BaseWriter::kCompaction;
    slice_.base_commit = ++commit_;
    slice_.base = CompactSlice(support::Hudi014().read, nullptr, past_);
    if (slice_.base) slice_.base->place = {slice_.base->place.commit, 0, 0, 0};
  }

  Events events_;
  uint32_t commit_ = 0;
  std::vector<Version> past_;
  std::vector<Version> log_;
  std::vector<SliceVersions> older_;
  SliceVersions slice_;
};

/// "lost_row hudi-0.14: U3 D2" for each finding: kind, profile and evidence by name.
std::vector<std::string> Told(const Story& story, const std::vector<MergeFinding>& findings) {
  std::vector<std::string> told;
  for (const MergeFinding& finding : findings) {
    std::string text(FindingKindName(finding.kind));
    if (!finding.profile.empty()) text += " " + finding.profile;
    text += ":";
    for (const Version& version : finding.evidence) text += " " + story.NameOf(version);
    told.push_back(text);
  }
  return told;
}

struct Fact {
  std::string_view story;
  ColumnType type;
  std::string_view right;
  std::vector<std::string> findings;
};

const Fact kFacts[] = {
    {"I1 U3", ColumnType::kString, "U3", {}},
    {"U3 I1", ColumnType::kString, "U3", {}},
    {"I1 U3 D4", ColumnType::kString, "gone", {}},
    // The incident: the delete is older and only its class makes it win.
    {"U3 D2",
     ColumnType::kString,
     "U3",
     {"lost_row hudi-0.14: U3 D2", "lost_row hudi-1.0.2: U3 D2", "stale_delete: U3 D2",
      "class_mismatch hudi-0.14: U3 D2", "class_mismatch hudi-1.0.2: U3 D2"}},
    {"U3 D2", ColumnType::kLong, "U3", {"stale_delete: U3 D2"}},
    {"U3 D2 I1",
     ColumnType::kString,
     "U3",
     {"stale_row hudi-0.14: U3 D2 I1", "lost_row hudi-1.0.2: U3 D2", "stale_delete: U3 D2",
      "class_mismatch hudi-0.14: U3 D2", "class_mismatch hudi-1.0.2: U3 D2"}},
    // Late data after a delete.
    {"D4 U3",
     ColumnType::kLong,
     "gone",
     {"resurrected_row hudi-0.14: D4 U3", "resurrect_candidate: D4 U3"}},
    {"D4 U3 I1",
     ColumnType::kLong,
     "gone",
     {"resurrected_row hudi-0.14: D4 U3", "resurrect_candidate: D4 U3 I1"}},
    // A past compaction by 0.14.
    {"U3 D2 |",
     ColumnType::kString,
     "U3",
     {"lost_row hudi-0.14: U3 D2", "lost_row hudi-1.0.2: U3 D2", "lost_row hudi-1.1: U3 D2",
      "stale_delete: U3 D2", "class_mismatch hudi-0.14: U3 D2",
      "class_mismatch hudi-1.0.2: U3 D2"}},
    {"D4 | U3",
     ColumnType::kLong,
     "gone",
     {"resurrected_row hudi-0.14: D4 U3", "resurrected_row hudi-1.0.2: D4 U3",
      "resurrected_row hudi-1.1: D4 U3", "resurrect_candidate: D4 U3"}},
    {"D4 U3 |",
     ColumnType::kLong,
     "gone",
     {"resurrected_row hudi-0.14: D4 U3", "resurrected_row hudi-1.0.2: D4 U3",
      "resurrected_row hudi-1.1: D4 U3", "resurrect_candidate: D4 U3"}},
    {"U3 | D2", ColumnType::kLong, "U3", {"lost_row hudi-0.14: U3 D2", "stale_delete: U3 D2"}},
    {"I1 | U3", ColumnType::kLong, "U3", {}},
    // … that newer versions have healed.
    {"U3 D2 | U4",
     ColumnType::kString,
     "U4",
     {"past_compaction: U3 D2", "stale_delete: U4 D2", "class_mismatch hudi-0.14: U4 D2",
      "class_mismatch hudi-1.0.2: U4 D2"}},
    {"D4 U3 | U5", ColumnType::kLong, "U5", {"past_compaction: D4 U3", "stale_delete: U5 D4"}},
    // Deletes without value: asked for, or a writer's defect.
    {"U3 !D∅", ColumnType::kLong, "gone", {"sentinel_delete: D∅"}},
    {"U3 D∅", ColumnType::kLong, "gone", {"sentinel_delete: D∅"}},
    {"U3 | !D∅ I1",
     ColumnType::kLong,
     "I1",
     {"stale_row hudi-0.14: I1 U3", "reader_fails hudi-1.0.2: I1", "stale_row hudi-1.1: I1 U3",
      "sentinel_delete: D∅"}},
    // Nobody can know.
    {"[U3 D3]", ColumnType::kLong, "gone", {"ambiguous_tie: D3"}},
    {"U3 D3", ColumnType::kLong, "gone", {}},
    // Changelog mode.
    {"I1 -U3",
     ColumnType::kString,
     "gone",
     {"leaked_operation hudi-0.14/spark: U3", "leaked_operation hudi-1.0.2: U3"}},
    {"I1 ~U3 U4", ColumnType::kString, "U4", {"stale_delete: U4 U3"}},
    {"U4 ~U5",
     ColumnType::kString,
     "gone",
     {"leaked_operation hudi-0.14: U5", "leaked_operation hudi-0.14/spark: U5",
      "leaked_operation hudi-1.0.2: U5"}},
    // A value that was not sent.
    {"I1 ?U3", ColumnType::kLong, "U3", {"unavailable_value: U3"}},
    {"?I1 U3", ColumnType::kLong, "U3", {}},
};

TEST(KeyJudgeTest, TellsEveryFactOnce) {
  Profile p014 = support::Hudi014();
  Profile spark = *MakeProfile("hudi-0.14", EventTimeSettings(), Engine::kSpark);
  spark.name = "hudi-0.14/spark";
  Profile p102 = *MakeProfile("hudi-1.0.2", EventTimeSettings(Payload::kNone, 8), Engine::kSpark);
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(fact.story);
    const bool is_changelog = fact.story.find_first_of("-~") != std::string_view::npos;
    const KeyJudge judge(support::EventTimeProfile(),
                         is_changelog ? std::vector{p014, spark, p102, support::Hudi11()}
                                      : std::vector{p014, p102, support::Hudi11()});
    const Story story(fact.story, fact.type);
    std::vector<MergeFinding> findings;
    const Merged right = judge.Judge(story.key(), findings);
    EXPECT_EQ(right.is_live() ? story.NameOf(right.winner) : "gone", fact.right);
    EXPECT_THAT(Told(story, findings), testing::ElementsAreArray(fact.findings));
  }
}

/// The sentence of the first finding of a kind.
std::string Sentence(std::string_view text, ColumnType type, FindingKind kind) {
  const KeyJudge judge(support::EventTimeProfile(), {support::Hudi014(), support::Hudi11()});
  const Story story(text, type);
  std::vector<MergeFinding> findings;
  judge.Judge(story.key(), findings);
  for (const MergeFinding& finding : findings) {
    if (finding.kind == kind) return finding.explanation;
  }
  return "";
}

TEST(KeyJudgeTest, SentencesNameTheRuleAtFault) {
  EXPECT_EQ(Sentence("U3 D2 |", ColumnType::kString, FindingKind::kLostRow),
            "a past compaction dropped the row at 10000 (string): the log merge of hudi-0.14 lets "
            "the delete at 1000 (StringWrapper) win because it cannot compare a String with a "
            "Utf8; the files that readers read no longer hold the right version and no compaction "
            "repairs it, older slices prove it until the cleaner removes them: write the right row "
            "again with a higher ordering value");
  EXPECT_THAT(Sentence("D4 U3 |", ColumnType::kLong, FindingKind::kResurrectedRow),
              HasSubstr("a past compaction dropped the delete at 6000 (LongWrapper): the log merge "
                        "of hudi-0.14 lets the row at 5000 (long) win because it arrived after a "
                        "delete, without comparing"));
  EXPECT_EQ(Sentence("U3 D2 | U4", ColumnType::kString, FindingKind::kPastCompaction),
            "a past compaction dropped the row at 10000 (string): the log merge of hudi-0.14 lets "
            "the delete at 1000 (StringWrapper) win because it cannot compare a String with a "
            "Utf8; newer versions have come since");
  EXPECT_EQ(Sentence("D4 U3 I1", ColumnType::kLong, FindingKind::kResurrectCandidate),
            "the row at 5000 (long) came after the delete at 6000 (LongWrapper): it is shown once "
            "a compaction has dropped the delete before it, and by readers that do not compare "
            "the two, and 1 more of the key");
  EXPECT_EQ(Sentence("I1 ?U3", ColumnType::kLong, FindingKind::kUnavailableValue),
            "the row at 5000 (long) holds Debezium's placeholder for a value it was not sent, and "
            "no older version of the key has the value");
}

TEST(KeyJudgeTest, FindingsSayWhatIsRightWhatIsShownAndWhetherItCanBeRepaired) {
  const KeyJudge judge(support::EventTimeProfile(), {support::Hudi014()});
  std::vector<MergeFinding> findings;
  const Story open("U3 D2", ColumnType::kString);
  judge.Judge(open.key(), findings);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(open.NameOf(findings[0].right.winner), "U3");
  EXPECT_EQ(findings[0].shown.outcome, Merged::Outcome::kGone);
  EXPECT_TRUE(findings[0].is_repairable);
  EXPECT_FALSE(findings[0].rests_on_history);
  EXPECT_FALSE(findings[0].past_commit.has_value());

  findings.clear();
  const Story closed("U3 D2 |", ColumnType::kString);
  judge.Judge(closed.key(), findings);
  ASSERT_FALSE(findings.empty());
  EXPECT_FALSE(findings[0].is_repairable);
  EXPECT_TRUE(findings[0].rests_on_history);
  EXPECT_EQ(findings[0].past_commit, 3u);
}

TEST(KeyJudgeTest, ThousandsOfStaleDeletesAreOneFinding) {
  std::string text = "U3";
  for (int i = 0; i < 5000; ++i) text += " D2";
  const KeyJudge judge(support::EventTimeProfile(), {support::Hudi11()});
  const Story story(text, ColumnType::kLong);
  std::vector<MergeFinding> findings;
  judge.Judge(story.key(), findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].evidence.size(), kEvidenceMax + 1);
  EXPECT_THAT(findings[0].explanation, HasSubstr(", and 4999 more of the key"));
}

TEST(KeyJudgeTest, WithoutReadersOnlyTheFilesAreJudged) {
  const KeyJudge judge(support::EventTimeProfile(), {});
  const Story story("U3 D2", ColumnType::kString);
  std::vector<MergeFinding> findings;
  EXPECT_TRUE(judge.Judge(story.key(), findings).is_live());
  EXPECT_THAT(Told(story, findings), testing::ElementsAre("stale_delete: U3 D2"));
}

TEST(KeyJudgeTest, ARowThatIsFilledFromBelowHasNoPlaceholder) {
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  settings.partial_update_mode = "FILL_UNAVAILABLE";
  const KeyJudge judge(GetProfile("event-time", settings), {support::Hudi014()});
  const Story story("I1 ?U3", ColumnType::kLong);
  std::vector<MergeFinding> findings;
  const Merged right = judge.Judge(story.key(), findings);
  EXPECT_EQ(right.layers.size(), 2u);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.back().kind, FindingKind::kUnavailableValue);
  EXPECT_EQ(findings.back().profile, "hudi-0.14");
  EXPECT_THAT(findings.back().explanation, HasSubstr("hudi-0.14 shows it as data"));
}

TEST(KeyJudgeTest, CompactedPartialRowsAreNoDifference) {
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  settings.partial_update_mode = "IGNORE_DEFAULTS";
  const KeyJudge judge(GetProfile("event-time", settings), {GetProfile("hudi-1.1", settings)});
  const Story story("I1 U3 | U4", ColumnType::kLong);
  std::vector<MergeFinding> findings;
  judge.Judge(story.key(), findings);
  EXPECT_THAT(Told(story, findings), IsEmpty());
}

}  // namespace
}  // namespace tidemark::merge
