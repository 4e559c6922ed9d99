/// The names of the metrics that other parts of the program speak of: the one place where they are
/// spelled.
#pragma once

#include <string_view>

namespace tidemark::metrics::names {

inline constexpr std::string_view kStatus = "tidemark_freshness_status";
inline constexpr std::string_view kReason = "tidemark_freshness_reason";
inline constexpr std::string_view kBreach = "tidemark_freshness_breach";
inline constexpr std::string_view kLag = "tidemark_freshness_lag_seconds";
inline constexpr std::string_view kSla = "tidemark_freshness_sla_seconds";
inline constexpr std::string_view kSlaRatio = "tidemark_freshness_sla_ratio";
inline constexpr std::string_view kUncommittedRecords = "tidemark_freshness_uncommitted_records";
inline constexpr std::string_view kLostRecords = "tidemark_freshness_lost_records";
inline constexpr std::string_view kRetentionMargin = "tidemark_freshness_retention_margin_seconds";
inline constexpr std::string_view kCommitDepth = "tidemark_freshness_commit_depth";
inline constexpr std::string_view kCommitAge = "tidemark_freshness_commit_age_seconds";
inline constexpr std::string_view kOffsetsAge = "tidemark_freshness_offsets_age_seconds";
inline constexpr std::string_view kClockSkew = "tidemark_freshness_clock_skew_seconds";
inline constexpr std::string_view kPartitions = "tidemark_freshness_partitions";
inline constexpr std::string_view kProbeDuration = "tidemark_freshness_probe_duration_seconds";
inline constexpr std::string_view kLastSuccess =
    "tidemark_freshness_last_success_timestamp_seconds";
inline constexpr std::string_view kBuildInfo = "tidemark_build_info";
inline constexpr std::string_view kProcessStart = "process_start_time_seconds";
inline constexpr std::string_view kResidentMemory = "process_resident_memory_bytes";
inline constexpr std::string_view kOpenFiles = "process_open_fds";

// The change feed's publisher.
inline constexpr std::string_view kSendSuccessRate = "metadata_sync_send_success_rate";
inline constexpr std::string_view kSendLatencyP99 = "metadata_sync_send_latency_p99";
inline constexpr std::string_view kUnpublishedInstants = "metadata_sync_unpublished_instants";
inline constexpr std::string_view kOldestUnpublished = "metadata_sync_oldest_unpublished_seconds";
inline constexpr std::string_view kTimelineCheckAge = "metadata_sync_timeline_check_age_seconds";
inline constexpr std::string_view kTablePaused = "metadata_sync_table_paused";
inline constexpr std::string_view kSendLatency = "metadata_sync_send_latency_seconds";
inline constexpr std::string_view kSendTries = "metadata_sync_send_tries_total";
inline constexpr std::string_view kSendFailures = "metadata_sync_send_failures_total";
inline constexpr std::string_view kGroups = "metadata_sync_groups_total";
inline constexpr std::string_view kLateInstants = "metadata_sync_late_instant_total";
inline constexpr std::string_view kSnapshots = "metadata_sync_snapshots_total";
inline constexpr std::string_view kFenced = "metadata_sync_fenced_total";
inline constexpr std::string_view kControlRefused = "metadata_sync_control_refused_total";
inline constexpr std::string_view kTables = "metadata_sync_tables";
inline constexpr std::string_view kTablesParked = "metadata_sync_tables_parked";
inline constexpr std::string_view kTablesLeftOut = "metadata_sync_tables_left_out";
inline constexpr std::string_view kPartitionsHeld = "metadata_sync_partitions_held";
inline constexpr std::string_view kPartitionsClosed = "metadata_sync_partitions_closed";

// A mirror of the change feed.
inline constexpr std::string_view kConsumeLag = "metadata_sync_consume_lag";
inline constexpr std::string_view kVersionGap = "metadata_sync_version_gap_seconds";
inline constexpr std::string_view kMirrorTables = "metadata_sync_mirror_tables";
inline constexpr std::string_view kMirrorTablesWaiting = "metadata_sync_mirror_tables_waiting";
inline constexpr std::string_view kMirrorTablesLeftOut = "metadata_sync_mirror_tables_left_out";
inline constexpr std::string_view kApplied = "metadata_sync_applied_total";
inline constexpr std::string_view kGap = "metadata_sync_gap_total";
inline constexpr std::string_view kRelist = "metadata_sync_relist_total";
inline constexpr std::string_view kDigestMismatch = "metadata_sync_digest_mismatch_total";
inline constexpr std::string_view kDuplicate = "metadata_sync_duplicate_total";
inline constexpr std::string_view kConflict = "metadata_sync_conflict_total";
inline constexpr std::string_view kLateApplied = "metadata_sync_late_applied_total";
inline constexpr std::string_view kPartsDropped = "metadata_sync_parts_dropped_total";
inline constexpr std::string_view kOpenGroups = "metadata_sync_open_groups";
inline constexpr std::string_view kDlq = "metadata_sync_dlq_total";
inline constexpr std::string_view kApplyLatency = "metadata_sync_apply_latency_seconds";
inline constexpr std::string_view kSinkQuarantined = "metadata_sync_quarantined";
inline constexpr std::string_view kSinkPaused = "metadata_sync_sink_paused";
inline constexpr std::string_view kSinkBehind = "metadata_sync_sink_behind";
inline constexpr std::string_view kSinkApplied = "metadata_sync_sink_applied_total";
inline constexpr std::string_view kSinkFailures = "metadata_sync_sink_failures_total";
inline constexpr std::string_view kSinkStale = "metadata_sync_sink_stale_total";

}  // namespace tidemark::metrics::names
