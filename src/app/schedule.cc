#include "app/schedule.h"

#include <algorithm>
#include <cstdint>

namespace tidemark::app {

namespace {

/// FNV-1a: the same on every machine and in every run, so that instances agree on the moments.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace

MonoTime Schedule::NextMoment(std::string_view name, Milliseconds interval, MonoTime now) const {
  const auto moment = static_cast<int64_t>(HashOf(name) % kMomentsPerInterval);
  const std::chrono::nanoseconds length = interval;
  const std::chrono::nanoseconds phase = length * moment / kMomentsPerInterval;
  const std::chrono::nanoseconds since_begin = now.time_since_epoch() - phase;
  auto rounds = since_begin / length;
  if (since_begin.count() < 0) --rounds;
  return MonoTime(std::chrono::duration_cast<MonoTime::duration>(length * (rounds + 1) + phase));
}

void Schedule::Set(const std::vector<Entry>& entries, MonoTime now) {
  std::map<std::string, Plan, std::less<>> plans;
  for (const Entry& entry : entries) {
    Plan plan{.interval = entry.interval, .due = now};
    if (const auto known = plans_.find(entry.name); known != plans_.end()) {
      plan = known->second;
      if (plan.interval != entry.interval) {
        plan.interval = entry.interval;
        plan.due = std::min(plan.due, NextMoment(entry.name, entry.interval, now));
      }
    }
    plans.insert_or_assign(entry.name, plan);
  }
  plans_ = std::move(plans);
}

bool Schedule::WakeUp(std::string_view name, MonoTime now) {
  const auto found = plans_.find(name);
  if (found == plans_.end()) return false;
  Plan& plan = found->second;
  if (plan.is_running) {
    plan.is_woken = true;
  } else {
    plan.due = std::min(plan.due, now);
  }
  return true;
}

std::vector<std::string> Schedule::TakeDue(MonoTime now) {
  std::vector<std::pair<MonoTime, std::string>> due;
  for (auto& [name, plan] : plans_) {
    if (plan.is_running || plan.due > now) continue;
    plan.is_running = true;
    plan.is_woken = false;
    due.emplace_back(plan.due, name);
  }
  std::ranges::sort(due);
  std::vector<std::string> names;
  for (auto& [when, name] : due) names.push_back(std::move(name));
  return names;
}

size_t Schedule::Done(std::string_view name, MonoTime now) {
  const auto found = plans_.find(name);
  if (found == plans_.end()) return 0;
  Plan& plan = found->second;
  const MonoTime next = NextMoment(name, plan.interval, now);
  const auto passed = (next - NextMoment(name, plan.interval, plan.due)) / plan.interval;
  plan.is_running = false;
  plan.due = plan.is_woken ? now : next;
  plan.is_woken = false;
  return passed > 0 ? static_cast<size_t>(passed) : 0;
}

std::optional<MonoTime> Schedule::NextDue() const {
  std::optional<MonoTime> next;
  for (const auto& [name, plan] : plans_)
    if (!plan.is_running && (!next || plan.due < *next)) next = plan.due;
  return next;
}

}  // namespace tidemark::app
