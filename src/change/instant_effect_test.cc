#include "change/instant_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tidemark::change {
namespace {

using lake::hudi::CommitStats;
using lake::hudi::WriteStat;
using ::testing::ElementsAre;

WriteStat Write(const std::string& file_id, bool is_log = false) {
  WriteStat stat;
  stat.file_id = file_id;
  stat.path = "p/" + file_id;
  stat.is_log = is_log;
  return stat;
}

InstantEffect EffectOf(std::vector<WriteStat> stats) {
  lake::hudi::Instant instant;
  instant.requested = "5";
  CommitStats commit;
  commit.partitions["p"] = std::move(stats);
  return MakeEffect(instant, std::move(commit));
}

TEST(InstantEffectTest, RecordsAreThoseInsertedAndUpdatedAndNothingElse) {
  auto stat = Write("a");
  stat.records_written = 100;  // a rewritten file with all that stayed
  EXPECT_EQ(EffectOf({stat}).records_written, 0);
  stat.inserted = 2;
  stat.updated = 3;
  stat.deleted = 4;
  EXPECT_EQ(EffectOf({stat}).records_written, 5);
  EXPECT_EQ(EffectOf({stat}).records_deleted, 4);
}

TEST(InstantEffectTest, CountsEndAtTheGreatestNumberAndNeverWrapAround) {
  auto stat = Write("a");
  stat.inserted = std::numeric_limits<uint64_t>::max();
  stat.updated = 1;
  stat.bytes = uint64_t{1} << 62U;
  const auto effect = EffectOf({stat, stat, stat});
  EXPECT_EQ(effect.records_written, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(effect.partitions.at("p").bytes, std::numeric_limits<int64_t>::max());
}

TEST(InstantEffectTest, EachGroupIsNamedOnceAndThoseOfBeforeAreToldApart) {
  auto first = Write("b");
  first.previous = "4";
  auto own = Write("a", true);
  own.previous = "5";  // the first log file of a group names its own commit
  auto nothing = Write("c");
  nothing.path.clear();
  const auto effect = EffectOf({first, own, Write("a", true), nothing});
  const auto& write = effect.partitions.at("p");
  EXPECT_THAT(write.written, ElementsAre("a", "b"));
  EXPECT_THAT(write.continued, ElementsAre("b"));
  EXPECT_EQ(write.files_added, 3);
  EXPECT_TRUE(effect.writes_base_files);
  EXPECT_TRUE(effect.writes_logs);
}

TEST(InstantEffectTest, UndoneInstantsBearTheActionThatTheyCompletedAs) {
  lake::hudi::RollbackMetadata rollback;
  rollback.instants = {{"1", "compaction"}, {"2", ""}, {"3", "clustering"}, {"4", "deltacommit"}};
  const auto effect = MakeEffect({}, rollback);
  EXPECT_THAT(effect.undone,
              ElementsAre(InstantKey{"1", "commit"}, InstantKey{"2", ""},
                          InstantKey{"3", "replacecommit"}, InstantKey{"4", "deltacommit"}));
}

}  // namespace
}  // namespace tidemark::change
