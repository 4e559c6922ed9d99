/// The resources of a mirror's tables.
#pragma once

#include <memory>

#include "base/clock.h"
#include "feed/mirror_tables.h"
#include "http/router.h"

namespace tidemark::app {

/// Requests that wait for a commit at the same time; more are answered 503. A server that answers
/// them needs more threads than that.
inline constexpr int kWaitsMax = 8;
inline constexpr unsigned kThreadsWithWaits = kWaitsMax + 2;
/// The longest wait that may be asked for.
inline constexpr Milliseconds kWaitMax{30'000};

/// GET below /api/v1: tables, tables/{table}, tables/{table}/schema, …/partitions, …/commit,
/// …/wait. `{table}` is a uid, or a table id or base path that one table alone has. `tables`: null:
/// there is no mirror, and each is 404. Both outlive the router.
void AddTableRoutes(http::Router& router, const feed::MirrorTables* tables, const Clock& clock);

/// 404, and what the configuration lacks.
http::Response NoMirrorResponse();

/// What listeners are told, one line.
std::string TableNewsJson(const feed::TableNews& news);

}  // namespace tidemark::app
