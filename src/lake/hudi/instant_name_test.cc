#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time_text.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {
namespace {

struct NameCase {
  std::string name;
  InstantFileName meaning;
};

InstantFileName Pending(std::string requested, Action action, std::string word, State state) {
  return {std::move(requested), std::nullopt, action, std::move(word), state};
}
InstantFileName Done(std::string requested, Action action, std::string word) {
  return {std::move(requested), std::nullopt, action, std::move(word), State::kCompleted};
}
InstantFileName DoneAt(std::string requested, std::string completed, Action action,
                       std::string word) {
  return {std::move(requested), std::move(completed), action, std::move(word), State::kCompleted};
}

const std::string kT = "20240101120000123";
const std::string kC = "20240101120031456";

const std::vector<std::pair<Action, std::string>> kAllActions = {
    {Action::kCommit, "commit"},
    {Action::kDeltaCommit, "deltacommit"},
    {Action::kReplaceCommit, "replacecommit"},
    {Action::kClustering, "clustering"},
    {Action::kCompaction, "compaction"},
    {Action::kLogCompaction, "logcompaction"},
    {Action::kClean, "clean"},
    {Action::kRollback, "rollback"},
    {Action::kRestore, "restore"},
    {Action::kSavepoint, "savepoint"},
    {Action::kIndexing, "indexing"},
    {Action::kSchemaCommit, "schemacommit"},
};

TEST(InstantNameTest, EveryActionIsKnownInEveryStateOfBothLayouts) {
  for (const auto& [action, word] : kAllActions) {
    SCOPED_TRACE(word);
    EXPECT_EQ(ActionName(action), word);
    EXPECT_EQ(ParseAction(word), action);
    EXPECT_EQ(ParseInstantFileName(kT + "." + word + ".requested"),
              Pending(kT, action, word, State::kRequested));
    EXPECT_EQ(ParseInstantFileName(kT + "." + word + ".inflight"),
              Pending(kT, action, word, State::kInflight));
    EXPECT_EQ(ParseInstantFileName(kT + "." + word), Done(kT, action, word));
    EXPECT_EQ(ParseInstantFileName(kT + "_" + kC + "." + word), DoneAt(kT, kC, action, word));
  }
}

TEST(InstantNameTest, UnusualNamesMeanWhatHudiTakesThemFor) {
  const NameCase cases[] = {
      {kT + ".inflight", Pending(kT, Action::kCommit, "commit", State::kInflight)},
      {"20190417123456.commit", Done("20190417123456", Action::kCommit, "commit")},
      {"0.commit", Done("0", Action::kCommit, "commit")},
      {"00000000000000.commit", Done("00000000000000", Action::kCommit, "commit")},
      {"00000000000000002.deltacommit",
       Done("00000000000000002", Action::kDeltaCommit, "deltacommit")},
      {kT + "001.deltacommit", Done(kT + "001", Action::kDeltaCommit, "deltacommit")},
      {kT + ".vacuum", Done(kT, Action::kUnknown, "vacuum")},
      {kT + "_" + kC + ".vacuum", DoneAt(kT, kC, Action::kUnknown, "vacuum")},
      {kT + ".vacuum.requested", Pending(kT, Action::kUnknown, "vacuum", State::kRequested)},
  };
  for (const NameCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ParseInstantFileName(c.name), c.meaning);
  }
}

TEST(InstantNameTest, WhatIsNoInstantIsRefused) {
  const std::string names[] = {
      "",
      ".",
      "hoodie.properties",
      "hoodie.properties.backup",
      "." + kT + ".commit.crc",
      kT + ".commit.crc",
      kT + ".commit.requested.crc",
      kT + ".commit.bak",
      kT + ".commit.",
      kT + ".",
      kT + "..commit",
      kT,
      kT + "_.commit",
      "_" + kC + ".commit",
      kT + "_" + kC + "_" + kC + ".commit",
      kT + "_" + kC + ".commit.requested",
      kT + "_" + kC + ".inflight",
      kT + ".requested",
      kT + ".tmp",
      kT + ".Commit",
      kT + ".COMMIT",
      kT + "-1.commit",
      " " + kT + ".commit",
      kT + " .commit",
      "2024-01-01.commit",
      "commit",
      "12345.vacuum",
      kT + ".vac uum",
      kT + ".commit.inflight.requested",
      "archived",
      std::string(300, '1') + ".commit",
  };
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(ParseInstantFileName(name), std::nullopt);
  }
}

TEST(InstantNameTest, EveryTruncationAndByteFlipOfANameIsDecidedWithoutCrash) {
  const std::string name = kT + "_" + kC + ".replacecommit";
  for (size_t size = 0; size < name.size(); ++size) {
    const auto parsed = ParseInstantFileName(name.substr(0, size));
    // What is left is a shorter word, never the action it was cut from.
    if (parsed) {
      EXPECT_EQ(parsed->action, Action::kUnknown) << size;
    }
  }
  for (size_t i = 0; i < name.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = name;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_NE(ParseInstantFileName(flipped), ParseInstantFileName(name)) << flipped;
    }
  }
}

TEST(InstantNameTest, PendingActionsCompareAsTheOneTheyCompleteAs) {
  EXPECT_EQ(ComparableAction(Action::kCompaction), Action::kCommit);
  EXPECT_EQ(ComparableAction(Action::kLogCompaction), Action::kDeltaCommit);
  EXPECT_EQ(ComparableAction(Action::kClustering), Action::kReplaceCommit);
  EXPECT_EQ(ComparableAction(Action::kClean), Action::kClean);
  EXPECT_EQ(ComparableAction(Action::kUnknown), Action::kUnknown);
}

TEST(InstantTimeTest, InstantsNameAMomentWhenReadAsUtc) {
  const std::pair<std::string, std::string> cases[] = {
      {"20240101120000123", "2024-01-01T12:00:00.123Z"},
      {"20240101120000", "2024-01-01T12:00:00.999Z"},
      {"20240101120000123001", "2024-01-01T12:00:00.123Z"},
      {"20240229235959999", "2024-02-29T23:59:59.999Z"},
  };
  for (const auto& [instant, moment] : cases) {
    SCOPED_TRACE(instant);
    const auto time = InstantToWallTime(instant);
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(FormatRfc3339(*time), moment);
  }
}

TEST(InstantTimeTest, SpecialAndImpossibleInstantsNameNoMoment) {
  for (const std::string instant :
       {"", "0", "00000000000000", "00000000000001", "00000000000000004", "20240230120000123",
        "20230229120000", "20240101240000000", "2024010112000012", "2024010112000a123",
        "99999999999999999"}) {
    SCOPED_TRACE(instant);
    EXPECT_EQ(InstantToWallTime(instant), std::nullopt);
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
