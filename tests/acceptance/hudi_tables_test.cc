// Every table of testdata/hudi/tables, written by real Hudi releases, read as a user's would be.
// What is expected stands in the fixture.json and kafka.json beside each table, put there by the
// generators and the writers, and in the tables below for what those files do not say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "columnar/loader.h"
#include "lake/hudi/table.h"
#include "storage/local_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using nlohmann::json;
using support::IsOk;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

std::string TablesFolder() {
  return std::string(TIDEMARK_TESTDATA) + "/hudi/tables";
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TablesFolder()))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

/// The JSON file of a fixture; an empty object when there is none.
json ReadJson(const std::string& table, const std::string& file) {
  const std::string text = support::ReadTestdata("hudi/tables/" + table + "/" + file);
  return text.empty() ? json::object() : json::parse(text);
}

std::string TextOr(const json& object, const std::string& key, std::string missing) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? missing : found->get<std::string>();
}

/// "requested completed action operation file" of a completed instant.
using CompletedLine = std::string;

CompletedLine LineOf(const std::string& requested, const std::string& completed,
                     const std::string& action, const std::string& operation,
                     const std::string& file) {
  return requested + " " + completed + " " + action + " " + operation + " " + file;
}

bool IsCompletedName(const std::string& file) {
  return !file.ends_with(".requested") && !file.ends_with(".inflight");
}

/// What the generator of 0.x tables noted: every file of the timeline.
std::set<CompletedLine> LinesFromFiles(const json& timeline) {
  std::set<CompletedLine> lines;
  for (const json& entry : timeline) {
    const std::string file = entry.at("file");
    if (!IsCompletedName(file)) continue;
    const size_t dot = file.find('.');
    lines.insert(LineOf(file.substr(0, dot), "", file.substr(dot + 1),
                        TextOr(entry, "operationType", ""), file));
  }
  return lines;
}

/// What the generator of 1.x tables noted: the completed instants as Hudi's own API gave them.
std::set<CompletedLine> LinesFromInstants(const json& timeline) {
  std::set<CompletedLine> lines;
  for (const json& entry : timeline) {
    const std::string file = entry.at("file");
    const bool has_completion_in_name = file.find('_') != file.npos;
    lines.insert(LineOf(entry.at("requested"),
                        has_completion_in_name ? TextOr(entry, "completed", "") : "",
                        entry.at("action"), TextOr(entry, "operation", ""), file));
  }
  return lines;
}

/// Tables whose fixture.json lists no instants: "action state" of each, oldest first, read off the
/// story and the names of the files. "<-" is what a completed one was planned as.
const std::map<std::string, std::vector<std::string>> kInstantsByStory = {
    {"b2_clustering_done_v9",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "replacecommit COMPLETED <-clustering", "deltacommit COMPLETED"}},
    {"b2_clustering_pending_v9",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "clustering REQUESTED"}},
    {"b2_defaults_v9", {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED"}},
    {"b2_logcompaction_v9",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED <-logcompaction",
      "deltacommit COMPLETED", "deltacommit COMPLETED <-logcompaction"}},
    {"b2_pendingcompaction_v9",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "compaction REQUESTED", "deltacommit COMPLETED"}},
    {"b2_rollback_v9", {"deltacommit COMPLETED", "deltacommit COMPLETED", "rollback COMPLETED"}},
    {"f014_x_kafka",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit INFLIGHT"}},
    {"f014_x_natural_end",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "deltacommit INFLIGHT"}},
    {"f014_x_overwrite",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "rollback COMPLETED",
      "replacecommit COMPLETED"}},
    {"f014_x_recommit",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED"}},
    {"f014_x_rollback",
     {"deltacommit COMPLETED", "rollback COMPLETED", "deltacommit COMPLETED",
      "deltacommit COMPLETED"}},
    {"f111_x_extra_metadata",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "deltacommit REQUESTED"}},
    // These list completed instants only; the pending ones are the story.
    {"fresh_a5_rollback_inflight_requested",
     {"commit COMPLETED", "commit COMPLETED", "commit COMPLETED", "rollback COMPLETED",
      "commit INFLIGHT", "commit REQUESTED"}},
    {"fresh_a9_restore_inflight",
     {"commit COMPLETED", "commit COMPLETED", "savepoint COMPLETED", "restore INFLIGHT",
      "rollback INFLIGHT", "rollback INFLIGHT"}},
    {"fresh_a3_mor_compaction_scheduled",
     {"deltacommit COMPLETED", "deltacommit COMPLETED", "deltacommit COMPLETED",
      "compaction REQUESTED"}},
};

/// Commits passed over, where the story makes it more than none.
const std::map<std::string, int64_t> kDepthByStory = {
    {"fresh_a4_cow_batch_behind3", 3},       // three batch upserts
    {"fresh_a4_cow_batch_clustering", 5},    // four batch upserts and a clustering
    {"a04_cow_batch_and_clustering_v8", 3},  // two batch upserts and a clustering
    {"a04_cow_batch_and_clustering_v9", 3},
    {"fresh_a8_archived", 8},  // eight batch upserts, four of them archived
    {"a08_archived_cow_v9", 12},
    {"a08_archived_mor_v9", 12},
};

/// The commit before `found` that has the same offsets, where the story has one.
const std::map<std::string, std::string> kLastChangeByStory = {
    {"fresh_a6_empty_sync_commit", "20261130024620872"},
    {"a06_empty_syncs_v9", "20261130023102796"},
    // The reset made the same records come again, up to the same offsets.
    {"a07a_checkpoint_reset_v9", "20261130023208805"},
    {"fresh_a7_checkpoint_reset", "20261130024653666"},
};

/// What a streaming sink noted, and the kind of tables that Kafka does not feed.
const std::map<std::string, std::pair<CheckpointKind, std::string>> kForeignByStory = {
    {"fresh_a11_structured_streaming", {CheckpointKind::kSparkBatch, R"({"lab-query":"2"})"}},
    {"a11_structured_streaming_cow_v6",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a11_structured_streaming_cow_v8",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a11_structured_streaming_cow_v9",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a11_structured_streaming_mor_v6",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a11_structured_streaming_mor_v8",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a11_structured_streaming_mor_v9",
     {CheckpointKind::kSparkBatch, R"({"default_single_writer":"1"})"}},
    {"a15a_hoodieincr_source_v8", {CheckpointKind::kInstant, "20261130025347130"}},
    {"a15a_hoodieincr_source_v9", {CheckpointKind::kInstant, "20261130024958299"}},
    {"a15b_jsondfs_source_v8", {CheckpointKind::kEpochMillis, "1796007433245"}},
    {"a15b_jsondfs_source_v9", {CheckpointKind::kEpochMillis, "1796007032166"}},
    {"f111_x_extra_metadata", {CheckpointKind::kFlink, "2"}},
};

/// The instant that the fixture says the checkpoint was committed by; empty when it does not say.
std::string CommittedBy(const json& fixture, const json& kafka) {
  if (kafka.contains("committedBy")) return TextOr(kafka, "committedBy", "");
  for (const std::string key : {"checkpointInActiveTimeline", "archivedCheckpoint"}) {
    if (!fixture.contains(key) || fixture.at(key).is_null()) continue;
    const std::string file = fixture.at(key).at("file");
    return file.substr(0, file.find('.'));
  }
  // The 0.15 tables note the keys of each file instead.
  std::string newest;
  for (const json& entry : fixture.value("timeline", json::array())) {
    const std::string file = entry.value("file", "");
    if (IsCompletedName(file) &&
        entry.value("extraMetadata", json::object()).contains("deltastreamer.checkpoint.key"))
      newest = std::max(newest, file.substr(0, file.find('.')));
  }
  return newest;
}

bool IsArchivedOnly(const json& fixture, const json& kafka) {
  return kafka.contains("committedIn") || fixture.contains("archivedCheckpoint");
}

/// Opens the table of one fixture.
class HudiTableTest : public ::testing::TestWithParam<std::string> {
 protected:
  HudiTableTest()
      : fixture_(ReadJson(GetParam(), "fixture.json")),
        kafka_(ReadJson(GetParam(), "kafka.json")),
        store_(TablesFolder() + "/" + GetParam() + "/table") {}

  Result<Table> Open() const { return Table::Open(store_, columnar::LoadColumnReader, Budget()); }

  json fixture_;
  json kafka_;
  storage::LocalStore store_;
};

TEST_P(HudiTableTest, VersionAndTypeAreTheWriters) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  const json& writer = fixture_.at("writer");
  EXPECT_EQ(table.properties().version, writer.at("tableVersion"));
  const std::string type = writer.at("type");
  EXPECT_EQ(table.properties().type == TableType::kMergeOnRead,
            type == "MOR" || type == "MERGE_ON_READ");
  EXPECT_EQ(table.properties().layout, table.properties().version >= 8 ? 2 : 1);
}

TEST_P(HudiTableTest, TheTimelineHasTheInstantsOfTheStory) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(Timeline timeline, table.ReadTimeline({}, Budget()));
  EXPECT_THAT(timeline.findings, IsEmpty());
  ASSERT_OK_ASSIGN(const auto findings, table.ReadOperations(timeline.instants, Budget()));
  EXPECT_THAT(findings, IsEmpty());

  std::set<CompletedLine> completed;
  std::vector<std::string> all;
  for (const Instant& instant : timeline.instants) {
    all.push_back(instant.action_name + " " + std::string(StateName(instant.state)));
    if (instant.planned_as) all.back() += " <-" + std::string(ActionName(*instant.planned_as));
    if (instant.state != State::kCompleted) continue;
    completed.insert(LineOf(instant.requested, instant.completed.value_or(""), instant.action_name,
                            instant.operation.value_or(""),
                            instant.file.substr(instant.file.rfind('/') + 1)));
  }
  if (fixture_.contains("timeline")) {
    const json& noted = fixture_.at("timeline");
    const bool has_files_only = !noted.empty() && !noted.front().contains("requested");
    EXPECT_EQ(completed, has_files_only ? LinesFromFiles(noted) : LinesFromInstants(noted));
  }
  // Tables that are there for their rows list no instants.
  const auto story = kInstantsByStory.find(GetParam());
  if (story != kInstantsByStory.end()) {
    EXPECT_THAT(all, ElementsAreArray(story->second));
  }
}

TEST_P(HudiTableTest, TheArchiveHasTheInstantsOfTheStory) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const Timeline active, table.ReadTimeline({}, Budget()));
  ASSERT_OK_ASSIGN(const Timeline whole, table.ReadTimeline({.with_archived = true}, Budget()));
  EXPECT_THAT(whole.findings, IsEmpty());
  EXPECT_TRUE(std::ranges::is_sorted(whole.instants, {}, &Instant::requested));
  const auto is_archived = [](const Instant& instant) { return instant.is_archived; };
  const auto archived_count =
      static_cast<size_t>(std::ranges::count_if(whole.instants, is_archived));
  EXPECT_EQ(whole.instants.size(), active.instants.size() + archived_count);
  const bool has_archive =
      kafka_.contains("checkpointsInArchivedTimeline") || fixture_.contains("archivedCheckpoint");
  EXPECT_TRUE(has_archive || archived_count == 0 || GetParam() == "a14_before_upgrade_v6");

  std::set<std::string> archived;
  for (const Instant& instant : whole.instants) {
    if (instant.is_archived && instant.state == State::kCompleted)
      archived.insert(instant.requested + " " + instant.completed.value_or("") + " " +
                      instant.action_name);
  }
  // kafka.json names those that carry a checkpoint.
  for (const json& noted : kafka_.value("checkpointsInArchivedTimeline", json::array())) {
    const std::string line = TextOr(noted, "instant", "") + " " + TextOr(noted, "completed", "") +
                             " " + TextOr(noted, "action", "");
    EXPECT_TRUE(archived.contains(line)) << line;
  }
}

TEST_P(HudiTableTest, TheCheckpointIsTheCommittedOne) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const CheckpointSearch search, table.FindCheckpoint({}, Budget()));
  EXPECT_THAT(search.findings, IsEmpty());
  const auto foreign = kForeignByStory.find(GetParam());
  if (foreign != kForeignByStory.end()) {
    ASSERT_TRUE(search.found.has_value());
    EXPECT_EQ(search.found->checkpoint.kind, foreign->second.first);
    EXPECT_EQ(search.found->checkpoint.value, foreign->second.second);
    EXPECT_THAT(search.found->checkpoint.topics, IsEmpty());
    return;
  }
  const std::string committed = TextOr(kafka_, "committedCheckpoint", "");
  if (committed.empty()) {
    EXPECT_FALSE(search.found.has_value());
    return;
  }
  ASSERT_TRUE(search.found.has_value());
  const CommitPoint& found = *search.found;
  EXPECT_EQ(found.checkpoint.value, committed);
  EXPECT_EQ(found.checkpoint.kind, CheckpointKind::kKafka);
  EXPECT_EQ(found.checkpoint.defect, "");
  ASSERT_EQ(found.checkpoint.topics.size(), 1u);
  EXPECT_EQ(found.checkpoint.topics[0].topic, kafka_.at("topic"));
  EXPECT_EQ(found.is_archived, IsArchivedOnly(fixture_, kafka_));
  EXPECT_EQ(found.instant, CommittedBy(fixture_, kafka_));
  const auto depth = kDepthByStory.find(GetParam());
  EXPECT_EQ(found.commit_depth, depth == kDepthByStory.end() ? 0 : depth->second);
}

TEST_P(HudiTableTest, TheLastChangeIsTheFirstCommitOfTheSameOffsets) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const CheckpointSearch search, table.FindCheckpoint({}, Budget()));
  if (!search.found) return;
  const auto story = kLastChangeByStory.find(GetParam());
  if (story != kLastChangeByStory.end()) {
    ASSERT_TRUE(search.last_change.has_value());
    EXPECT_EQ(search.last_change->instant, story->second);
  } else {
    ASSERT_TRUE(search.last_change.has_value());
    EXPECT_EQ(search.last_change->instant, search.found->instant);
  }
}

TEST_P(HudiTableTest, TheTimeOfACommitIsKnownOnlyWhereTheTableSaysItsZone) {
  ASSERT_OK_ASSIGN(const Table table, Open());
  ASSERT_OK_ASSIGN(const CheckpointSearch search, table.FindCheckpoint({}, Budget()));
  if (!search.found) return;
  const CommitPoint& found = *search.found;
  if (table.properties().zone == TimelineZone::kUtc) {
    EXPECT_EQ(found.committed_at_source, CommitTimeSource::kInstant);
    EXPECT_EQ(found.committed_at, InstantToWallTime(found.completion.value_or(found.instant)));
  } else {
    // The files here are copies, so their times are those of the copying.
    EXPECT_EQ(found.committed_at_source, CommitTimeSource::kUnknown);
    EXPECT_EQ(found.committed_at, std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Testdata, HudiTableTest, ::testing::ValuesIn(TableNames()),
                         [](const auto& tested) { return tested.param; });

TEST(HudiTablesTest, UtcInstantsAgreeWithTheClockOfTheGenerator) {
  const std::string name = "a12_shanghai_utc_datasource_v9";
  const storage::LocalStore store(TablesFolder() + "/" + name + "/table");
  ASSERT_OK_ASSIGN(const Table table, Table::Open(store, columnar::LoadColumnReader, Budget()));
  ASSERT_OK_ASSIGN(const CheckpointSearch search, table.FindCheckpoint({}, Budget()));
  ASSERT_TRUE(search.found && search.found->committed_at);
  // The clock just before the last sync; the writer's zone was eight hours ahead.
  const auto before =
      WallTimeFromMillis(ReadJson(name, "kafka.json").at("wallClockMsBeforeSync").back());
  EXPECT_GT(*search.found->committed_at, before);
  EXPECT_LT(*search.found->committed_at, before + std::chrono::minutes(1));
}

TEST(HudiTablesTest, EveryStoryHasItsTable) {
  const auto names = TableNames();
  EXPECT_GE(names.size(), 81u);
  std::set<std::string> told;
  for (const auto& [name, ignored] : kInstantsByStory) told.insert(name);
  for (const auto& [name, ignored] : kDepthByStory) told.insert(name);
  for (const auto& [name, ignored] : kLastChangeByStory) told.insert(name);
  for (const auto& [name, ignored] : kForeignByStory) told.insert(name);
  for (const std::string& name : told) EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
}

}  // namespace
}  // namespace tidemark::lake::hudi
