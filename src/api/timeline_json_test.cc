#include "api/timeline_json.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::api {
namespace {

using lake::hudi::Action;
using lake::hudi::Instant;
using lake::hudi::State;
using lake::hudi::TableProperties;
using lake::hudi::TableType;
using lake::hudi::Timeline;

Instant Done(std::string requested, Action action, std::string word) {
  Instant instant;
  instant.requested = std::move(requested);
  instant.action = action;
  instant.action_name = std::move(word);
  instant.state = State::kCompleted;
  instant.file = ".hoodie/" + instant.requested + "." + instant.action_name;
  return instant;
}

// Written by hand from the contract's page.
TEST(TimelineJsonTest, InstantsLookLikeTheContract) {
  TableProperties properties;
  properties.type = TableType::kMergeOnRead;
  properties.version = 8;
  properties.layout = 2;
  Timeline timeline;
  Instant compaction = Done("20240101120000123", Action::kCommit, "commit");
  compaction.completed = "20240101120001000";
  compaction.operation = "COMPACT";
  compaction.planned_as = Action::kCompaction;
  compaction.is_archived = true;
  Instant unknown = Done("20240101130000000", Action::kUnknown, "futureaction");
  unknown.state = State::kInflight;
  timeline.instants = {compaction, unknown};
  timeline.ignored_files = 3;
  timeline.findings = {{"stray_file", ".hoodie/x", "what is this"}};
  EXPECT_EQ(
      TimelineJson("s3://lake/orders", properties, timeline),
      R"({"schema":"tidemark.timeline/1","table":"s3://lake/orders","table_type":"MERGE_ON_READ",)"
      R"("table_version":8,"layout":2,"instants":[)"
      R"({"requested":"20240101120000123","completed":"20240101120001000","action":"commit",)"
      R"("state":"COMPLETED","operation":"COMPACT","archived":true,)"
      R"("file":".hoodie/20240101120000123.commit","planned_as":"compaction"},)"
      R"({"requested":"20240101130000000","completed":null,"action":"futureaction",)"
      R"("state":"INFLIGHT","operation":null,"archived":false,)"
      R"("file":".hoodie/20240101130000000.futureaction","planned_as":null}],)"
      R"("ignored_files":3,"findings":[{"kind":"stray_file","place":".hoodie/x",)"
      R"("message":"what is this"}]})");
}

TEST(TimelineJsonTest, AnEmptyTableHasNoInstants) {
  TableProperties properties;
  properties.version = 6;
  EXPECT_EQ(TimelineJson("t", properties, {}),
            R"({"schema":"tidemark.timeline/1","table":"t","table_type":"COPY_ON_WRITE",)"
            R"("table_version":6,"layout":1,"instants":[],"ignored_files":0,"findings":[]})");
}

}  // namespace
}  // namespace tidemark::api
