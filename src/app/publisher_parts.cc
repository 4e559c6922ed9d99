#include <utility>

#include "app/publisher_parts_internal.h"
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

std::string PlaceOfStore(std::string_view uri) {
  const size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos || uri.starts_with("file:")) return "file";
  return std::string(uri.substr(0, uri.find('/', scheme + 3)));
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
