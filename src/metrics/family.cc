#include "metrics/family.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "metrics/names.h"

namespace tidemark::metrics {

namespace {

constexpr std::string_view kSuppressed = "the lag is suppressed: status and reason say why";
constexpr std::string_view kNoCommit = "no checkpoint was found";

constexpr std::array kPipelineFamilies = {
    Family{names::kStatus, "", "1 for the pipeline's status, 0 for the others.", "status", ""},
    Family{names::kReason, "", "Why the status is what it is; always 1.", "reason", ""},
    Family{names::kBreach, "", "1 when the SLA is missed or data was lost, else 0.", "",
           "the status is unknown or disabled"},
    Family{names::kLag, "seconds",
           "Time in queue of the oldest record that is not in the table yet.", "", kSuppressed},
    Family{"tidemark_freshness_lag_lower_bound", "",
           "1 when the true lag may be longer than the one given, else 0.", "", kSuppressed},
    Family{names::kSla, "seconds", "Lag the pipeline is allowed.", "", ""},
    Family{names::kSlaRatio, "ratio", "Lag divided by the SLA, without a cap.", "", kSuppressed},
    Family{"tidemark_freshness_sla_ratio_capped", "",
           "Lag divided by the SLA, never over 1; a very long lag is cut first.", "", kSuppressed},
    Family{"tidemark_freshness_oldest_message_timestamp_seconds", "seconds",
           "Stamp of the record the lag comes from, seconds since 1970.", "",
           "nothing waits, the lag is suppressed, or it does not come from a stamp"},
    Family{names::kUncommittedRecords, "",
           "Records the table has not read yet; an upper bound where the log has gaps.", "",
           "any partition's count is not known"},
    Family{names::kLostRecords, "",
           "Records that expired before the table read them; an upper bound.", "",
           "a loss can be neither shown nor excluded"},
    Family{"tidemark_freshness_retention_margin_records", "",
           "Least number of records between the log's beginning and the checkpoint.", "",
           "nothing waits, or it is not known"},
    Family{names::kRetentionMargin, "seconds",
           "Least time until a waiting record may be deleted by age.", "",
           "nothing waits, or retention or stamp are not known"},
    Family{names::kCommitDepth, "",
           "Newer completed commits without a usable checkpoint that were passed over.", "",
           kNoCommit},
    Family{names::kCommitAge, "seconds", "Time since the commit that carries the checkpoint.", "",
           "no checkpoint was found, or the commit's time is not known"},
    Family{names::kOffsetsAge, "seconds", "Time since the commit that last changed the offsets.",
           "", "no checkpoint was found, or that commit or its time is not known"},
    Family{names::kClockSkew, "seconds", "How far a record's stamp lies in the future, at most.",
           "", "no partition was decided and no stamp seen"},
    Family{names::kPartitions, "", "Number of partitions by verdict.", "verdict",
           "no partition was asked"},
    Family{names::kProbeDuration, "seconds",
           "Time from the beginning of the look to its verdict, waiting included; of a single run "
           "the whole run.",
           "", "no look has ended lately"},
    Family{names::kLastSuccess, "seconds",
           "When the pipeline was last judged without doubt, seconds since 1970.", "",
           "never yet, or in a single run the status is unknown or the pipeline is switched off"},
};

constexpr std::array kPartitionFamilies = {
    Family{"tidemark_freshness_partition_lag_seconds", "seconds",
           "Time in queue of the partition's oldest record that is not in the table yet.",
           "topic, partition", "the partition's lag is suppressed"},
    Family{"tidemark_freshness_partition_uncommitted_records", "",
           "Records of the partition the table has not read yet.", "topic, partition",
           "it is not known"},
    Family{"tidemark_freshness_partition_lost_records", "",
           "Records of the partition that expired before the table read them.", "topic, partition",
           "a loss can be neither shown nor excluded"},
    Family{"tidemark_freshness_partitions_left_out", "",
           "Partitions without series of their own, because there are too many.", "", ""},
};

// Names and labels of kafka-lag-exporter, which several other exporters share, so that dashboards
// and alerts made for them work on the first day.
constexpr std::array kCompatibilityFamilies = {
    Family{"kafka_consumergroup_group_lag", "", "Records of the partition not read yet.",
           "cluster_name, group, topic, partition", "it is not known"},
    Family{"kafka_consumergroup_group_lag_seconds", "seconds",
           "Time in queue of the partition's oldest record not read yet.",
           "cluster_name, group, topic, partition", "the partition's lag is suppressed"},
    Family{"kafka_consumergroup_group_max_lag", "", "Greatest number of records not read yet.",
           "cluster_name, group", "any partition's count is not known"},
    Family{"kafka_consumergroup_group_max_lag_seconds", "seconds",
           "Longest time in queue of all partitions.", "cluster_name, group", kSuppressed},
};

// Names as every Prometheus client library has them.
constexpr std::array kProcessFamilies = {
    Family{names::kBuildInfo, "", "What is running; always 1.", "version", ""},
    Family{names::kProcessStart, "seconds", "When the process began, seconds since 1970.", "",
           "it is not known"},
    Family{names::kResidentMemory, "bytes", "Memory the process holds.", "", "it is not known"},
    Family{names::kOpenFiles, "", "Files and sockets the process has open.", "", "it is not known"},
};

constexpr std::array kExporterFamilies = {
    Family{"tidemark_exporter_up", "", "1 when the last delivery arrived, 0 when it did not.",
           "exporter", "nothing was to be delivered yet"},
    Family{"tidemark_exporter_last_success_timestamp_seconds", "seconds",
           "When a delivery last arrived, seconds since 1970.", "exporter", "none has arrived yet"},
    Family{"tidemark_exporter_deliveries_total", "", "Deliveries that arrived.", "exporter", "",
           FamilyType::kCounter},
    Family{"tidemark_exporter_failures_total", "", "Deliveries that did not arrive.", "exporter",
           "", FamilyType::kCounter},
    Family{"tidemark_exporter_dropped_total", "",
           "Values and events that were given up: refused, too long, too old or too many.",
           "exporter", "", FamilyType::kCounter},
    Family{"tidemark_exporter_events_waiting", "", "Events that are still to be delivered.",
           "exporter", ""},
};

constexpr std::array kWorkFamilies = {
    Family{"tidemark_looks_total", "", "Looks at pipelines.", "", "", FamilyType::kCounter},
    Family{"tidemark_looks_left_out_total", "",
           "Looks that were due while an earlier one at the pipeline was not over.", "", "",
           FamilyType::kCounter},
    Family{"tidemark_store_listings_total", "", "Listings that stores were asked for.", "", "",
           FamilyType::kCounter},
    Family{"tidemark_store_reads_total", "", "Objects, or parts of them, that were read.", "", "",
           FamilyType::kCounter},
    Family{"tidemark_kafka_probes_total", "", "Rounds of questions to clusters.", "", "",
           FamilyType::kCounter},
    Family{"tidemark_kafka_fetched_bytes_total", "bytes",
           "Record batches fetched from clusters, as received.", "", "", FamilyType::kCounter},
};

constexpr std::array kCoordinationFamilies = {
    Family{"tidemark_coordination_member", "",
           "1 while this instance is a member of its group, else 0; then it reports nothing.",
           "group", ""},
    Family{"tidemark_coordination_owned_pipelines", "",
           "Pipelines of the configuration that this instance reports.", "group", ""},
};

constexpr std::array kQueueFamilies = {
    Family{"tidemark_queue_up", "", "1 when the queue answered the last time, 0 when it did not.",
           "queue", "it has not answered or failed yet"},
    Family{"tidemark_queue_messages_total", "", "Messages that were received.", "queue", "",
           FamilyType::kCounter},
    Family{"tidemark_queue_misunderstood_total", "",
           "Messages that say nothing we understand; they are deleted too.", "queue", "",
           FamilyType::kCounter},
    Family{"tidemark_queue_failures_total", "",
           "Requests to receive or to delete that the queue did not grant.", "queue", "",
           FamilyType::kCounter},
};

// The article's four names keep their form (R52-R55); those beside them say what they hide (F17).
constexpr std::array kFeedFamilies = {
    Family{names::kSendSuccessRate, "",
           "Share of the tries to send within the last 10 minutes that were confirmed.", "table",
           "nothing was sent"},
    Family{names::kSendLatencyP99, "",
           "99th percentile of the time from a commit's completion to the confirmation, last 10 "
           "minutes, in seconds.",
           "table", "nothing was sent, or completion times are not known"},
    Family{names::kUnpublishedInstants, "",
           "Completed instants that were seen and are not confirmed yet.", "table",
           "the timeline cannot be read"},
    Family{names::kOldestUnpublished, "seconds", "Age of the oldest of them.", "table",
           "there is none, or its time is not known"},
    Family{names::kTimelineCheckAge, "seconds", "Time since the timeline was last read.", "table",
           "never yet"},
    Family{names::kTablePaused, "", "1 when an operator has paused the table, else 0.", "table",
           ""},
    Family{names::kSendLatency, "seconds",
           "Time from a commit's completion to the confirmation of its group.", "le", "",
           FamilyType::kHistogram},
    Family{names::kSendTries, "", "Tries to send, one for each table in a transaction.", "", "",
           FamilyType::kCounter},
    Family{names::kSendFailures, "", "Tries that were not confirmed.", "", "",
           FamilyType::kCounter},
    Family{names::kGroups, "", "Groups that were confirmed.", "", "", FamilyType::kCounter},
    Family{names::kLateInstants, "",
           "Of them, instants requested before one that was told earlier.", "", "",
           FamilyType::kCounter},
    Family{names::kSnapshots, "", "Snapshots that were confirmed.", "", "", FamilyType::kCounter},
    Family{names::kFenced, "", "Partitions that another publisher took while they were held.", "",
           "", FamilyType::kCounter},
    Family{names::kControlRefused, "",
           "Records of the control topic that are no request, or for no table of the feed.", "", "",
           FamilyType::kCounter},
    Family{names::kTables, "", "Tables in the partitions that are held.", "", ""},
    Family{names::kTablesParked, "", "Of them, those whose sending fails and is tried again.", "",
           ""},
    Family{names::kTablesLeftOut, "",
           "Tables without series of their own, because there are too many.", "", ""},
    Family{names::kPartitionsHeld, "", "Partitions of the feed that this process publishes.", "",
           ""},
    Family{names::kPartitionsClosed, "",
           "Of them, those that could not be taken over or read back yet.", "", ""},
};

constexpr std::array kSinkFamilies = {
    Family{names::kApplyLatency, "seconds",
           "From the news of a change to the target that has it, pauses included.", "sink", "",
           FamilyType::kHistogram},
    Family{names::kSinkQuarantined, "",
           "Tables that the sink was refused for good: somebody has to act.", "sink", ""},
    Family{names::kSinkPaused, "", "Tables that failed and are tried again and again.", "sink", ""},
    Family{names::kSinkBehind, "", "Tables with something that is still to be brought.", "sink",
           ""},
    Family{names::kSinkApplied, "", "Updates that the target has.", "sink", "",
           FamilyType::kCounter},
    Family{names::kSinkFailures, "", "Updates that failed or were refused.", "sink", "",
           FamilyType::kCounter},
    Family{names::kSinkStale, "", "Updates that were not written because the target was further.",
           "sink", "", FamilyType::kCounter},
};

constexpr std::array kMirrorFamilies = {
    Family{names::kConsumeLag, "", "Groups that are published and not applied yet.", "table", ""},
    Family{names::kVersionGap, "seconds",
           "Time of the newest commit that was received minus that of the newest one applied.",
           "table", "no commit's time is known"},
    Family{names::kMirrorTables, "", "Tables that are followed.", "", ""},
    Family{names::kMirrorTablesWaiting, "",
           "Of them, those that wait for something that is missing.", "", ""},
    Family{names::kMirrorTablesLeftOut, "",
           "Tables without series of their own, because there are too many.", "", ""},
    Family{names::kApplied, "", "Groups that were applied.", "", "", FamilyType::kCounter},
    Family{names::kGap, "", "Times that groups of a table were missing for longer than 5 s.", "",
           "", FamilyType::kCounter},
    Family{names::kRelist, "", "Times that a table's newest snapshot was asked for.", "reason", "",
           FamilyType::kCounter},
    Family{names::kDigestMismatch, "",
           "Groups after which a table was not what its publisher said.", "", "",
           FamilyType::kCounter},
    Family{names::kDuplicate, "", "Parts that were known already and dropped, as they should be.",
           "", "", FamilyType::kCounter},
    Family{names::kConflict, "",
           "Parts under a known id that said something else: a bug of a publisher.", "", "",
           FamilyType::kCounter},
    Family{names::kLateApplied, "", "Applied groups of instants that completed after later ones.",
           "", "", FamilyType::kCounter},
    Family{names::kPartsDropped, "", "Parts that made no group, or that there was no room for.", "",
           "", FamilyType::kCounter},
    Family{names::kOpenGroups, "", "Groups that are not whole, or wait for others before them.", "",
           ""},
    Family{names::kDlq, "", "Records that could not be read and went to the topic of the dead.", "",
           "", FamilyType::kCounter},
};

}  // namespace

std::span<const Family> FamiliesOf(FamilyGroup group) {
  switch (group) {
    case FamilyGroup::kPipeline: return kPipelineFamilies;
    case FamilyGroup::kPartition: return kPartitionFamilies;
    case FamilyGroup::kCompatibility: return kCompatibilityFamilies;
    case FamilyGroup::kProcess: return kProcessFamilies;
    case FamilyGroup::kExporter: return kExporterFamilies;
    case FamilyGroup::kWork: return kWorkFamilies;
    case FamilyGroup::kCoordination: return kCoordinationFamilies;
    case FamilyGroup::kQueue: return kQueueFamilies;
    case FamilyGroup::kFeed: return kFeedFamilies;
    case FamilyGroup::kMirror: return kMirrorFamilies;
    case FamilyGroup::kSink: return kSinkFamilies;
  }
  std::unreachable();
}

const Family& FamilyNamed(FamilyGroup group, std::string_view name) {
  const auto families = FamiliesOf(group);
  const auto found = std::ranges::find(families, name, &Family::name);
  CHECK(found != families.end(), "a family of the registry");
  return *found;
}

}  // namespace tidemark::metrics
