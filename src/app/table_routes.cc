#include "app/table_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "api/replica_json.h"
#include "base/time_text.h"
#include "http/message.h"

namespace tidemark::app {

namespace {

using feed::MirrorTables;
using http::ErrorResponse;
using http::Knowing;
using http::Pace;
using http::Request;
using http::Response;
using Names = std::vector<std::string>;

constexpr size_t kTablesDefault = 100;
constexpr size_t kTablesMax = 1'000;
constexpr size_t kPartitionsDefault = 1'000;
constexpr size_t kPartitionsMax = 10'000;
constexpr Milliseconds kWaitDefault{10'000};

Response Json(std::string text) {
  return {.body = std::move(text) + "\n", .headers = {}};
}

Response Failed(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kNotFound: return ErrorResponse(404, error.message);
    case ErrorKind::kConflict: return ErrorResponse(409, error.message);
    case ErrorKind::kInvalidArgument: return ErrorResponse(400, error.message);
    default: return ErrorResponse(503, error.message);
  }
}

std::optional<std::string> ParameterOf(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::nullopt : std::optional(found->second);
}

Result<int64_t> NumberOf(const Request& request, const std::string& name, int64_t otherwise,
                         int64_t most) {
  const auto text = ParameterOf(request, name);
  if (!text) return otherwise;
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number < 1 || number > most) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("{} is a whole number from 1 to {}", name, most));
  }
  return number;
}

/// What `wait` waits for.
struct Target {
  std::optional<int64_t> seq;
  std::optional<int64_t> epoch;
  std::string instant;

  bool IsReached(const change::Replica& replica) const {
    if (replica.epoch == 0) return false;
    if (seq) {
      const int64_t wanted = epoch.value_or(replica.epoch);
      return replica.epoch > wanted || (replica.epoch == wanted && replica.seq >= *seq);
    }
    return std::ranges::any_of(replica.instants, [&](const auto& applied) {
      return applied.instant.requested == instant;
    });
  }
};

class TableRoutes {
 public:
  TableRoutes(const MirrorTables* tables, const Clock& clock) : tables_(tables), clock_(clock) {}

  Response List(const Request& request) const {
    if (tables_ == nullptr) return NoMirrorResponse();
    const auto limit = NumberOf(request, "limit", kTablesDefault, kTablesMax);
    if (!limit) return Failed(limit.error());
    const auto count = static_cast<size_t>(*limit);
    auto list = tables_->List(ParameterOf(request, "after").value_or(""), count + 1);
    std::string next;
    if (list.size() > count) {
      list.pop_back();
      next = list.back().uid;
    }
    return Json(api::TablesJson(list, next));
  }

  Response Table(const std::string& name) const {
    return Show(name, [](const api::TableStatus& table, const change::Replica&) {
      return api::TableStatusJson(table);
    });
  }
  Response Schema(const std::string& name) const {
    return Show(name, [](const api::TableStatus& table, const change::Replica& replica) {
      return api::TableSchemaJson(table, replica.schema);
    });
  }
  Response Commit(const std::string& name) const {
    return Show(name, [](const api::TableStatus& table, const change::Replica&) {
      return api::LatestCommitJson(table);
    });
  }

  Response Partitions(const Request& request, const std::string& name) const {
    if (tables_ == nullptr) return NoMirrorResponse();
    const auto limit = NumberOf(request, "limit", kPartitionsDefault, kPartitionsMax);
    if (!limit) return Failed(limit.error());
    const auto uid = tables_->UidOf(name);
    if (!uid) return Failed(uid.error());
    api::TableStatus table;
    std::vector<api::PartitionEntry> entries;
    const auto has_more = tables_->ReadPartitions(*uid, ParameterOf(request, "prefix").value_or(""),
                                                  ParameterOf(request, "after"),
                                                  static_cast<size_t>(*limit), table, entries);
    if (!has_more) return Failed(has_more.error());
    return Json(api::TablePartitionsJson(
        table, entries, *has_more ? std::optional(entries.back().path) : std::nullopt));
  }

  Response Wait(const Request& request, const std::string& name) const {
    if (tables_ == nullptr) return NoMirrorResponse();
    const auto target = TargetOf(request);
    if (!target) return Failed(target.error());
    auto limit = kWaitDefault;
    if (const auto text = ParameterOf(request, "timeout")) {
      const auto duration = ParseDuration(*text);
      if (!duration || *duration > kWaitMax)
        return ErrorResponse(400, "timeout is a duration up to 30s, such as 500ms or 10s");
      limit = *duration;
    }
    const auto uid = tables_->UidOf(name);
    if (!uid) return Failed(uid.error());
    const Slot slot(waits_);
    if (!slot.is_taken()) return ErrorResponse(503, "too many requests wait for commits");
    const MonoTime began = clock_.Mono();
    const bool is_reached = tables_->WaitFor(
        *uid, [&](const change::Replica& replica) { return target->IsReached(replica); },
        began + limit, request.stop);
    const auto waited = std::chrono::duration_cast<Milliseconds>(clock_.Mono() - began);
    return Show(*uid, [&](const api::TableStatus& table, const change::Replica&) {
      return api::WaitJson(table, is_reached, waited);
    });
  }

 private:
  /// One of the places for requests that wait.
  class Slot {
   public:
    explicit Slot(std::atomic<int>& taken) : taken_(taken), is_taken_(++taken <= kWaitsMax) {}
    ~Slot() { --taken_; }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    bool is_taken() const { return is_taken_; }

   private:
    std::atomic<int>& taken_;
    bool is_taken_;
  };

  static Result<Target> TargetOf(const Request& request) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    Target target{.seq = {}, .epoch = {}, .instant = ParameterOf(request, "instant").value_or("")};
    if (request.query.contains("seq")) {
      TRY_ASSIGN(target.seq, NumberOf(request, "seq", 0, kMost));
    }
    if (request.query.contains("epoch")) {
      TRY_ASSIGN(target.epoch, NumberOf(request, "epoch", 0, kMost));
    }
    if (target.seq.has_value() == !target.instant.empty())
      return Fail(ErrorKind::kInvalidArgument, "either instant or seq is wanted");
    if (target.epoch && !target.seq)
      return Fail(ErrorKind::kInvalidArgument, "epoch belongs to a seq");
    return target;
  }

  template <class Text>
  Response Show(const std::string& name, Text text) const {
    if (tables_ == nullptr) return NoMirrorResponse();
    const auto uid = tables_->UidOf(name);
    if (!uid) return Failed(uid.error());
    std::string body;
    const auto read =
        tables_->Read(*uid, [&](const api::TableStatus& table, const change::Replica& replica) {
          body = text(table, replica);
        });
    return read ? Json(std::move(body)) : Failed(read.error());
  }

  const MirrorTables* tables_;
  const Clock& clock_;
  mutable std::atomic<int> waits_ = 0;
};

}  // namespace

http::Response NoMirrorResponse() {
  return ErrorResponse(404, "there is no mirror: give the configuration a 'mirror' section");
}

void AddTableRoutes(http::Router& router, const MirrorTables* tables, const Clock& clock) {
  const auto routes = std::make_shared<const TableRoutes>(tables, clock);
  const auto add = [&](std::string_view pattern, std::initializer_list<std::string_view> known,
                       http::Router::Handler handler, Pace pace = Pace::kAtOnce) {
    router.Add("GET", fmt::format("/api/v1/tables{}", pattern), Knowing(known, std::move(handler)),
               pace);
  };
  add("", {"after", "limit"},
      [routes](const Request& request, const Names&) { return routes->List(request); });
  add("/{table}", {},
      [routes](const Request&, const Names& names) { return routes->Table(names[0]); });
  add("/{table}/schema", {},
      [routes](const Request&, const Names& names) { return routes->Schema(names[0]); });
  add("/{table}/commit", {},
      [routes](const Request&, const Names& names) { return routes->Commit(names[0]); });
  add("/{table}/partitions", {"prefix", "after", "limit"},
      [routes](const Request& request, const Names& names) {
        return routes->Partitions(request, names[0]);
      });
  add(
      "/{table}/wait", {"instant", "seq", "epoch", "timeout"},
      [routes](const Request& request, const Names& names) {
        return routes->Wait(request, names[0]);
      },
      Pace::kMayWait);
}

std::string TableNewsJson(const feed::TableNews& news) {
  return api::TableNewsJson(news.table, news.kind, news.instant, news.partitions_changed);
}

}  // namespace tidemark::app
