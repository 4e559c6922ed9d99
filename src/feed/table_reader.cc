#include "feed/table_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lake/hudi/archive.h"
#include "lake/hudi/instant_facts.h"
#include "lake/hudi/table.h"

namespace tidemark::feed {

namespace {

/// So many bodies that cannot be read are waited for: only a few can be in the act of being
/// written.
constexpr int kBodyWaitsMax = 8;

using change::BodyState;
using change::InstantEffect;
using change::TableFacts;
using lake::hudi::Action;
using lake::hudi::Instant;
using lake::hudi::State;
using lake::hudi::Timeline;

/// Reads one table once. Borrows everything.
class Reading {
 public:
  Reading(const storage::ObjectStore& store, const lake::ColumnReaderSource& columns,
          bool is_last_try, const Budget& budget)
      : store_(store), columns_(columns), is_last_try_(is_last_try), budget_(budget) {}

  /// kConflict: begin anew.
  Result<TableReading> Make(const change::TableState& state, const change::PlanOptions& options) {
    TRY_ASSIGN(const auto table, lake::hudi::Table::Open(store_, columns_, budget_));
    facts_.properties = table.properties();
    TRY_ASSIGN(facts_.timeline, table.ReadTimeline({}, budget_));
    while (true) {
      const auto needs = NeedsOf(state, facts_, options);
      if (needs.is_empty()) break;
      for (const Instant& instant : needs.bodies) TRY(ReadBody(instant));
      if (needs.archive_from) TRY(ReadArchive(*needs.archive_from));
      if (needs.listing) TRY(ReadListing(table));
    }
    auto plan = PlanChanges(state, facts_, options);
    for (auto& finding : facts_.timeline.findings) plan.findings.push_back(std::move(finding));
    return TableReading{.properties = std::move(facts_.properties), .plan = std::move(plan)};
  }

 private:
  Status ReadBody(const Instant& instant) {
    for (int next_try = 2;; ++next_try) {
      auto body = store_.ReadUpTo(instant.file, lake::hudi::kCommitBodySizeMax, budget_);
      if (!body && body.error().kind == ErrorKind::kNotFound) return TakeAbsent(instant);
      if (!body && body.error().kind != ErrorKind::kExhausted) return internal::Pass(body);
      // In layout 1 a file is there before its bytes are (change-feed §2.2, inotify).
      const bool is_empty = body && body->empty() && IsCommitAction(instant.action);
      auto facts = body ? lake::hudi::ParseInstantFacts(instant.action, *std::move(body))
                        : Result<lake::hudi::InstantFacts>(internal::Pass(body));
      if (facts && !is_empty) {
        Keep(change::MakeEffect(instant, *std::move(facts)));
        return {};
      }
      if (next_try <= kBodyTriesMax && waits_left_ > 0 && budget_.WaitForTry(next_try)) continue;
      TRY(budget_.Check());
      --waits_left_;
      Keep(is_empty
               ? change::MakeUnreadable(instant, BodyState::kEmpty, "the file is empty")
               : change::MakeUnreadable(instant, BodyState::kUnreadable, facts.error().message));
      return {};
    }
  }

  /// Gone since it was listed; or, where it is listed again and again, no file at all.
  Status TakeAbsent(const Instant& instant) {
    if (!is_last_try_) return Fail(ErrorKind::kConflict, "the instant is gone: " + instant.file);
    Keep(change::MakeUnreadable(instant, BodyState::kUnreadable,
                                "it is listed, and no file that can be read"));
    return {};
  }

  void Keep(InstantEffect effect) {
    auto key = change::KeyOf(effect.instant);
    facts_.bodies.insert_or_assign(std::move(key), std::move(effect));
  }

  Status ReadArchive(const std::string& from) {
    TRY_ASSIGN(auto walk, lake::hudi::ArchiveWalk::Open(store_, facts_.properties, columns_,
                                                        {.with_facts = true}, budget_));
    change::ArchiveFacts archive;
    while (true) {
      TRY_ASSIGN(auto archived, walk.Next(budget_));
      if (!archived || archived->instant.requested < from) break;
      if (archived->instant.state != State::kCompleted) continue;
      archive.instants.push_back(
          archived->defect.empty()
              ? change::MakeEffect(archived->instant, std::move(archived->facts))
              : change::MakeUnreadable(archived->instant, BodyState::kUnreadable,
                                       archived->defect));
    }
    std::ranges::reverse(archive.instants);
    auto findings = walk.TakeFindings();
    // Whatever is odd about an archive may hide instants.
    archive.is_whole = walk.is_whole() && findings.empty();
    for (auto& finding : findings) facts_.timeline.findings.push_back(std::move(finding));
    facts_.archive = std::move(archive);
    return {};
  }

  Status ReadListing(const lake::hudi::Table& table) {
    TRY_ASSIGN(auto listing, lake::hudi::ListPartitions(store_, {}, budget_));
    TRY_ASSIGN(const auto now, table.ReadTimeline({}, budget_));
    if (!IsListingGood(facts_.timeline, now))
      return Fail(ErrorKind::kConflict, "the table changed while it was listed");
    facts_.listing = std::move(listing);
    return {};
  }

  /// New commits only add files of instants that do not count yet. What was removed under the
  /// listing would be missing from it.
  static bool IsListingGood(const Timeline& before, const Timeline& after) {
    const auto states_of = [](const Timeline& timeline) {
      std::map<std::pair<std::string, std::string>, State> states;
      for (const auto& instant : timeline.instants)
        states[{instant.requested, instant.action_name}] = instant.state;
      return states;
    };
    const auto had = states_of(before);
    const auto has = states_of(after);
    const bool is_kept = std::ranges::all_of(had, [&](const auto& entry) {
      return entry.second != State::kCompleted || has.contains(entry.first);
    });
    return is_kept && std::ranges::none_of(after.instants, [&](const Instant& instant) {
             const bool removes = instant.action == Action::kClean ||
                                  instant.action == Action::kRollback ||
                                  instant.action == Action::kRestore;
             const auto known = had.find({instant.requested, instant.action_name});
             return removes && (known == had.end() || known->second != instant.state);
           });
  }

  const storage::ObjectStore& store_;
  const lake::ColumnReaderSource& columns_;
  bool is_last_try_;
  const Budget& budget_;
  int waits_left_ = kBodyWaitsMax;
  TableFacts facts_;
};

}  // namespace

Result<TableReading> ReadChanges(const storage::ObjectStore& store,
                                 const lake::ColumnReaderSource& columns,
                                 const change::TableState& state,
                                 const change::PlanOptions& options, const Budget& budget) {
  for (int next_try = 2;; ++next_try) {
    const bool is_last_try = next_try > kReadingTriesMax;
    auto reading = Reading(store, columns, is_last_try, budget).Make(state, options);
    if (reading || reading.error().kind != ErrorKind::kConflict || is_last_try) return reading;
    TRY(budget.Check());
  }
}

}  // namespace tidemark::feed
