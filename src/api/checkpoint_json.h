/// A table's checkpoint as JSON, schema "tidemark.checkpoint/1".
#pragma once

#include <string>
#include <string_view>

#include "lake/commit_point.h"

namespace tidemark::api {

/// One object on one line, without a line feed. `topic` and `offsets` are null when the checkpoint
/// names no offsets, or offsets of several topics; several writers of one topic are merged to their
/// lowest offsets. Added to the contract's keys, at the end: completion_time, archived,
/// committed_at, last_change_instant, writers (each topic and writer by itself, when there are
/// several), defect (why the value cannot be read), and how the search went: commits_examined,
/// commits_unreadable, depth_exhausted, findings. Not found: schema, table, found and how the
/// search went.
std::string CheckpointJson(std::string_view table, const lake::CheckpointSearch& search);

}  // namespace tidemark::api
