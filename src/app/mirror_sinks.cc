#include "app/mirror_sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "api/change_json.h"
#include "app/sink_view.h"
#include "app/table_routes.h"
#include "base/budget.h"
#include "lake/hudi/table.h"

namespace tidemark::app {

namespace {

using lake::hudi::TableProperties;

/// How often it is looked whether the mirror is ready.
constexpr Milliseconds kReadyEvery{100};

/// What is remembered of one table.
struct Remembered {
  std::shared_ptr<const TableProperties> properties{};
  int64_t epoch = 0;  // that `properties` are of
  int table_version = 0;
  std::shared_ptr<const sink::TableNow> now{};
  std::deque<change::Group> groups{};  // of one epoch, without a gap
};

class Source final : public SinkSource {
 public:
  Source(const Config& config, const FreshnessEdges& edges, const feed::MirrorTables& tables)
      : config_(config), edges_(edges), tables_(tables) {}

  void Keep(const std::string& uid, const change::Group& group) {
    const std::scoped_lock lock(mutex_);
    auto& groups = remembered_[uid].groups;
    const bool follows =
        !groups.empty() && groups.back().epoch == group.epoch && groups.back().seq + 1 == group.seq;
    if (!follows) groups.clear();
    groups.push_back(group);
    if (groups.size() > kSinkGroupsKept) groups.pop_front();
  }

  Result<std::shared_ptr<const sink::TableNow>> Read(const std::string& uid,
                                                     const Budget& budget) override {
    TRY_ASSIGN(change::Replica head, Head(uid));
    {
      const std::scoped_lock lock(mutex_);
      const auto& known = remembered_[uid].now;
      if (known != nullptr && known->stamp == sink::SinkStamp{head.epoch, head.seq}) return known;
    }
    TRY_ASSIGN(const auto properties, PropertiesOf(uid, head, budget));
    auto now = std::make_shared<sink::TableNow>();
    TRY(tables_.Read(uid, [&](const api::TableStatus&, const change::Replica& replica) {
      FillFrom(replica, *now);
    }));
    FillFromProperties(*properties, *now);
    const std::scoped_lock lock(mutex_);
    auto& remembered = remembered_[uid];
    FillEvents(remembered.groups, *properties, *now);
    remembered.now = now;
    return now;
  }

 private:
  /// The replica without its partitions. kNotFound while it is not whole.
  Result<change::Replica> Head(const std::string& uid) const {
    change::Replica head;
    TRY(tables_.Read(uid, [&](const api::TableStatus&, const change::Replica& replica) {
      if (replica.held_for) return;
      head.epoch = replica.epoch;
      head.seq = replica.seq;
      head.base_path = replica.base_path;
      head.table_version = replica.table_version;
      head.is_dropped = replica.is_dropped;
      head.table_id = replica.table_id;
    }));
    if (head.epoch == 0) return Fail(ErrorKind::kNotFound, "the table is not whole yet");
    return head;
  }

  Result<std::shared_ptr<const TableProperties>> PropertiesOf(const std::string& uid,
                                                              const change::Replica& head,
                                                              const Budget& budget) {
    {
      const std::scoped_lock lock(mutex_);
      const auto& known = remembered_[uid];
      const bool is_same = known.epoch == head.epoch && known.table_version == head.table_version;
      // Of one that is gone what was known is all there is.
      if (known.properties != nullptr && (is_same || head.is_dropped)) return known.properties;
    }
    const StoreConfig& store = StoreFor(config_, head.base_path);
    const auto hidden = [&](Error error) {
      return std::unexpected(
          store.hidden.Hide(std::move(error).With("the table's properties are wanted")));
    };
    auto opened = edges_.open_store(head.base_path, store.options);
    if (!opened) return hidden(std::move(opened).error());
    auto table = lake::hudi::Table::Open(**opened, edges_.columns, budget);
    // A commit that makes the table can be told before the store shows its properties.
    if (!table && table.error().kind == ErrorKind::kNotFound && !head.is_dropped)
      return hidden({ErrorKind::kUnavailable, table.error().message});
    if (!table) return hidden(std::move(table).error());
    auto properties = std::make_shared<const TableProperties>(table->properties());
    const std::scoped_lock lock(mutex_);
    auto& remembered = remembered_[uid];
    remembered.properties = properties;
    remembered.epoch = head.epoch;
    remembered.table_version = head.table_version;
    return properties;
  }

  static void FillFrom(const change::Replica& replica, sink::TableNow& now) {
    now.stamp = {replica.epoch, replica.seq};
    now.view.identity.uid = replica.uid;
    now.view.identity.table_id = replica.table_id;
    now.view.identity.base_path = replica.base_path;
    now.view.table_version = replica.table_version;
    now.view.schema = replica.schema;
    now.view.schema_version = replica.schema_version;
    now.view.is_dropped = replica.is_dropped;
    if (replica.latest) {
      now.view.last_commit_requested = replica.latest->instant.requested;
      now.view.last_commit_completed = replica.latest->completed;
    }
    now.view.last_commit_at = replica.newest_time;
    now.partitions.reserve(replica.partitions.size());
    for (const auto& [path, seq] : replica.partitions)
      now.partitions.push_back({.partition = {.path = path}, .seq = seq});
  }

  static void FillEvents(const std::deque<change::Group>& groups, const TableProperties& properties,
                         sink::TableNow& now) {
    now.events_from_seq = now.stamp.seq;
    if (groups.empty() || groups.back().epoch != now.stamp.epoch) return;
    // The mirror may be further than what was read, or what was read further than its news.
    if (groups.back().seq < now.stamp.seq) return;
    now.events_from_seq = groups.front().seq - 1;
    for (const auto& group : groups) {
      if (group.seq > now.stamp.seq) break;
      for (auto& event : api::ChangeEvents(now.view.identity, properties, group, {}))
        now.events.push_back({group.seq, std::move(event.body)});
    }
  }

  const Config& config_;
  const FreshnessEdges& edges_;
  const feed::MirrorTables& tables_;
  std::mutex mutex_;
  std::map<std::string, Remembered> remembered_;  // guarded by mutex_; by uid
};

class Running final : public MirrorSinks {
 public:
  Running(const Config& config, const FreshnessEdges& edges, const feed::MirrorTables& tables,
          std::function<bool()> is_ready)
      : tables_(tables),
        is_ready_(std::move(is_ready)),
        source_(config, edges, tables),
        wants_events_(
            std::ranges::any_of(config.mirror->sinks.sinks,
                                [](const auto& each) { return sink::WantsEvents(each.target); })),
        lanes_(config.mirror->sinks, source_, *edges.clock) {
    if (!config.mirror->sinks.sinks.empty())
      waiting_ = std::jthread([this](const std::stop_token& stop) { AwaitReady(stop); });
  }

  void TakeAll() override {
    for (const auto& table : tables_.List("", tables_.table_count()))
      lanes_.Note({table.uid, table.table_id, table.base_path});
  }

  void Take(const feed::TableNews& news) override {
    if (wants_events_ && news.group) source_.Keep(news.table.uid, *news.group);
    lanes_.Note({news.table.uid, news.table.table_id, news.table.base_path});
  }

  Status Resume(const std::string& sink, const std::string& uid) override {
    return lanes_.Resume(sink, uid);
  }
  std::vector<metrics::SinkHealth> Health() const override { return lanes_.Health(); }
  std::vector<SinkState> States(bool with_running) const override {
    return lanes_.States(with_running);
  }

 private:
  /// The mirror tells no news before it is ready.
  void AwaitReady(const std::stop_token& stop) {
    while (!is_ready_() && WaitUnlessStopped(kReadyEvery, stop)) {
    }
    if (!stop.stop_requested()) TakeAll();
  }

  const feed::MirrorTables& tables_;
  const std::function<bool()> is_ready_;
  Source source_;
  const bool wants_events_;
  SinkLanes lanes_;
  std::jthread waiting_;  // the last: it uses what stands above
};

}  // namespace

std::unique_ptr<MirrorSinks> MirrorSinks::Start(const Config& config, const FreshnessEdges& edges,
                                                const feed::MirrorTables& tables,
                                                std::function<bool()> is_ready) {
  return std::make_unique<Running>(config, edges, tables, std::move(is_ready));
}

void AddSinkRoutes(http::Router& router, MirrorSinks* sinks) {
  using http::Request;
  using http::Response;
  using Names = std::vector<std::string>;
  router.Add("GET", "/api/v1/sinks", http::Knowing({}, [=](const Request&, const Names&) {
               if (sinks == nullptr) return NoMirrorResponse();
               return Response{.body = SinksJson(*sinks) + "\n", .headers = {}};
             }));
  router.Add("POST", "/api/v1/sinks/{sink}/tables/{uid}/resume",
             http::Knowing({}, [=](const Request&, const Names& names) {
               if (sinks == nullptr) return NoMirrorResponse();
               if (const auto status = sinks->Resume(names.at(0), names.at(1)); !status)
                 return http::ErrorResponse(404, status.error().message);
               return Response{.body = "{\"status\":\"ok\"}\n", .headers = {}};
             }));
}

std::string SinksJson(const MirrorSinks& sinks) {
  using nlohmann::ordered_json;
  ordered_json json = {{"schema", "tidemark.sinks/1"},
                       {"sinks", ordered_json::array()},
                       {"held", ordered_json::array()}};
  for (const auto& health : sinks.Health()) {
    json["sinks"].push_back({{"sink", health.name},
                             {"tables", health.tables},
                             {"behind", health.behind},
                             {"paused", health.paused},
                             {"quarantined", health.quarantined},
                             {"applied", health.applied},
                             {"failures", health.failures}});
  }
  for (const auto& state : sinks.States(/*with_running=*/false)) {
    json["held"].push_back(
        {{"sink", state.sink},
         {"uid", state.table.uid},
         {"table", state.table.table_id},
         {"mode", sink::SinkModeName(state.pace.mode)},
         {"failures", state.pace.failures},
         {"reason", state.pace.reason},
         {"cure", state.pace.cure.empty() ? ordered_json() : ordered_json(state.pace.cure)}});
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace tidemark::app
