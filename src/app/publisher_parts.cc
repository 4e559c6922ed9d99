#include <fmt/format.h>

#include <utility>

#include "app/publisher_parts_internal.h"
#include "base/log.h"
#include "storage/store_uri.h"

namespace tidemark::app {

void MessageBox::Post(PublisherMessage message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  has_message_.notify_all();
}

std::deque<PublisherMessage> MessageBox::Await(Milliseconds nap, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  has_message_.wait_for(lock, nap, [&] { return !messages_.empty() || stop.stop_requested(); });
  return std::exchange(messages_, {});
}

std::vector<std::string> TimelineFoldersOf(const std::string& uri) {
  const auto parsed = storage::ParseStoreUri(uri);
  if (!parsed || parsed->kind != storage::StoreKind::kLocal) return {};
  return {parsed->path + "/.hoodie", parsed->path + "/.hoodie/timeline"};
}

HiddenValues HiddenOf(const Config& config) {
  const auto cluster = config.clusters.find(config.feed->cluster);
  return cluster == config.clusters.end() ? HiddenValues() : cluster->second.hidden;
}

std::optional<RoundResult> RoundOf(const std::vector<std::unique_ptr<TableEntry>>& tables,
                                   const std::map<kafka::PartitionId, Part>& parts,
                                   const std::vector<std::string>& discovery_failures) {
  RoundResult result{.tables = tables.size(), .failures = discovery_failures};
  for (const auto& table : tables) {
    const Part& part = parts.at(table->partition);
    const bool is_idle = !table->is_busy && !table->parcel;
    const bool is_over = table->refusal || part.tries >= kOnceTriesMax ||
                         table->send_tries >= kOnceTriesMax || table->failures >= kOnceTriesMax ||
                         (is_idle && table->failures == 0 && !table->failure.empty());
    if (table->is_told && is_idle) {
      ++result.told;
    } else if (is_over) {
      result.failures.push_back(fmt::format(
          "{}: {}", table->base_path, !table->failure.empty() ? table->failure : part.failure));
    } else {
      return std::nullopt;
    }
    for (const auto& finding : table->findings)
      result.findings.push_back(fmt::format("{}: {}", table->base_path, finding));
  }
  return result;
}

void LogAsked(const TableEntry& table, std::string_view what) {
  Log(LogLevel::kInfo, fmt::format("feed table={}: asked for {}", table.base_path, what));
}

std::vector<feed::LogRecord> NotesOf(kafka::PartitionId id, const Part& part,
                                     const FeedConfig& feed, MonoTime now, WallTime wall) {
  std::vector<api::TableHead> heads;
  std::vector<feed::LogRecord> state;
  for (TableEntry* table : part.tables) {
    if (!table->record || !table->record->cursor || !table->checked) continue;
    const auto& cursor = *table->record->cursor;
    heads.push_back({table->uid, cursor.epoch, cursor.seq, *table->checked});
    if (now < table->head_due || !table->record->snapshot) continue;
    table->head_due = now + feed.head_every;
    state.push_back(feed::HeadOf(*table->record, *table->checked));
  }
  auto records = feed::BookmarkRecords(id, heads, wall, feed.publish.limits);
  for (auto& record : state) records.push_back(std::move(record));
  return records;
}

metrics::FeedTable ReportOf(const TableEntry& table, bool has_series, MonoTime now, WallTime wall) {
  metrics::FeedTable report{.table = table.base_path,
                            .is_parked = table.send_tries > 0,
                            .is_paused = table.record && table.record->is_paused};
  if (!has_series) return report;
  report.send_success_rate = table.window.success_rate(now);
  report.send_latency_p99 = table.window.latency_p99(now);
  if (table.failures == 0) report.unpublished_instants = table.unpublished;
  if (table.oldest_unpublished) report.oldest_unpublished = wall - *table.oldest_unpublished;
  if (table.checked)
    report.check_age = std::chrono::duration_cast<Milliseconds>(now - table.checked_mono);
  return report;
}

}  // namespace tidemark::app
