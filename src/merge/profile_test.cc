#include "merge/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::merge {
namespace {

using support::IsError;
using support::IsOk;
using testing::ElementsAre;
using testing::HasSubstr;

using Properties = std::map<std::string, std::string>;

const std::string kModel = "org.apache.hudi.common.model.";

TableSettings Read(const Properties& properties) {
  return *ReadTableSettings(properties);
}

// As the real tables have them; the rest of their properties says nothing about merging.
const Properties kFlink014 = {
    {"hoodie.table.version", "6"},
    {"hoodie.compaction.payload.class", kModel + "EventTimeAvroPayload"},
    {"hoodie.table.precombine.field", "ts"},
    {"hoodie.compaction.record.merger.strategy", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"},
};
const Properties kSpark014Overwrite = {
    {"hoodie.table.version", "6"},
    {"hoodie.compaction.payload.class", kModel + "OverwriteWithLatestAvroPayload"},
    {"hoodie.table.precombine.field", "ord"},
    {"hoodie.compaction.record.merger.strategy", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"},
};
const Properties kSpark102 = {
    {"hoodie.table.version", "8"},
    {"hoodie.table.precombine.field", "ord"},
    {"hoodie.record.merge.strategy.id", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"},
    {"hoodie.record.merge.mode", "EVENT_TIME_ORDERING"},
    {"hoodie.compaction.payload.class", kModel + "DefaultHoodieRecordPayload"},
};
const Properties kSpark111CommitTime = {
    {"hoodie.table.version", "9"},
    {"hoodie.record.merge.mode", "COMMIT_TIME_ORDERING"},
};
const Properties kSpark111NonDefaults = {
    {"hoodie.table.version", "9"},
    {"hoodie.table.legacy.payload.class", kModel + "OverwriteNonDefaultsWithLatestAvroPayload"},
    {"hoodie.record.merge.mode", "COMMIT_TIME_ORDERING"},
    {"hoodie.table.partial.update.mode", "IGNORE_DEFAULTS"},
    {"hoodie.table.ordering.fields", "ord"},
};
const Properties kSpark111Partial = {
    {"hoodie.table.version", "9"},
    {"hoodie.table.legacy.payload.class", kModel + "PartialUpdateAvroPayload"},
    {"hoodie.record.merge.mode", "EVENT_TIME_ORDERING"},
    {"hoodie.table.partial.update.mode", "IGNORE_DEFAULTS"},
    {"hoodie.table.ordering.fields", "o1, o2"},
};
const Properties kUpgraded = {
    {"hoodie.table.version", "9"},
    {"hoodie.table.legacy.payload.class", kModel + "DefaultHoodieRecordPayload"},
    {"hoodie.compaction.record.merger.strategy", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"},
    {"hoodie.record.merge.mode", "EVENT_TIME_ORDERING"},
    {"hoodie.table.ordering.fields", "ts"},
};
const Properties kCustom = {
    {"hoodie.table.version", "6"},
    {"hoodie.compaction.payload.class", "com.example.OurPayload"},
    {"hoodie.table.precombine.field", "ts"},
};

TEST(TableSettingsTest, AreWhatThePropertiesSay) {
  const TableSettings flink = Read(kFlink014);
  EXPECT_EQ(flink.version, 6);
  EXPECT_EQ(flink.payload, Payload::kEventTime);
  EXPECT_FALSE(flink.mode.has_value());
  EXPECT_THAT(flink.ordering_fields, ElementsAre("ts"));
  const TableSettings partial = Read(kSpark111Partial);
  EXPECT_EQ(partial.mode, MergeMode::kEventTime);
  EXPECT_EQ(partial.payload, Payload::kPartialUpdate);
  EXPECT_THAT(partial.ordering_fields, ElementsAre("o1", "o2"));
  EXPECT_EQ(partial.partial_update_mode, "IGNORE_DEFAULTS");
  EXPECT_EQ(Read(kCustom).payload, Payload::kCustom);
  EXPECT_EQ(Read({}).version, 0);
}

TEST(TableSettingsTest, PayloadsBringTheirDeleteColumns) {
  const TableSettings dms =
      Read({{"hoodie.compaction.payload.class", kModel + "AWSDmsAvroPayload"}});
  EXPECT_EQ(dms.payload, Payload::kAwsDms);
  EXPECT_EQ(dms.delete_field, "Op");
  EXPECT_EQ(dms.delete_marker, "D");
  const TableSettings mysql =
      Read({{"hoodie.compaction.payload.class", kModel + "debezium.MySqlDebeziumAvroPayload"}});
  EXPECT_EQ(mysql.payload, Payload::kMySqlDebezium);
  EXPECT_EQ(mysql.delete_field, "_change_operation_type");
  const TableSettings own =
      Read({{"hoodie.record.merge.property.hoodie.payload.delete.field", "op"},
            {"hoodie.record.merge.property.hoodie.payload.delete.marker", "x"}});
  EXPECT_EQ(own.delete_field, "op");
  EXPECT_EQ(own.delete_marker, "x");
}

TEST(TableSettingsTest, TheUnavailableValueIsThePropertyOrDebeziums) {
  EXPECT_EQ(Read({}).unavailable_value, "__debezium_unavailable_value");
  EXPECT_EQ(
      Read({{"hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value", "?"}})
          .unavailable_value,
      "?");
}

TEST(TableSettingsTest, WordsHudiDoesNotHaveAreErrors) {
  EXPECT_THAT(ReadTableSettings({{"hoodie.record.merge.mode", "NEWEST"}}),
              IsError(ErrorKind::kCorrupt, "unknown hoodie.record.merge.mode=NEWEST"));
  EXPECT_THAT(ReadTableSettings({{"hoodie.table.version", "nine"}}),
              IsError(ErrorKind::kCorrupt, "no number hoodie.table.version=nine"));
}

struct InferCase {
  const char* name;
  const Properties* properties;
  Release release;
  MergeMode mode;
  Payload payload;
  Fill fill;
};

TEST(InferMergingTest, AsEachReleaseInfers) {
  using R = Release;
  using M = MergeMode;
  using P = Payload;
  const InferCase cases[] = {
      {"0.14 asks the payload", &kFlink014, R::k0_14, M::kCustom, P::kEventTime, Fill::kNone},
      {"1.1 takes EventTime for event time", &kFlink014, R::k1_1, M::kEventTime, P::kNone,
       Fill::kNone},
      {"1.0.2 runs it as a payload", &kFlink014, R::k1_0_2, M::kCustom, P::kEventTime, Fill::kNone},
      {"the strategy of every 0.14 table says nothing", &kSpark014Overwrite, R::k1_1,
       M::kCommitTime, P::kNone, Fill::kNone},
      {"0.14 overwrite", &kSpark014Overwrite, R::k0_14, M::kCustom, P::kOverwriteWithLatest,
       Fill::kNone},
      {"version 8", &kSpark102, R::k1_0_2, M::kEventTime, P::kNone, Fill::kNone},
      {"version 8 by 1.1", &kSpark102, R::k1_1, M::kEventTime, P::kNone, Fill::kNone},
      {"commit time", &kSpark111CommitTime, R::k1_1, M::kCommitTime, P::kNone, Fill::kNone},
      {"commit time, by 0.14", &kSpark111CommitTime, R::k0_14, M::kCustom, P::kOverwriteWithLatest,
       Fill::kNone},
      {"non-defaults by mode", &kSpark111NonDefaults, R::k1_1, M::kCommitTime, P::kNone,
       Fill::kNullDefaults},
      {"non-defaults by payload", &kSpark111NonDefaults, R::k0_14, M::kCustom,
       P::kOverwriteNonDefaults, Fill::kDefaults},
      {"partial by mode", &kSpark111Partial, R::k1_1, M::kEventTime, P::kNone, Fill::kNullDefaults},
      {"upgraded from 6", &kUpgraded, R::k1_1, M::kEventTime, P::kNone, Fill::kNone},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto merging = InferMerging(c.release, Read(*c.properties));
    ASSERT_THAT(merging, IsOk());
    EXPECT_EQ(merging->mode, c.mode);
    EXPECT_EQ(merging->payload, c.payload);
    EXPECT_EQ(merging->fill, c.fill);
  }
}

TEST(InferMergingTest, WithoutAnySettingTheOrderingFieldDecides) {
  EXPECT_EQ(InferMerging(Release::k1_1, Read({}))->mode, MergeMode::kCommitTime);
  EXPECT_EQ(InferMerging(Release::k1_1, Read({{"hoodie.table.precombine.field", "ts"}}))->mode,
            MergeMode::kEventTime);
}

TEST(MakeProfileTest, EveryNameWorksOnEveryOrdinaryTable) {
  for (const Properties* properties :
       {&kFlink014, &kSpark014Overwrite, &kSpark102, &kSpark111CommitTime, &kSpark111NonDefaults,
        &kSpark111Partial, &kUpgraded}) {
    for (const std::string_view name : ProfileNames()) {
      const auto profile = MakeProfile(name, Read(*properties));
      ASSERT_THAT(profile, IsOk()) << name;
      EXPECT_EQ(profile->name, name);
    }
  }
}

TEST(MakeProfileTest, ACustomPayloadIsNamedAndOnlyEventTimeAndCommitTimeRemain) {
  for (const std::string_view name : ProfileNames()) {
    const auto profile = MakeProfile(name, Read(kCustom));
    if (name == "event-time" || name == "commit-time") {
      EXPECT_THAT(profile, IsOk()) << name;
    } else {
      EXPECT_THAT(profile, IsError(ErrorKind::kUnsupported, HasSubstr("com.example.OurPayload")))
          << name;
    }
  }
}

TEST(MakeProfileTest, ACustomMergerOfVersion8IsUnsupportedWhateverThePayload) {
  Properties properties = kSpark102;
  properties["hoodie.record.merge.mode"] = "CUSTOM";
  properties["hoodie.record.merge.strategy.id"] = "1897ef5f-18bc-4557-939c-9d6a8afd1519";
  EXPECT_THAT(MakeProfile("table", Read(properties)),
              IsError(ErrorKind::kUnsupported, HasSubstr("1897ef5f-18bc-4557-939c-9d6a8afd1519")));
  properties["hoodie.record.merge.strategy.id"] = "00000000-0000-0000-0000-000000000000";
  properties["hoodie.compaction.payload.class"] = kModel + "AWSDmsAvroPayload";
  EXPECT_THAT(MakeProfile("table", Read(properties)), IsOk());
}

TEST(MakeProfileTest, FirstValueExistsIn10Only) {
  const TableSettings settings =
      Read({{"hoodie.table.version", "6"},
            {"hoodie.compaction.payload.class", kModel + "FirstValueAvroPayload"},
            {"hoodie.table.precombine.field", "ts"}});
  EXPECT_THAT(MakeProfile("hudi-0.14", settings),
              IsError(ErrorKind::kUnsupported, HasSubstr("FirstValue")));
  EXPECT_THAT(MakeProfile("hudi-1.0.2", settings), IsOk());
  EXPECT_THAT(MakeProfile("hudi-1.1", settings),
              IsError(ErrorKind::kUnsupported, HasSubstr("FirstValue")));
}

TEST(MakeProfileTest, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT(MakeProfile("hudi-0.13", Read(kFlink014)),
              IsError(ErrorKind::kInvalidArgument,
                      HasSubstr("profile=hudi-0.13 known=event-time,commit-time,hudi-0.10")));
}

TEST(MakeProfileTest, TableIs11OnTheTablesOwnSettings) {
  const auto table = MakeProfile("table", Read(kSpark014Overwrite));
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->merging.mode, MergeMode::kCommitTime);
  EXPECT_EQ(table->read.release, Release::k1_1);
  EXPECT_EQ(table->read.log_data, DataRule::kLater);
}

TEST(MakeProfileTest, EventTimeFollowsADeclaredCommitTimeAndNotAnOldPayload) {
  EXPECT_FALSE(MakeProfile("event-time", Read(kSpark111CommitTime))->read.is_event_time);  // R7
  EXPECT_TRUE(MakeProfile("event-time", Read(kSpark014Overwrite))->read.is_event_time);
}

TEST(MakeProfileTest, AnUnknownPartialUpdateModeIsUnsupportedForItsReaders) {
  Properties properties = kSpark111Partial;
  properties["hoodie.table.partial.update.mode"] = "SUM_UP";
  EXPECT_THAT(
      MakeProfile("table", Read(properties)),
      IsError(ErrorKind::kUnsupported, HasSubstr("hoodie.table.partial.update.mode=SUM_UP")));
  EXPECT_THAT(MakeProfile("event-time", Read(properties)), IsOk());
}

TEST(PayloadNameTest, IsTheClassName) {
  EXPECT_EQ(PayloadName(Payload::kDefault), "DefaultHoodieRecordPayload");
  EXPECT_EQ(PayloadName(Payload::kCustom), "custom");
  EXPECT_EQ(PayloadName(Payload::kNone), "none");
}

}  // namespace
}  // namespace tidemark::merge
