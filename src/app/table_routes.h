/// The resources of a mirror's tables.
#pragma once

#include <memory>

#include "base/clock.h"
#include "feed/mirror_tables.h"
#include "http/router.h"

namespace tidemark::app {

/// Requests that wait for a commit at the same time; more are answered 503. A server that answers
/// them needs as many threads more for what may wait, or they hold up what asks stores and
/// databases.
inline constexpr int kWaitsMax = 8;
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
