/// The events of a table's changes in the flat form that consumers of the first design expect
/// (change-feed R14-R21, R44): no envelope, no order, no proof.
#pragma once

#include <vector>

#include "api/change_json.h"

namespace tidemark::api {

/// One event for the schema, one or more for the partitions, one for what the instant was:
///
///     {"tableId":"lake.orders","instantTime":"20240115103000","changeType":"PARTITION",
///      "changeDetail":{"partitions":[{"path":"dt=2024-01-15","op":"ADD"}]},
///      "timestamp":1705300200000,"schemaVersion":3,"source":"incremental"}
///
/// `op` is ADD, DELETE or TOUCH; partitions that need several events have "shardIndex" (from 0) and
/// "shardTotal" besides. Groups that no instant caused are told by their schema and partitions
/// alone, their `instantTime` is null. `id` is that of the event with an envelope, `type` its
/// changeType. Limits as ChangeEvents.
std::vector<ChangeEvent> PlainEvents(const TableIdentity& table, const change::Group& group,
                                     const EventLimits& limits);

}  // namespace tidemark::api
