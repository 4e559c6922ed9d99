/// What the expected rows of real tables do not tell: shared by the tests of reading and of
/// auditing.
#pragma once

#include <map>
#include <set>
#include <string>

namespace tidemark::acceptance {

/// Rows that no reader can know, because the writer never stored what they depend on.
struct Unknowable {
  std::string why;
  std::set<std::string> keys;  // _hoodie_record_key: what is read of them is not compared
};

inline const Unknowable kUnknownKeys = {
    "the first event is a delete of a key that the table does not have; writers store no delete of "
    "an unknown key, so the older rows that come later are all there is",
    {"D4I1U3", "D4U3I1"}};

inline const std::map<std::string, Unknowable> kUnknowable = {
    {"merge_date_eventtime_baselog", kUnknownKeys},
    {"merge_int_eventtime_baselog", kUnknownKeys},
    {"merge_long_eventtime_baselog", kUnknownKeys},
    {"merge_long_overwrite_baselog", kUnknownKeys},
    {"merge_string_default_baselog", kUnknownKeys},
    {"merge_string_eventtime_baselog", kUnknownKeys},
    {"merge_timestamp_eventtime_baselog", kUnknownKeys},
    {"merge_date_eventtime_compacted_each", kUnknownKeys},
    {"merge_long_default_compacted_each", kUnknownKeys},
    {"merge_long_eventtime_compacted_each", kUnknownKeys},
    {"merge_long_overwrite_compacted_each", kUnknownKeys},
    {"merge_string_default_compacted_each", kUnknownKeys},
    {"merge_string_eventtime_compacted_each", kUnknownKeys},
    {"merge_timestamp_eventtime_compacted_each", kUnknownKeys},
    {"v015_merge_long_eventtime_baselog", kUnknownKeys},
    {"v015_merge_string_eventtime_baselog", kUnknownKeys},
    {"b_baselog_long_event_v8", kUnknownKeys},
    {"b_baselog_long_event_v9", kUnknownKeys},
    {"b_baselog_string_event_v8", kUnknownKeys},
    {"b_baselog_string_event_v9", kUnknownKeys},
    {"b_compact_decimal_event_v9", kUnknownKeys},
    {"b_compact_long_event_v8", kUnknownKeys},
    {"b_compact_long_event_v9", kUnknownKeys},
    {"b_compact_string_event_v8", kUnknownKeys},
    {"b_smallfile_string_event_v9",
     {"each commit rewrote the base file with its deletes applied; the deletes are in no file",
      {"D4I1U3", "D4U3I1", "I1D4U3", "U3D4I1"}}},
    {"simple_index_deletes_first",
     {"the last commit rewrote the base file without the row; its delete, which was older than the "
      "row, is in no file",
      {"a"}}},
    {"same_commit_combine_false",
     {"with hoodie.combine.before.upsert=false 0.14 writes every delete without its ordering value "
      "(IntWrapper 0) and behind the data of its commit",
      {"I1U3D2", "tieDI"}}},
    {"f111_x_precombine_string",
     {"the writer's buffer merged the delete with the row before it, forgot its ordering value and "
      "then took the older row",
      {"8", "10"}}},
};

/// Where the right rows stand in another place than expectedEventTime; notes in fixture.json say
/// so.
inline const std::map<std::string, std::string> kRightRowsElsewhere = {
    // Plain rules; the table's partial update mode fills nulls.
    {"b2_payload_partialupdate_v9", "sparkSnapshot"},
    // Lists events of commits that never completed.
    {"f014_x_killed", "flinkSnapshot"},
    // Lists upserts only; one partition was overwritten afterwards.
    {"f014_x_overwrite", "flinkSnapshot"},
};

}  // namespace tidemark::acceptance
