// Random histories of a table, from its timeline to a subscriber: whatever happened, what the
// subscriber holds after the groups of each reading is what a reader of the table sees. The groups
// go the whole way: planned, rendered, parsed, delivered with repeats and losses.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/change_json.h"
#include "api/change_parse.h"
#include "change/planner.h"
#include "change/subscriber.h"
#include "support/table_history.h"

namespace tidemark::api {
namespace {

using support::TableHistory;

/// Of each of the seeds below: 10,000 in all.
constexpr int kHistories = 1'000;
constexpr int kStepsMax = 60;

/// Numbers for one history, drawn in order; zeros at the end, so that shrinking ends it.
class Numbers {
 public:
  explicit Numbers(const std::vector<uint8_t>& numbers) : numbers_(numbers) {}
  int operator()(int below) {
    return next_ < numbers_.size() ? numbers_[next_++] % below : 0;
  }
  bool is_over() const { return next_ >= numbers_.size(); }

 private:
  const std::vector<uint8_t>& numbers_;
  size_t next_ = 0;
};

/// What the table's publisher and one subscriber do.
class Feed {
 public:
  /// What went wrong; empty: nothing.
  const std::string& trouble() const { return trouble_; }

  /// The publisher reads and sends; some events come twice, and where `loses` the first is lost.
  void Publish(const TableHistory& table, change::PlanOptions options, bool loses) {
    options.wants_snapshot = options.wants_snapshot || subscriber_.relist().has_value();
    auto facts = table.Facts();
    for (int asked = 0;; ++asked) {
      const auto needs = NeedsOf(state_, facts, options);
      if (needs.is_empty()) break;
      if (asked > 10) {
        trouble_ = "the planner never has enough";
        return;
      }
      for (const auto& instant : needs.bodies) {
        const auto key = change::KeyOf(instant);
        facts.bodies[key] = table.Body(key);
      }
      if (needs.archive_from) facts.archive = table.ArchiveFrom(*needs.archive_from);
      if (needs.listing) facts.listing = table.Listing();
    }
    auto plan = PlanChanges(state_, facts, options);
    is_paused_ = plan.is_paused;
    state_ = std::move(plan.after);
    if (is_paused_) return;
    if (!state_.inventory && !state_.cursor) trouble_ = "no state after a plan";
    auto snapshot = plan.snapshots.begin();
    for (const auto& group : plan.groups) {
      CheckOrder(group);
      Send(ChangeEvents(identity_, facts.properties, group, limits_), loses);
      loses = false;
      for (; snapshot != plan.snapshots.end() && snapshot->epoch == group.epoch &&
             snapshot->as_of_seq == group.seq;
           ++snapshot)
        Send(SnapshotEvents(identity_, facts.properties, *snapshot, limits_), false);
    }
    for (; snapshot != plan.snapshots.end(); ++snapshot)
      Send(SnapshotEvents(identity_, facts.properties, *snapshot, limits_), false);
    // As a bookmark says it; and then time passes.
    if (state_.cursor) subscriber_.NoteHead(state_.cursor->epoch, state_.cursor->seq);
    subscriber_.Tick(now_);
    now_ += std::chrono::seconds(61);
    subscriber_.Tick(now_);
  }

  /// The publisher starts anew with what it has stored.
  void RestartPublisher() { state_.inventory.reset(); }
  void RestartSubscriber() { subscriber_ = change::Subscriber(subscriber_.replica()); }

  /// Compares with what a reader sees, where it can be compared.
  void Compare(const TableHistory& table) {
    if (is_paused_ || subscriber_.relist() || !trouble_.empty()) return;
    const auto& replica = subscriber_.replica();
    if (state_.cursor && replica.seq != state_.cursor->seq) {
      trouble_ = fmt::format("stopped at {}.{} of {}.{}", replica.epoch, replica.seq,
                             state_.cursor->epoch, state_.cursor->seq);
      return;
    }
    std::set<std::string> held;
    for (const auto& [path, seq] : replica.partitions) held.insert(path);
    const auto seen = table.Partitions();
    if (held != seen) {
      trouble_ = "partitions:";
      for (const auto& path : held) trouble_ += " " + path;
      trouble_ += " instead of";
      for (const auto& path : seen) trouble_ += " " + path;
      return;
    }
    const auto& columns = replica.schema.columns;
    const std::string column = columns.empty() ? "" : columns[0].name;
    if (column != table.Column())
      trouble_ = fmt::format("schema: '{}' instead of '{}'", column, table.Column());
  }
  bool is_waiting() const { return subscriber_.relist().has_value(); }
  bool is_paused() const { return is_paused_; }

 private:
  void CheckOrder(const change::Group& group) {
    const auto at = std::pair(group.epoch, group.seq);
    const bool follows = (at.first == at_.first && at.second == at_.second + 1) ||
                         (at.first > at_.first && at.second == 1);
    if (!follows) trouble_ = fmt::format("group {}.{} after {}.{}", at.first, at.second, at_.first,
                                         at_.second);
    at_ = at;
  }
  void Send(const std::vector<ChangeEvent>& events, bool loses) {
    for (const auto& event : events) {
      if (loses) {
        loses = false;
        continue;
      }
      for (int times = 0; times < 2; ++times) {
        auto part = ParseChangeEvent(event.body);
        if (!part) {
          trouble_ = "cannot be read: " + part.error().message + " " + event.body;
          return;
        }
        for (const auto& decision : subscriber_.Take(*std::move(part), now_)) {
          if (decision.kind == change::DecisionKind::kMismatch ||
              decision.kind == change::DecisionKind::kConflict ||
              decision.kind == change::DecisionKind::kBroken)
            trouble_ = fmt::format("decision {} at {}", static_cast<int>(decision.kind), event.id);
        }
      }
    }
  }

  TableIdentity identity_{.uid = "0123456789abcdef", .table_id = "t", .base_path = "file:///t"};
  EventLimits limits_{.partitions_max = 2};
  change::TableState state_;
  change::Subscriber subscriber_;
  MonoTime now_{};
  std::pair<int64_t, int64_t> at_{0, 0};
  bool is_paused_ = false;
  std::string trouble_;
};

void Step(TableHistory& table, Feed& feed, const TableHistory::Draw& draw) {
  switch (draw(24)) {
    case 0: case 1: case 2: case 3: table.Write(draw, true); break;
    case 4: case 5: table.Write(draw, false); break;
    case 6: case 7: table.Overwrite(draw, true); break;
    case 8: table.Overwrite(draw, false); break;
    case 9: table.Compact(draw, draw(2) == 0); break;
    case 10: case 11: table.CompleteOne(draw); break;
    case 12: table.RollBackPending(draw); break;
    case 13: table.RollBackCompleted(draw); break;
    case 14: table.Save(); break;
    case 15: table.BeginRestore(); break;
    case 16: table.Clean(); break;
    case 17: table.Archive(1 + draw(4), draw(4) != 0); break;
    case 18: table.Upgrade(); break;
    case 19: if (draw(3) == 0) table.Recreate(); break;
    case 20: table.WriteNothing(draw(2) == 0 ? change::BodyState::kEmpty
                                             : change::BodyState::kUnreadable); break;
    case 21: feed.RestartPublisher(); break;
    case 22: feed.RestartSubscriber(); break;
    default: break;
  }
  // A restore may be met half way.
  if (table.is_restoring() && draw(2) == 0) table.EndRestore();
}

std::string RunHistory(const std::vector<uint8_t>& numbers) {
  Numbers left(numbers);
  const TableHistory::Draw draw = [&](int below) { return left(below); };
  TableHistory table(draw(2) == 0 ? 6 : 8);
  Feed feed;
  for (int step = 0; step < kStepsMax && !left.is_over(); ++step) {
    Step(table, feed, draw);
    // The publisher looks now and then.
    if (draw(3) != 0) continue;
    change::PlanOptions options{.with_touches = draw(2) == 0};
    options.wants_snapshot = draw(6) == 5;
    options.wants_reconcile = draw(6) == 5;
    feed.Publish(table, options, draw(5) == 4);
    feed.Compare(table);
    if (!feed.trouble().empty())
      return fmt::format("step {}: {}\n{}", step, feed.trouble(), table.Describe());
  }
  table.EndRestore();
  feed.Publish(table, {}, false);
  feed.Publish(table, {}, false);
  feed.Compare(table);
  if (feed.is_paused() || feed.is_waiting()) return "never in step\n" + table.Describe();
  if (feed.trouble().empty()) return {};
  return fmt::format("at the end: {}\n{}", feed.trouble(), table.Describe());
}

class ChangeHistoriesTest : public ::testing::TestWithParam<int> {};

TEST_P(ChangeHistoriesTest, ASubscriberHoldsWhatAReaderSees) {
  rc::detail::TestParams params;
  params.seed = 20'260'131 + static_cast<uint64_t>(GetParam());
  params.maxSuccess = kHistories;
  params.maxSize = 300;
  const auto result = rc::detail::checkTestable(
      [] {
        const auto numbers = *rc::gen::arbitrary<std::vector<uint8_t>>();
        const auto trouble = RunHistory(numbers);
        if (!trouble.empty()) RC_FAIL(trouble);
      },
      rc::detail::TestMetadata{"ChangeHistories", "a subscriber holds what a reader sees"}, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChangeHistoriesTest, ::testing::Range(0, 10));

}  // namespace
}  // namespace tidemark::api
