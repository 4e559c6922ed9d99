#include "lake/hudi/rollback_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

std::string ReadTable(const std::string& path) {
  return support::ReadTestdata("hudi/tables/" + path);
}

// Expected values were read off the bodies with another Avro reader.
const std::string kRollback = "timeline_story_cow/table/.hoodie/20261130022840699.rollback";
const std::string kRollbackPlan = kRollback + ".requested";
const std::string kRestore = "fresh_a9_savepoint_restore/table/.hoodie/20261130032539342.restore";
const std::string kRestorePlan = kRestore + ".requested";
const std::string kSavepoint =
    "fresh_a9_savepoint_restore/table/.hoodie/20261130032448193.savepoint";
const std::string kRestoreV9 =
    "a09_savepoint_restore_v9/table/.hoodie/timeline/20261130022951763_20261130023044075.restore";

TEST(RollbackMetadataTest, ARollbackNamesWhatItUndid) {
  const NamedInstant undone{"20261130022757385", "commit"};
  EXPECT_THAT(ParseRollbackMetadata(ReadTable(kRollback)), IsOkAnd(RollbackMetadata{{undone}}));
  EXPECT_THAT(ParseRollbackPlan(ReadTable(kRollbackPlan)), IsOkAnd(RollbackMetadata{{undone}}));
}

TEST(RollbackMetadataTest, EveryReleaseSaysItAlike) {
  struct Case {
    std::string file;
    NamedInstant undone;
  };
  const std::vector<Case> cases = {
      {"a05b_inflight_then_rollback_v9/table/.hoodie/timeline/"
       "20261130020944073_20261130020954837.rollback",
       {"20261130020848617", "commit"}},
      {"b2_rollback_v9/table/.hoodie/timeline/20261130024451017_20261130024502546.rollback",
       {"20261130024213085", "deltacommit"}},
      {"c_story_cow_v8/table/.hoodie/timeline/20261130025208672_20261130025218860.rollback",
       {"20261130025137944", "commit"}},
      {"c_story_mor_v9/table/.hoodie/timeline/20261130021336440_20261130021343908.rollback",
       {"20261130021228316", "deltacommit"}},
      {"f014_x_rollback/table/.hoodie/20261130032504194.rollback",
       {"20261130032435918", "deltacommit"}},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(ParseRollbackMetadata(ReadTable(each.file)),
                IsOkAnd(RollbackMetadata{{each.undone}}))
        << each.file;
  }
}

TEST(RollbackMetadataTest, ARestoreNamesWhatItUndidNewestFirst) {
  const std::vector<NamedInstant> undone = {{"20261130032523416", "commit"},
                                            {"20261130032515977", "commit"}};
  EXPECT_THAT(ParseRestoreMetadata(ReadTable(kRestore)), IsOkAnd(RestoreMetadata{undone, ""}));
  EXPECT_THAT(ParseRestorePlan(ReadTable(kRestorePlan)),
              IsOkAnd(RestoreMetadata{undone, "20261130032448193"}));
  EXPECT_THAT(ParseRestoreMetadata(ReadTable(kRestoreV9)),
              IsOkAnd(RestoreMetadata{
                  {{"20261130022826653", "commit"}, {"20261130022757415", "commit"}}, ""}));
}

TEST(RollbackMetadataTest, ASavepointSaysWhoKeepsWhat) {
  SavepointMetadata expected;
  expected.created_by = "lab";
  expected.comment = "before";
  expected.created_at = WallTimeFromMillis(1796009115427);
  expected.files = {
      {"p1", {"45e0db4d-00f7-446c-aa61-149e402cddca-0_0-45-40_20261130032448193.parquet"}},
      {"p2", {"30858065-60b5-40fc-9721-636a11332b6e-0_1-45-41_20261130032448193.parquet"}}};
  EXPECT_THAT(ParseSavepointMetadata(ReadTable(kSavepoint)), IsOkAnd(expected));
}

// --- Old releases name times alone
// -----------------------------------------------------------------------------------------------

std::string Number(size_t value) {
  std::string bytes;
  for (value *= 2; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Text(const std::string& text) {
  return Number(text.size()) + text;
}
std::string Container(const std::string& schema, const std::string& record) {
  const std::string sync(16, 's');
  return std::string("Obj\x01", 4) + Number(1) + Text("avro.schema") + Text(schema) + Number(0) +
         sync + Number(1) + Text(record) + sync;
}
std::string List(const std::vector<std::string>& texts) {
  std::string bytes = Number(texts.size());
  for (const auto& text : texts) bytes += Text(text);
  return bytes + Number(0);
}

TEST(RollbackMetadataTest, ARollbackOfAnOldReleaseHasNoActions) {
  const std::string body = Container(
      R"({"type":"record","name":"HoodieRollbackMetadata","fields":[
          {"name":"startRollbackTime","type":"string"},
          {"name":"commitsRollback","type":{"type":"array","items":"string"}}]})",
      Text("20190101000003") + List({"20190101000002", "20190101000001"}));
  EXPECT_THAT(
      ParseRollbackMetadata(body),
      IsOkAnd(Field(&RollbackMetadata::instants, ElementsAre(NamedInstant{"20190101000002", ""},
                                                             NamedInstant{"20190101000001", ""}))));
}

/// The map of rollbacks tells the action that the list of times lacks.
TEST(RollbackMetadataTest, ARestoreTakesActionsFromItsRollbacks) {
  const std::string body = Container(
      R"({"type":"record","name":"HoodieRestoreMetadata","fields":[
          {"name":"instantsToRollback","type":{"type":"array","items":"string"}},
          {"name":"hoodieRestoreMetadata","type":{"type":"map","values":{"type":"array","items":
            {"type":"record","name":"HoodieRollbackMetadata","fields":[
              {"name":"commitsRollback","type":{"type":"array","items":"string"}},
              {"name":"instantsRollback","type":{"type":"array","items":
                {"type":"record","name":"HoodieInstantInfo","fields":[
                  {"name":"commitTime","type":"string"},{"name":"action","type":"string"}]}}}]}}}}]})",
      List({"3", "2"}) + Number(1) + Text("2") + Number(1) + List({"2"}) + Number(2) + Text("2") +
          Text("commit") + Text("2") + Text("savepoint") + Number(0) + Number(0) + Number(0));
  EXPECT_THAT(ParseRestoreMetadata(body),
              IsOkAnd(Field(&RestoreMetadata::instants,
                            ElementsAre(NamedInstant{"3", ""}, NamedInstant{"2", "commit"},
                                        NamedInstant{"2", "savepoint"}))));
}

// --- Anything else
// ---------------------------------------------------------------------------------

struct Body {
  std::string file;
  std::function<Status(std::string_view)> parse;
};

template <class Value>
std::function<Status(std::string_view)> Parse(Result<Value> (*parse)(std::string_view)) {
  return [parse](std::string_view body) -> Status {
    TRY_ASSIGN([[maybe_unused]] const auto value, parse(body));
    return {};
  };
}

std::vector<Body> Bodies() {
  return {{kRollback, Parse(&ParseRollbackMetadata)},
          {kRollbackPlan, Parse(&ParseRollbackPlan)},
          {kRestore, Parse(&ParseRestoreMetadata)},
          {kRestorePlan, Parse(&ParseRestorePlan)},
          {kSavepoint, Parse(&ParseSavepointMetadata)}};
}

TEST(RollbackMetadataTest, OneIsNotTakenForAnother) {
  for (const Body& body : Bodies()) {
    for (const Body& other : Bodies()) {
      if (body.file == other.file) continue;
      EXPECT_THAT(other.parse(ReadTable(body.file)), IsError(ErrorKind::kUnsupported, _))
          << body.file << " as " << other.file;
    }
  }
}

TEST(RollbackMetadataTest, EveryTruncationIsAnError) {
  for (const Body& body : Bodies()) {
    const std::string bytes = ReadTable(body.file);
    ASSERT_THAT(body.parse(bytes), IsOk()) << body.file;
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THAT(body.parse(bytes.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  }
}

TEST(RollbackMetadataTest, AFlippedByteIsAnErrorOrAnotherText) {
  for (const Body& body : Bodies()) {
    const std::string bytes = ReadTable(body.file);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int mask : {0x01, 0x5a, 0x80}) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        const auto read = body.parse(flipped);
        if (read) continue;
        EXPECT_THAT(read.error().kind,
                    AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted))
            << i;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
