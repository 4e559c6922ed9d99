#include "merge/settings_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/merge_events.h"

namespace tidemark::merge {
namespace {

using support::EventTimeSettings;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Kinds(const TableSettings& settings, ColumnType type) {
  const OrderingColumn column{type, 0};
  std::vector<std::string> kinds;
  for (const auto& finding : LintSettings(settings, {&column, 1})) kinds.emplace_back(finding.kind);
  return kinds;
}

TEST(LintSettingsTest, DeletesOfOtherClassesAreToldBeforeAnythingIsLost) {
  const TableSettings old = EventTimeSettings();
  EXPECT_THAT(Kinds(old, ColumnType::kString),
              ElementsAre("config_delete_class", "config_version"));
  EXPECT_THAT(Kinds(old, ColumnType::kDecimalFixed),
              ElementsAre("config_delete_class", "config_version"));
  EXPECT_THAT(Kinds(old, ColumnType::kDate), ElementsAre("config_delete_class", "config_version"));
  EXPECT_THAT(Kinds(old, ColumnType::kLong), ElementsAre("config_version"));
  const OrderingColumn text{ColumnType::kString, 0};
  EXPECT_EQ(LintSettings(old, {&text, 1})[0].explanation,
            "the ordering field ts is a string: releases up to 0.15 do not compare a delete with "
            "such a column, so a late delete removes newer rows");
}

TEST(LintSettingsTest, ATableOf11WithANumberIsQuiet) {
  const TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  EXPECT_THAT(Kinds(settings, ColumnType::kLong), IsEmpty());
  EXPECT_THAT(Kinds(settings, ColumnType::kString), IsEmpty());
  EXPECT_THAT(Kinds(settings, ColumnType::kDate), ElementsAre("config_delete_class"));
}

TEST(LintSettingsTest, FieldsThatAreNotThereOrNotUsed) {
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  settings.ordering_fields = {"source.ts"};
  EXPECT_THAT(Kinds(settings, ColumnType::kLong), ElementsAre("config_nested_ordering"));
  settings.ordering_fields.clear();
  EXPECT_THAT(LintSettings(settings, {}),
              ElementsAre(testing::Field(&SettingsFinding::kind, "config_no_ordering_field")));
  settings.mode = MergeMode::kCommitTime;
  EXPECT_THAT(LintSettings(settings, {}), IsEmpty());

  EXPECT_THAT(Kinds(EventTimeSettings(Payload::kOverwriteWithLatest), ColumnType::kLong),
              ElementsAre("config_overwrite_payload", "config_version"));
}

TEST(LintSettingsTest, AnOrderingFieldThatIsNoColumnOrdersNothing) {
  TableSettings settings = EventTimeSettings(Payload::kNone, 9);
  const OrderingColumn none{};
  settings.ordering_fields = {"ts"};
  auto findings = LintSettings(settings, {&none, 1});
  ASSERT_THAT(findings,
              ElementsAre(testing::Field(&SettingsFinding::kind, "config_unknown_ordering")));
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].explanation,
            "the ordering field ts is no column of the table, it is what Spark's writer takes when "
            "none is set: no record has a value to compare, so the last arrival wins");
  settings.ordering_fields = {"updated_at"};
  findings = LintSettings(settings, {&none, 1});
  ASSERT_THAT(findings,
              ElementsAre(testing::Field(&SettingsFinding::kind, "config_unknown_ordering")));
  EXPECT_EQ(findings[0].explanation,
            "the ordering field updated_at is no column of the table: no record has a value to "
            "compare, so the last arrival wins");
  // Nobody knows the columns of a table without rows.
  EXPECT_THAT(LintSettings(settings, {}), IsEmpty());
}

TEST(LintSettingsTest, DroppedPartitionColumnsAreNullInRowsOfOldReaders) {
  const std::map<std::string, std::string> properties = {
      {"hoodie.table.version", "6"},
      {"hoodie.table.type", "MERGE_ON_READ"},
      {"hoodie.datasource.write.drop.partition.columns", "true"}};
  const auto kinds = [](std::map<std::string, std::string> of, const std::string& name,
                        const std::string& value) {
    of[name] = value;
    const auto settings = ReadTableSettings(of);
    EXPECT_TRUE(settings.has_value());
    std::vector<std::string> found;
    for (const auto& finding : LintSettings(*settings, {})) found.emplace_back(finding.kind);
    return found;
  };
  EXPECT_THAT(kinds(properties, "hoodie.table.version", "6"),
              ElementsAre("config_dropped_columns"));
  EXPECT_THAT(kinds(properties, "hoodie.table.version", "8"), IsEmpty());
  EXPECT_THAT(kinds(properties, "hoodie.table.type", "COPY_ON_WRITE"), IsEmpty());
  EXPECT_THAT(kinds(properties, "hoodie.datasource.write.drop.partition.columns", "false"),
              IsEmpty());
}

TEST(LintSettingsTest, CodeOfTheTablesOwnerIsNamed) {
  TableSettings settings = EventTimeSettings();
  settings.payload = Payload::kCustom;
  settings.payload_class = "com.example.OurPayload";
  const auto findings = LintSettings(settings, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.back().kind, "config_custom_merge");
  EXPECT_THAT(findings.back().explanation, HasSubstr("com.example.OurPayload"));
}

}  // namespace
}  // namespace tidemark::merge
