// What must hold for any versions whatever, under every profile.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <vector>

#include "merge/java_order.h"
#include "merge/judge.h"
#include "merge/profile.h"

namespace tidemark::merge {
namespace {

constexpr std::array kReleases = {Release::k0_10, Release::k0_14, Release::k1_0_0, Release::k1_0_2,
                                  Release::k1_1};

/// Values of every kind, of rows and of deletes, with the edges of each. Static bytes.
std::vector<OrderingValue> AllKinds() {
  using C = ColumnType;
  using B = DeleteBranch;
  std::vector<OrderingValue> values;
  for (const int64_t number : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1000},
                               int64_t{1'764'664'208'453}, INT64_MAX}) {
    for (const C type : {C::kLong, C::kDate, C::kTimeMillis, C::kTimestampMillis,
                         C::kTimestampMicros, C::kTimestampNanos}) {
      values.push_back(OrderingValue::OfInteger({type, 0}, number));
      values.push_back(OrderingValue::DeletedInteger(B::kLong, number, {type, 0}));
      values.push_back(OrderingValue::DeletedInteger(B::kInt, number, {type, 0}));
      values.push_back(OrderingValue::DeletedInteger(B::kTimestampMicros, number, {type, 0}));
    }
  }
  for (const double number : {-1e300, -0.0, 0.0, 1.5, 9.3e18, 1.0 / 0.0, 0.0 / 0.0}) {
    values.push_back(OrderingValue::OfReal({C::kDouble, 0}, number));
    values.push_back(OrderingValue::DeletedReal(B::kFloat, number, {C::kFloat, 0}));
  }
  for (const std::string_view bytes :
       {"\x01", "\x80", "\xff\xff", "a\xef\xbd\x81", "a\xf0\x9f\x98\x80", "00000.23"}) {
    for (const C type : {C::kString, C::kBytes, C::kFixed, C::kDecimalFixed, C::kDecimalBytes}) {
      values.push_back(*OrderingValue::OfBytes({type, 6}, bytes));
    }
    values.push_back(*OrderingValue::DeletedBytes(B::kString, bytes, {C::kString, 0}));
    values.push_back(*OrderingValue::DeletedBytes(B::kDecimal, bytes, {C::kDecimalFixed, 6}));
    values.push_back(values[values.size() - 2].WithClass(JavaClass::kUtf8));
  }
  values.push_back(OrderingValue());
  values.push_back(OrderingValue::Null({C::kLong, 0}));
  values.push_back(OrderingValue::NoneDeleted({C::kString, 0}));
  static const std::vector<OrderingValue> kItems = {values[0], values[50], values.back()};
  values.push_back(OrderingValue::Array(kItems));
  values.push_back(OrderingValue::Array(std::span(kItems).first(1)));
  values.push_back(OrderingValue::Array({}));
  return values;
}

const std::vector<OrderingValue>& Values() {
  static const std::vector<OrderingValue> kValues = AllKinds();
  return kValues;
}

std::partial_ordering Reversed(std::partial_ordering order) {
  return 0 <=> order;
}

TEST(OrderingPropertyTest, ComparisonsAreAntisymmetric) {
  for (const auto& a : Values()) {
    for (const auto& b : Values()) {
      ASSERT_EQ(CompareByValue(a, b), Reversed(CompareByValue(b, a)))
          << OrderingText(a) << " " << OrderingText(b);
      for (const Release release : kReleases) {
        const auto x = BufferedJava(release, a);
        const auto y = BufferedJava(release, b);
        if (!x || !y) continue;
        ASSERT_EQ(CompareInJava(*x, *y), Reversed(CompareInJava(*y, *x)))
            << OrderingText(a) << " " << OrderingText(b);
      }
    }
  }
}

TEST(OrderingPropertyTest, ByValueIsTransitive) {
  for (const auto& a : Values()) {
    for (const auto& b : Values()) {
      if (!(CompareByValue(a, b) < 0)) continue;
      for (const auto& c : Values()) {
        if (!(CompareByValue(b, c) < 0)) continue;
        const auto order = CompareByValue(a, c);
        ASSERT_TRUE(order < 0 || order == std::partial_ordering::unordered)
            << OrderingText(a) << " " << OrderingText(b) << " " << OrderingText(c);
      }
    }
  }
}

TEST(OrderingPropertyTest, WhatComparesEqualIsEqualToItself) {
  for (const auto& value : Values()) {
    const auto order = CompareByValue(value, value);
    if (value.is_sentinel()) continue;
    EXPECT_EQ(order, std::partial_ordering::equivalent) << OrderingText(value);
    EXPECT_FALSE(OrderingTypeText(value).empty());
  }
}

std::vector<Profile> EveryProfile() {
  std::vector<Profile> profiles;
  for (int payload = 0; payload <= static_cast<int>(Payload::kAwsDms); ++payload) {
    for (const int version : {6, 9}) {
      for (const std::string_view name : ProfileNames()) {
        TableSettings settings;
        settings.version = version;
        settings.payload = static_cast<Payload>(payload);
        settings.payload_class = PayloadName(settings.payload);
        settings.ordering_fields = {"ts"};
        if (version == 9) {
          settings.mode = payload % 2 == 0 ? MergeMode::kEventTime : MergeMode::kCommitTime;
          settings.partial_update_mode = payload % 3 == 0 ? "" : "IGNORE_DEFAULTS";
        }
        for (const Engine engine : {Engine::kFlink, Engine::kSpark}) {
          if (auto profile = MakeProfile(name, settings, engine)) profiles.push_back(*profile);
        }
      }
    }
  }
  return profiles;
}

std::vector<Version> AnyVersions() {
  std::vector<Version> versions;
  const int count = *rc::gen::inRange(0, 10);
  uint32_t flush = 1;
  for (int i = 0; i < count; ++i) {
    Version version;
    version.ordering = *rc::gen::elementOf(Values());
    version.op = *rc::gen::element(Op::kUpsert, Op::kUpsert, Op::kDelete, Op::kDeletedRow,
                                   Op::kOperationDelete, Op::kOperationBefore);
    if (*rc::gen::inRange(0, 3) == 0) ++flush;
    version.place = {flush, flush, version.op == Op::kDelete, static_cast<uint32_t>(i)};
    version.row = static_cast<RowHandle>(i);
    version.columns = *rc::gen::element(0u, 0u, 0u, 1u, 2u);
    version.is_partial_mode = *rc::gen::element(true, false);
    versions.push_back(version);
  }
  return versions;
}

RC_GTEST_PROP(ProfileProperty, AnyVersionsEndInAnAnswerThatCanBeExplained, ()) {
  static const std::vector<Profile> kProfiles = EveryProfile();
  const std::vector<Version> log = AnyVersions();
  const std::vector<Version> before = AnyVersions();
  std::vector<SliceVersions> older(2);
  older[0].log = before;
  older[1].base_writer = *rc::gen::element(BaseWriter::kCompaction, BaseWriter::kWrite);
  KeyVersions key;
  key.older = older;
  key.slice.log = log;
  key.slice.base_writer = *rc::gen::element(BaseWriter::kCompaction, BaseWriter::kWrite);
  key.slice.base_commit = 5;
  if (!before.empty() && before.back().op == Op::kUpsert) {
    key.slice.base = before.back();
    key.slice.base->place.file = 0;
  }
  const Profile event_time = *MakeProfile("event-time", {});
  for (const Profile& profile : kProfiles) {
    const Version* base = key.slice.base ? &*key.slice.base : nullptr;
    const Merged shown = MergeSlice(profile, key.slice);
    RC_ASSERT(shown.layers.empty() || shown.is_live());
    const auto finding = ExplainDifference(event_time, profile, key);
    const Merged right = MergeKey(event_time, key);
    if (right.layers.empty() && shown.layers.empty()) {
      const auto kind = CompareResults(right, shown);
      RC_ASSERT(finding.has_value() == kind.has_value());
      if (kind) RC_ASSERT(finding->kind == *kind);
    }
    if (finding) {
      RC_ASSERT(!finding->explanation.empty());
      RC_ASSERT(!finding->evidence.empty());
    }
    if (profile.read.scan != ScanOrder::kOldestFirst) continue;
    KeyState state;
    for (const Version& version : log) FoldLog(profile.read, state, version);
    bool is_partial_mode = false;
    for (const Version& version : log) is_partial_mode |= version.is_partial_mode;
    const Merged folded =
        MergeBase(profile.read, base, log.empty() ? nullptr : &state, is_partial_mode);
    RC_ASSERT(folded.outcome == shown.outcome);
    RC_ASSERT(folded.winner.row == shown.winner.row);
  }
  std::vector<MergeFinding> findings;
  const KeyJudge judge(event_time, {kProfiles.back(), kProfiles[kProfiles.size() / 2]});
  const Merged right = judge.Judge(key, findings);
  RC_ASSERT(right.winner.row == MergeKey(event_time, key).winner.row);
  for (const MergeFinding& finding : findings) {
    RC_ASSERT(!finding.explanation.empty());
    RC_ASSERT(!finding.evidence.empty());
    RC_ASSERT(finding.evidence.size() <= kEvidenceMax + 1);
  }
}

}  // namespace
}  // namespace tidemark::merge
