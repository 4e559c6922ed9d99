// All that can happen to a subscriber of a small history, exhaustively: every state that any
// sequence of deliveries, repeats, losses, restarts and waits of any length can lead to is visited,
// and in each one the promises of change-feed §4.5 are checked.
//
// The history: epoch 1 is created with a snapshot, a commit of two parts, one of three, and a
// snapshot of two pages; then the table is restored, so that epoch 2 begins with a snapshot. The
// moves from each state: any one of the 7 parts, any one of the 4 pages, a part that bears a known
// id and says something else, a restart with what was stored, and a wait that is longer than every
// patience. Losses are moves that are not made.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "change/subscriber.h"
#include "support/change_publisher.h"

namespace tidemark::change {
namespace {

using support::ChangePublisher;
using support::PagesOf;
using support::PartsOf;

using Place = std::pair<int64_t, int64_t>;

constexpr Milliseconds kLongWait{61'000};

struct Truth {
  std::vector<std::string> partitions;
  std::string fingerprint;
};

struct History {
  std::map<Place, Truth> truth;
  std::vector<EventPart> events;  // as the topic has them
  std::vector<EventPart> pages;
  std::vector<EventPart> newest_pages;
  EventPart forged;
  Place head;
};

class HistoryBuilder {
 public:
  History Make() {
    publisher_.SetColumn("x");
    Add(publisher_.Tell(TableReason::kCreated));
    Snap(1);
    Add(publisher_.Commit({"+a"}));
    history_.forged = history_.events[1];
    history_.forged.detail += " forged";
    ++history_.forged.body_hash;
    Add(publisher_.Commit({"+b", "~a"}));
    Snap(1);
    Add(publisher_.NextEpoch(TableReason::kRestored, {"a"}));
    Snap(1);
    history_.newest_pages = PagesOf(publisher_.Snapshot(), 1);
    history_.head = {publisher_.epoch(), publisher_.seq()};
    return std::move(history_);
  }

 private:
  void Add(const Group& group) {
    for (auto& part : PartsOf(group)) history_.events.push_back(std::move(part));
    history_.truth[{group.epoch, group.seq}] = {
        {publisher_.partitions().begin(), publisher_.partitions().end()},
        publisher_.schema().fingerprint};
  }
  void Snap(size_t page_size) {
    for (auto& page : PagesOf(publisher_.Snapshot(), page_size))
      history_.pages.push_back(std::move(page));
  }
  ChangePublisher publisher_;
  History history_;
};

struct Visit {
  Subscriber subscriber;
  MonoTime now{};
  std::string text() const { return subscriber.Describe(now); }
};

Place PlaceOf(const Subscriber& subscriber) {
  return {subscriber.replica().epoch, subscriber.replica().seq};
}

class Explorer {
 public:
  explicit Explorer(History history) : history_(std::move(history)) {}

  /// Visits everything; how many states there are.
  size_t Run() {
    Reach({Subscriber(), MonoTime{}});
    while (!frontier_.empty() && !::testing::Test::HasFatalFailure()) {
      const Visit from = std::move(frontier_.front());
      frontier_.pop_front();
      CheckTruth(from);
      CheckHealing(from);
      for (const auto* list : {&history_.events, &history_.pages})
        for (const auto& event : *list) Deliver(from, event);
      Deliver(from, history_.forged);
      Reach({Subscriber(from.subscriber.replica()), from.now});
      Visit waited = from;
      waited.now += kLongWait;
      waited.subscriber.Tick(waited.now);
      CheckPatience(waited);
      Reach(std::move(waited));
    }
    return seen_.size();
  }

 private:
  void Reach(Visit visit) {
    if (seen_.insert(visit.text()).second) frontier_.push_back(std::move(visit));
  }

  void Deliver(const Visit& from, const EventPart& event) {
    Visit to = from;
    to.subscriber.Take(event, to.now);
    EXPECT_GE(PlaceOf(to.subscriber), PlaceOf(from.subscriber)) << from.text();
    Reach(std::move(to));
  }

  /// What is held is what the table was after some group, whole: never a mixture.
  void CheckTruth(const Visit& visit) const {
    const Replica& replica = visit.subscriber.replica();
    if (replica.epoch == 0) {
      ASSERT_TRUE(replica.partitions.empty());
      return;
    }
    const auto truth = history_.truth.find(PlaceOf(visit.subscriber));
    ASSERT_NE(truth, history_.truth.end()) << visit.text();
    std::vector<std::string> paths;
    for (const auto& [path, seq] : replica.partitions) paths.push_back(path);
    ASSERT_EQ(paths, truth->second.partitions) << visit.text();
    ASSERT_EQ(replica.schema.fingerprint, truth->second.fingerprint) << visit.text();
  }

  /// From wherever it is: the newest snapshot brings it into step; and without it, so does all that
  /// the two topics hold.
  void CheckHealing(const Visit& visit) const {
    Visit listed = visit;
    for (const auto& page : history_.newest_pages) listed.subscriber.Take(page, listed.now);
    ASSERT_EQ(PlaceOf(listed.subscriber), history_.head) << visit.text();
    ASSERT_EQ(listed.subscriber.relist(), std::nullopt) << visit.text();
    ASSERT_EQ(listed.subscriber.waiting_groups(), 0u) << visit.text();
    ASSERT_EQ(listed.subscriber.waiting_bytes(), 0u) << visit.text();
    Visit restarted{Subscriber(visit.subscriber.replica()), visit.now};
    for (const auto& page : history_.pages) restarted.subscriber.Take(page, restarted.now);
    for (const auto& event : history_.events) restarted.subscriber.Take(event, restarted.now);
    const bool is_held_at_head =
        restarted.subscriber.is_held() && PlaceOf(visit.subscriber).first == history_.head.first;
    if (!is_held_at_head) {
      ASSERT_EQ(PlaceOf(restarted.subscriber), history_.head) << visit.text();
    }
  }

  /// Nothing waits for ever without asking for help.
  static void CheckPatience(const Visit& waited) {
    const bool is_stuck =
        waited.subscriber.waiting_groups() > 1 ||
        (waited.subscriber.waiting_groups() == 1 && waited.subscriber.is_held());
    if (is_stuck) {
      ASSERT_NE(waited.subscriber.relist(), std::nullopt) << waited.text();
    }
  }

  History history_;
  std::unordered_set<std::string> seen_;
  std::deque<Visit> frontier_;
};

TEST(SubscriberExplorationTest, EveryStateOfASmallHistoryIsATrueOneAndHeals) {
  const size_t states = Explorer(HistoryBuilder().Make()).Run();
  RecordProperty("states", static_cast<int>(states));
  fmt::print("states visited: {}\n", states);
  EXPECT_GT(states, 1'000u);
}

}  // namespace
}  // namespace tidemark::change
