// What a subscriber learns from tables of testdata/hudi/tables, written by real Hudi releases.
// Expected is what the generators noted at each step (fixture.json), and what the file slices of
// the same table show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "columnar/loader.h"
#include "feed/table_reader.h"
#include "lake/hudi/table.h"
#include "storage/local_store.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::feed {
namespace {

using change::Group;
using change::InstantKey;
using change::Inventory;
using change::PartitionOp;
using nlohmann::json;
using support::IsOk;
using ::testing::IsEmpty;

std::string FolderOf(const std::string& table) {
  return std::string(TIDEMARK_TESTDATA) + "/hudi/tables/" + table;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FolderOf("")))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

/// Bodies that stay unreadable are not waited for.
Budget Hurry() {
  Budget budget = Budget::For(std::chrono::minutes(1));
  budget.retry_delay = std::chrono::milliseconds(1);
  return budget;
}

Result<TableReading> ReadAll(const storage::ObjectStore& store, change::Beginning beginning) {
  return ReadChanges(store, columnar::LoadColumnReader, {}, {.beginning = beginning}, Hurry());
}

/// Partitions with a file group that is alive, as the slices show them.
std::set<std::string> LivePartitions(const storage::ObjectStore& store) {
  const auto table = lake::hudi::Table::Open(store, columnar::LoadColumnReader, Hurry());
  EXPECT_THAT(table, IsOk());
  const auto slices = table->ReadFileSlices({}, Hurry());
  EXPECT_THAT(slices, IsOk());
  std::set<std::string> live;
  for (const auto& slice : slices->slices)
    if (slice.is_latest) live.insert(slice.group.partition);
  return live;
}

std::set<std::string> SetOf(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

/// Applies the groups as a subscriber would, and checks each group's own proof.
std::set<std::string> Applied(const change::Plan& plan) {
  std::set<std::string> known;
  auto snapshot = plan.snapshots.begin();
  for (const Group& group : plan.groups) {
    for (const auto& partition : group.partitions) {
      if (partition.op == PartitionOp::kDrop) {
        EXPECT_EQ(known.erase(partition.path), 1u) << partition.path;
      } else {
        EXPECT_EQ(known.insert(partition.path).second, partition.op == PartitionOp::kAdd)
            << partition.path;
      }
    }
    for (; snapshot != plan.snapshots.end() && snapshot->epoch == group.epoch &&
           snapshot->as_of_seq == group.seq;
         ++snapshot) {
      known = SetOf(snapshot->partitions);
    }
    EXPECT_EQ(static_cast<int64_t>(known.size()), group.partition_count) << group.seq;
    change::Digest digest;
    for (const auto& path : known) digest += change::HashOf(path);
    EXPECT_EQ(HexOf(digest), HexOf(group.partition_digest)) << group.seq;
  }
  return known;
}

TEST(HudiChangesTest, AllTablesEndWithThePartitionsThatTheirSlicesShow) {
  for (const auto& name : TableNames()) {
    SCOPED_TRACE(name);
    const storage::LocalStore store(FolderOf(name) + "/table", name);
    const auto live = LivePartitions(store);
    for (const auto beginning :
         {change::Beginning::kStart, change::Beginning::kActive, change::Beginning::kNow}) {
      const auto reading = ReadAll(store, beginning);
      ASSERT_THAT(reading, IsOk());
      if (reading->plan.is_paused) {
        EXPECT_EQ(name, "fresh_a9_restore_inflight");
        continue;
      }
      EXPECT_EQ(Applied(reading->plan), live) << static_cast<int>(beginning);
      EXPECT_EQ(SetOf(reading->plan.after.inventory->Partitions()), live);
    }
  }
}

TEST(HudiChangesTest, EveryCompletedInstantIsToldOnceWithoutHoles) {
  for (const auto& name : TableNames()) {
    SCOPED_TRACE(name);
    const storage::LocalStore store(FolderOf(name) + "/table", name);
    const auto reading = ReadAll(store, change::Beginning::kActive);
    ASSERT_THAT(reading, IsOk());
    if (reading->plan.is_paused) continue;
    const auto table = lake::hudi::Table::Open(store, columnar::LoadColumnReader, Hurry());
    std::multiset<InstantKey> completed;
    const auto timeline = table->ReadTimeline({}, Hurry());
    for (const auto& instant : timeline->instants)
      if (instant.state == lake::hudi::State::kCompleted) completed.insert(change::KeyOf(instant));
    std::multiset<InstantKey> told;
    int64_t seq = 0;
    for (const Group& group : reading->plan.groups) {
      EXPECT_EQ(group.seq, ++seq);
      if (group.instant) told.insert(*group.instant);
    }
    EXPECT_EQ(told, completed);
  }
}

/// What one step of a story changed, in one form for all generators.
struct Learned {
  std::set<std::string> added;
  std::set<std::string> dropped;
  std::string schema;  ///< "+extra string", "v int -> bigint"

  friend bool operator==(const Learned&, const Learned&) = default;
};

std::string TextOf(const Learned& learned) {
  std::string text;
  for (const auto& path : learned.added) text += "+" + path + " ";
  for (const auto& path : learned.dropped) text += "-" + path + " ";
  return text + learned.schema;
}

/// Stories of 1.x are told in words: "partitions p2, p3 added; 3 rows written".
Learned LearnedFromWords(const std::string& words) {
  Learned learned;
  std::smatch match;
  if (std::regex_search(words, match, std::regex("partitions? ([p0-9, ]+) (added|dropped)"))) {
    auto& paths = match[2] == "added" ? learned.added : learned.dropped;
    const std::string list = match[1];
    static const std::regex kName("p[0-9]");
    for (std::sregex_iterator at(list.begin(), list.end(), kName), end; at != end; ++at)
      paths.insert("part=" + at->str());
  }
  if (std::regex_search(words, match, std::regex("schema change: \\+ (\\w+ \\w+)")))
    learned.schema = "+" + match[1].str();
  if (std::regex_search(words, match, std::regex("schema change: (\\w+ \\w+ -> \\w+)")))
    learned.schema = match[1];
  return learned;
}

/// Those of 0.x in fields; types are Avro's there.
Learned LearnedFromFields(const json& learn) {
  Learned learned;
  for (const std::string path : learn.at("partitionsAdded")) learned.added.insert(path);
  for (const std::string path : learn.at("partitionsDropped")) learned.dropped.insert(path);
  if (learn.at("schemaChange").is_null()) return learned;
  learned.schema = learn.at("schemaChange");
  learned.schema = std::regex_replace(learned.schema, std::regex("^added column "), "+");
  learned.schema = std::regex_replace(learned.schema, std::regex("long$"), "bigint");
  return learned;
}

Learned LearnedFromGroup(const Group& group) {
  Learned learned;
  for (const auto& partition : group.partitions) {
    if (partition.op == PartitionOp::kAdd) learned.added.insert(partition.path);
    if (partition.op == PartitionOp::kDrop) learned.dropped.insert(partition.path);
  }
  if (!group.schema) return learned;
  for (const auto& diff : group.schema->diff) {
    if (diff.op == change::SchemaOp::kAdd) learned.schema += "+" + diff.path + " " + diff.to;
    if (diff.op == change::SchemaOp::kType)
      learned.schema += diff.path + " " + diff.from + " -> " + diff.to;
  }
  return learned;
}

/// Instants that a step of a story completed.
std::set<std::string> CompletedBy(const json& step) {
  std::set<std::string> files;
  const auto add = [&files](const std::string& file) {
    if (!file.ends_with(".requested") && !file.ends_with(".inflight")) files.insert(file);
  };
  if (step.contains("newInstants"))
    for (const auto& instant : step.at("newInstants")) add(instant.at("file"));
  if (step.contains("newTimelineFiles"))
    for (const std::string file : step.at("newTimelineFiles")) add(file);
  return files;
}

/// "<requested>.<action>" of "<requested>[_<completed>].<action>".
std::string WithoutCompletion(const std::string& file) {
  return std::regex_replace(file, std::regex("_[0-9]+"), "");
}

class StoryTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StoryTest, EachStepTellsWhatItsGeneratorNoted) {
  const std::string name = GetParam();
  const json fixture = json::parse(support::ReadTestdata("hudi/tables/" + name + "/fixture.json"));
  const storage::LocalStore store(FolderOf(name) + "/table", name);
  const auto reading = ReadAll(store, change::Beginning::kActive);
  ASSERT_THAT(reading, IsOk());
  std::map<std::string, const Group*> by_instant;
  for (const Group& group : reading->plan.groups)
    if (group.instant) by_instant[group.instant->requested + "." + group.instant->action] = &group;
  size_t told = 0;
  bool is_first_schema = !reading->plan.groups.at(0).schema;
  for (const json& step : fixture.at("steps")) {
    const bool has_fields = step.contains("learn");
    const std::string what = step.at(has_fields ? "what" : "step");
    SCOPED_TRACE(what);
    for (const auto& file : CompletedBy(step)) {
      const auto found = by_instant.find(WithoutCompletion(file));
      if (found == by_instant.end()) {
        // Only what was rolled back later is no longer there.
        EXPECT_THAT(what, ::testing::HasSubstr("insert p4"));
        continue;
      }
      ++told;
      auto expected = has_fields ? LearnedFromFields(step.at("learn"))
                                 : LearnedFromWords(step.at("subscriberLearns"));
      // The last commit before the rollback is not on the timeline that is read here.
      if (what.find("rollback") != what.npos) expected.dropped.clear();
      auto learned = LearnedFromGroup(*found->second);
      // A table whose properties have no schema tells it whole with the first commit.
      if (is_first_schema && found->second->schema) learned.schema.clear();
      is_first_schema &= !found->second->schema.has_value();
      EXPECT_EQ(TextOf(learned), TextOf(expected));
    }
  }
  EXPECT_EQ(told, by_instant.size());
}

INSTANTIATE_TEST_SUITE_P(Stories, StoryTest,
                         ::testing::Values("c_story_cow_v8", "c_story_cow_v9", "c_story_mor_v9",
                                           "timeline_story_cow", "timeline_story_mor",
                                           "timeline_evolution_datasource"));

/// Puts a table's completed instants into place one by one, in the order of their completion, with
/// their pending files. Data files are there from the beginning, those too that were cleaned since,
/// until their clean completes: an inventory knows files by their names alone.
class LiveTable {
 public:
  explicit LiveTable(const std::string& name)
      : from_(FolderOf(name) + "/table", name), memory_("memory://" + name) {
    const auto table = lake::hudi::Table::Open(from_, columnar::LoadColumnReader, Budget());
    EXPECT_THAT(table, IsOk());
    const auto timeline = table->ReadTimeline({}, Budget());
    EXPECT_THAT(timeline, IsOk());
    std::map<InstantKey, std::string> order;
    for (const auto& instant : timeline->instants) {
      if (instant.state != lake::hudi::State::kCompleted) continue;
      order[KeyOfName(instant.file)] =
          instant.completed.value_or(instant.requested) + instant.action_name;
      Remember(instant);
    }
    const auto all = from_.List("", {.start_after = "", .is_recursive = true}, Budget());
    EXPECT_THAT(all, IsOk());
    for (const auto& object : all->objects) {
      const bool is_timeline =
          object.key.starts_with(".hoodie/") && !object.key.starts_with(".hoodie/metadata/");
      const auto step = is_timeline ? order.find(KeyOfName(object.key)) : order.end();
      if (step == order.end()) {
        Copy(object.key);
      } else {
        steps_[step->second].files.push_back(object.key);
      }
    }
  }

  const storage::ObjectStore& store() const { return memory_; }
  size_t steps_left() const { return steps_.size(); }
  /// Gives the step's name, which ends in the action.
  std::string TakeStep() {
    const auto step = steps_.extract(steps_.begin());
    for (const auto& file : step.mapped().files) Copy(file);
    for (const auto& file : step.mapped().cleaned)
      EXPECT_THAT(memory_.Remove(file, Budget()), IsOk());
    return step.key();
  }

 private:
  struct Step {
    std::vector<std::string> files;
    std::vector<std::string> cleaned;
  };

  /// Empty for what is no instant.
  static InstantKey KeyOfName(const std::string& key) {
    const auto name = lake::hudi::ParseInstantFileName(key.substr(key.rfind('/') + 1));
    if (!name) return {};
    return {name->requested, std::string(ActionName(lake::hudi::ComparableAction(name->action)))};
  }

  /// Puts placeholders where files were cleaned, and notes which clean takes them away.
  void Remember(const lake::hudi::Instant& instant) {
    auto body = from_.Read(instant.file, Budget());
    ASSERT_THAT(body, IsOk());
    const auto facts = lake::hudi::ParseInstantFacts(instant.action, *std::move(body));
    if (!facts) return;  // damaged on purpose
    if (const auto* commit = std::get_if<lake::hudi::CommitStats>(&*facts)) {
      for (const auto& [path, writes] : commit->partitions)
        for (const auto& write : writes) PutPlaceholder(write.path);
    }
    if (const auto* clean = std::get_if<lake::hudi::CleanMetadata>(&*facts)) {
      auto& step = steps_[instant.completed.value_or(instant.requested) + instant.action_name];
      for (const auto& [path, names] : clean->removed)
        for (const auto& name : names)
          step.cleaned.push_back(path.empty() ? name : path + "/" + name);
    }
  }
  void PutPlaceholder(const std::string& key) {
    if (key.empty() || from_.Stat(key, Budget())) return;
    ASSERT_THAT(memory_.Put(key, "", Budget()), IsOk());
  }
  void Copy(const std::string& key) {
    const auto bytes = from_.Read(key, Budget());
    ASSERT_THAT(bytes, IsOk());
    ASSERT_THAT(memory_.Put(key, *bytes, Budget()), IsOk());
  }

  storage::LocalStore from_;
  storage::MemoryStore memory_;
  std::map<std::string, Step> steps_;
};

/// A publisher that is started anew before every other reading remembers only what it stored.
TEST(HudiChangesTest, TablesThatGrowInstantByInstantEndAsTheirSlicesShow) {
  for (const auto& name : TableNames()) {
    SCOPED_TRACE(name);
    LiveTable live(name);
    change::TableState state;
    bool is_paused = false;
    size_t groups = 0;
    size_t step = 0;
    // The timeline of a table with archived instants is never without a commit.
    while (live.TakeStep().find("commit") == std::string::npos) {
    }
    const size_t steps = live.steps_left();
    const auto read = [&](change::PlanOptions options) {
      if (++step % 2 == 0) state.inventory.reset();
      auto reading = ReadChanges(live.store(), columnar::LoadColumnReader, state, options, Hurry());
      ASSERT_THAT(reading, IsOk());
      is_paused = reading->plan.is_paused;
      for (const Group& group : reading->plan.groups) {
        EXPECT_TRUE(!group.table || group.table->reason == change::TableReason::kCreated ||
                    group.table->reason == change::TableReason::kRestored)
            << group.seq << " " << TableReasonName(group.table->reason);
      }
      groups += reading->plan.groups.size();
      state = std::move(reading->plan.after);
    };
    read({});
    while (live.steps_left() > 0) {
      live.TakeStep();
      read({});
    }
    if (is_paused) continue;
    EXPECT_EQ(groups, steps + 1);
    const size_t told = groups;
    read({.wants_reconcile = true});
    EXPECT_EQ(groups, told);
    EXPECT_EQ(SetOf(state.inventory->Partitions()), LivePartitions(live.store()));
  }
}

}  // namespace
}  // namespace tidemark::feed
