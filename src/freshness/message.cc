#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/time_text.h"
#include "base/utf8.h"
#include "freshness/message_internal.h"

namespace tidemark::freshness {

namespace {

/// "orders partition 3"
std::string NameOf(const kafka::TopicPartition& partition) {
  return fmt::format("{} partition {}", partition.topic, partition.partition);
}

std::string Plural(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string Partitions(int64_t count) {
  return Plural(count, "partition", "partitions");
}

const PartitionVerdict* FirstOf(const PipelineReport& report, Verdict verdict) {
  const auto found = std::ranges::find(report.partitions, verdict, &PartitionVerdict::verdict);
  return found == report.partitions.end() ? nullptr : &*found;
}

/// First undecided partition, AHEAD ones before UNKNOWN ones.
const PartitionVerdict* FirstUndecided(const PipelineReport& report) {
  const PartitionVerdict* ahead = FirstOf(report, Verdict::kAhead);
  return ahead != nullptr ? ahead : FirstOf(report, Verdict::kUnknown);
}

/// "orders partition 1 (timeout)", or nothing when all is decided.
std::string NameUndecided(const PipelineReport& report) {
  const PartitionVerdict* first = FirstUndecided(report);
  if (first == nullptr) return "no partition";
  return fmt::format("{} ({})", NameOf(first->partition), first->reason.value_or("unknown"));
}

/// The client's own words about the first fault it met, in parentheses; empty when it said none.
std::string ClientWords(const MessageContext& context) {
  if (!context.cluster.result) return "";
  for (const kafka::PartitionFacts& facts : context.cluster.result->partitions)
    if (!facts.fault_message.empty()) return fmt::format(" ({})", facts.fault_message);
  for (const kafka::TopicFacts& topic : context.cluster.result->topics)
    if (!topic.fault_message.empty()) return fmt::format(" ({})", topic.fault_message);
  return "";
}

std::string_view TableCure(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound: return "check the path of the table";
    case ErrorKind::kDenied:
      return "check the credentials and their right to list and read the table";
    case ErrorKind::kUnavailable: return "check that the store can be reached, then try again";
    case ErrorKind::kCorrupt:
      return "the table's own metadata is damaged, restore hoodie.properties or the named file";
    case ErrorKind::kUnsupported: return "this needs a newer tidemark, or another table format";
    default: return "run `tidemark doctor` on the table";
  }
}

std::string TableUnreadable(const MessageContext& context) {
  if (!context.table.error) return "The table has not been read: run `tidemark doctor` on it.";
  return fmt::format("The table could not be read ({}): {}.", context.table.error->message,
                     TableCure(context.table.error->kind));
}

std::string NoCheckpoint(const lake::CheckpointSearch& search) {
  if (search.commits_examined == 0)
    return "The table has no completed commit yet: start the job that writes it.";
  if (search.is_depth_exhausted) {
    return fmt::format(
        "None of the newest {} carries a source checkpoint: raise the commit depth if older ones "
        "do, or check that a streamer writes this table.",
        Plural(search.commits_examined, "completed commit", "completed commits"));
  }
  return fmt::format(
      "None of the table's {} carries a source checkpoint: check that a streamer writes this "
      "table and stores its checkpoint.",
      Plural(search.commits_examined, "completed commit", "completed commits"));
}

constexpr size_t kShownBytes = 80;

std::string CheckpointNotKafka(const lake::CommitPoint& commit) {
  return fmt::format(
      "The checkpoint of commit {} is no Kafka position but of kind {} ('{}'): only tables fed "
      "from Kafka, whose offsets are in the table, can be checked.",
      commit.instant, lake::CheckpointKindName(commit.checkpoint.kind),
      Shortened(commit.checkpoint.value, kShownBytes));
}

std::string CheckpointUnreadable(const MessageContext& context,
                                 const lake::CheckpointSearch& search) {
  if (search.commits_unreadable > 0) {
    return fmt::format(
        "{} could not be read and may hold the newest checkpoint, so what waits is not known: see "
        "the findings, and restore or roll back the damaged {}.",
        Plural(search.commits_unreadable, "completed commit", "completed commits"),
        search.commits_unreadable == 1 ? "commit" : "commits");
  }
  if (!search.found) return "The checkpoint could not be read: run `tidemark checkpoint`.";
  const lake::SourceCheckpoint& checkpoint = search.found->checkpoint;
  if (checkpoint.kind == lake::CheckpointKind::kKafkaConnect && !context.spec.topic) {
    return fmt::format(
        "The checkpoint of commit {} holds offsets without a topic, as Kafka Connect writes them: "
        "name the topic in the configuration or with --topic.",
        search.found->instant);
  }
  return fmt::format(
      "The checkpoint of commit {} under {} cannot be read as Kafka offsets{} ('{}'): check which "
      "job wrote it.",
      search.found->instant, checkpoint.key,
      checkpoint.defect.empty() ? "" : ", " + checkpoint.defect,
      Shortened(checkpoint.value, kShownBytes));
}

std::string TopicMismatch(const MessageContext& context, const lake::CommitPoint& commit) {
  std::string topics;
  for (const lake::TopicOffsets& offsets : commit.checkpoint.topics) {
    if (!topics.empty()) topics += ", ";
    topics += offsets.topic;
  }
  return fmt::format(
      "The table's checkpoint is of topic {}, the configuration says {}: correct the topic, or "
      "find out which job wrote commit {}.",
      Shortened(topics, kShownBytes), context.spec.topic.value_or(""), commit.instant);
}

std::string TopicMissing(const MessageContext& context) {
  std::string topic;
  for (const PartitionVerdict& partition : context.report.partitions) {
    if (partition.reason != "topic_missing") continue;
    topic = partition.partition.topic;
    break;
  }
  return fmt::format(
      "The cluster does not know topic {}, or hides it from this user: check the topic, the "
      "cluster and the user's DESCRIBE right.",
      topic);
}

std::string TopicRecreated(const PipelineReport& report) {
  const auto replaced = std::ranges::find_if(report.partitions, [](const PartitionVerdict& p) {
    return p.reason == "topic_recreated" || p.reason == "cluster_changed";
  });
  if (replaced != report.partitions.end() && replaced->reason == "cluster_changed") {
    return fmt::format(
        "The cluster that answers is not the one the checkpoint of {} was seen with, so its "
        "offsets mean nothing here: check the bootstrap servers.",
        replaced->partition.topic);
  }
  return fmt::format(
      "Topic {} was deleted and created again since the checkpoint was written, so its offsets "
      "mean nothing now: reset the writer's checkpoint and look for what was not ingested.",
      replaced == report.partitions.end() ? "" : replaced->partition.topic);
}

/// "at 390"
std::string CutPlace(kafka::Offset cut_at) {
  return cut_at == PipelineMemory::kSomewhere ? "at an offset that cannot be told"
                                              : fmt::format("at {}", cut_at);
}

std::string OffsetAhead(const PipelineReport& report) {
  const PartitionVerdict* ahead = FirstOf(report, Verdict::kAhead);
  if (ahead == nullptr) return "The checkpoint lies beyond the end of the log.";
  if (ahead->cut_at) {
    return fmt::format(
        "The checkpoint of {} is offset {}, and the log was cut {} since, as by an unclean "
        "leader election ({} of {} affected): it is another log from there on, which the writer "
        "skips up to its checkpoint; look for what was not ingested, and reset the checkpoint.",
        NameOf(ahead->partition), ahead->committed.value_or(0), CutPlace(*ahead->cut_at),
        report.counts.ahead, Partitions(report.counts.total));
  }
  return fmt::format(
      "The checkpoint of {} is offset {}, beyond the end of the log at {} ({} of {} affected): the "
      "topic was created again or cut, or this is another cluster; check that before the writer "
      "runs on.",
      NameOf(ahead->partition), ahead->committed.value_or(0), ahead->end.value_or(0),
      report.counts.ahead, Partitions(report.counts.total));
}

std::string Refused(const MessageContext& context) {
  if (context.cluster.error) {
    return fmt::format("The cluster refused us ({}): check user, password, mechanism and CA.",
                       context.cluster.error->message);
  }
  const PipelineReport& report = context.report;
  const auto refused = std::ranges::find_if(report.partitions, [](const PartitionVerdict& p) {
    return p.reason == "topic_denied" || p.reason == "authentication" || p.reason == "tls";
  });
  if (refused == report.partitions.end()) return "The cluster refused us: check the rights.";
  if (refused->reason == "topic_denied") {
    return fmt::format(
        "The cluster refused access to topic {}{}: grant this user DESCRIBE and READ on it.",
        refused->partition.topic, ClientWords(context));
  }
  return fmt::format("The broker of {} refused us by {}{}: check user, password, mechanism and CA.",
                     NameOf(refused->partition), refused->reason.value_or("it"),
                     ClientWords(context));
}

std::string DataLost(const MessageContext& context) {
  const PipelineReport& report = context.report;
  const PartitionVerdict* lost = FirstOf(report, Verdict::kLost);
  if (lost == nullptr) return "Records expired before the table read them.";
  const std::string where =
      report.counts.lost == 1
          ? NameOf(lost->partition)
          : fmt::format("{} and {}", NameOf(lost->partition),
                        Plural(report.counts.lost - 1, "more partition", "more partitions"));
  const std::string state =
      lost->committed ? fmt::format("committed up to {}", *lost->committed) : "never read";
  return fmt::format(
      "Up to {} of {} expired before the table read them ({}, the log begins at {}): restore them "
      "from elsewhere and lengthen retention; unless told to fail, Hudi's streamer now starts "
      "every partition of the topic again at the log's beginning.",
      Plural(report.lost_records.value_or(lost->lost_records), "record", "records"), where, state,
      lost->log_start.value_or(0));
}

std::string_view StampCure(std::string_view reason) {
  if (reason == "clock_skew") return "the broker's clock and this machine's disagree, check both";
  if (reason == "future_timestamp") return "correct the producer's clock";
  if (reason == "implausible_timestamp")
    return "make the producer stamp records in milliseconds since 1970";
  return "let producers or the broker (message.timestamp.type=LogAppendTime) stamp records";
}

std::string NoTimestamp(const PipelineReport& report) {
  const PartitionVerdict* first = FirstOf(report, Verdict::kUnknown);
  const auto doubtful = std::ranges::find_if(
      report.partitions, [](const PartitionVerdict& each) { return !!each.lag_at_most; });
  if (first == nullptr && doubtful != report.partitions.end() &&
      doubtful->lag_at_most == Milliseconds::max()) {
    return fmt::format(
        "A record waits in {} at offset {} for {:.0f} s at least, and its age cannot be told ({}): "
        "{}.",
        NameOf(doubtful->partition), doubtful->first_uncommitted.value_or(0),
        SecondsOf(doubtful->lag.value_or(Milliseconds(0))),
        doubtful->reason.value_or("no_timestamp"), StampCure(doubtful->reason.value_or("")));
  }
  if (first == nullptr && doubtful != report.partitions.end()) {
    return fmt::format(
        "The clock of this machine was set forward while a record waited in {}: it has waited for "
        "{:.0f} to {:.0f} s, which decides nothing; check the machine's time synchronisation.",
        NameOf(doubtful->partition), SecondsOf(doubtful->lag.value_or(Milliseconds(0))),
        SecondsOf(*doubtful->lag_at_most));
  }
  if (first == nullptr) return "A waiting record has no usable timestamp.";
  return fmt::format(
      "A record waits in {} at offset {} but its age cannot be told ({}, timestamp {}): {}.",
      NameOf(first->partition), first->first_uncommitted.value_or(0),
      first->reason.value_or("no_timestamp"),
      first->timestamp_ms ? fmt::format("{} ms", *first->timestamp_ms) : "none",
      StampCure(first->reason.value_or("")));
}

std::string NotAnswered(const MessageContext& context) {
  const PipelineReport& report = context.report;
  if (context.cluster.error && context.cluster.error->kind == ErrorKind::kInvalidArgument) {
    return fmt::format("The cluster was not asked ({}): correct its properties.",
                       context.cluster.error->message);
  }
  if (context.cluster.error) {
    return fmt::format(
        "The cluster gave no answer ({}): check bootstrap servers, network and security.protocol.",
        context.cluster.error->message);
  }
  if (!context.cluster.result)
    return "The cluster was not asked before the run ended: allow it more time.";
  if (report.reason == Reason::kTimeout) {
    return fmt::format(
        "{} of {} did not answer in time, first {}{}: nothing is known about them; try again with "
        "a longer deadline, then check their leaders.",
        report.counts.unknown, Partitions(report.counts.total), NameUndecided(report),
        ClientWords(context));
  }
  return fmt::format(
      "No leader of the {} can be reached, first {}{}: check the brokers' advertised listeners and "
      "the network.",
      Partitions(report.counts.total), NameUndecided(report), ClientWords(context));
}

std::string PartitionsUnknown(const MessageContext& context) {
  const PipelineReport& report = context.report;
  if (report.partitions.empty()) return "The topic shows no partition: check the cluster.";
  return fmt::format(
      "{} of {} could not be judged, first {}{}, and what is known does not prove a breach: check "
      "these partitions' leaders.",
      report.counts.unknown + report.counts.ahead, Partitions(report.counts.total),
      NameUndecided(report), ClientWords(context));
}

/// What an open transaction holds back, as the tail of a sentence; empty when it holds nothing.
std::string HeldBack(const PipelineReport& report) {
  const PartitionVerdict* blocked = FirstOf(report, Verdict::kBlocked);
  if (blocked == nullptr) return "";
  const std::string since =
      blocked->blocked_age ? " for " + FormatDuration(*blocked->blocked_age) : "";
  return fmt::format(
      "; an open transaction holds back {}{}, first {}: look at its producer, not at the table's "
      "writer",
      Partitions(report.counts.blocked), since, NameOf(blocked->partition));
}

/// That the records were not read, as the tail of a sentence; empty when they were.
std::string Estimated(const PipelineReport& report) {
  const auto is_estimated = [](const PartitionVerdict& p) { return p.reason == "estimated"; };
  if (std::ranges::none_of(report.partitions, is_estimated)) return "";
  return "; records were not read, their ages are estimated from look-ups by time";
}

/// That a log has lost its tail, as the tail of a sentence; empty when none has.
std::string CutOff(const PipelineReport& report) {
  const auto cut = std::ranges::find_if(
      report.partitions, [](const PartitionVerdict& p) { return p.cut_at.has_value(); });
  if (cut == report.partitions.end()) return "";
  return fmt::format(
      "; the log of {} was cut {}, as by an unclean leader election: what stood behind is gone, "
      "read or not",
      NameOf(cut->partition), CutPlace(*cut->cut_at));
}

std::string CommitAge(const PipelineReport& report) {
  if (report.last_change_age)
    return fmt::format("; its offsets last moved {} ago", FormatDuration(*report.last_change_age));
  if (report.commit_age)
    return fmt::format("; its last commit with offsets is {} old",
                       FormatDuration(*report.commit_age));
  return "";
}

/// "The oldest record not in the table (orders partition 1, offset 980) has waited 45 min 0 s"
std::string Waiting(const PipelineReport& report) {
  const std::string lag = report.lag ? FormatDuration(*report.lag) : "an unknown time";
  if (!report.oldest) return fmt::format("The oldest record not in the table has waited {}", lag);
  const std::string_view bound = report.lag_is_lower_bound         ? "at least "
                                 : report.oldest->is_arrival_bound ? "at most "
                                                                   : "";
  return fmt::format("The oldest record not in the table ({}, offset {}) has waited {}{}",
                     NameOf(report.oldest->partition), report.oldest->offset, bound, lag);
}

std::string Healthy(const PipelineReport& report) {
  if (!report.oldest) {
    return fmt::format("Nothing is waiting: the table has all of its {}{}{}.",
                       Partitions(report.counts.total), HeldBack(report), CutOff(report));
  }
  return fmt::format("{} of the {} allowed{}{}{}.", Waiting(report), FormatDuration(report.sla),
                     Estimated(report), HeldBack(report), CutOff(report));
}

std::string Late(const PipelineReport& report) {
  if (report.status == PipelineStatus::kWarning) {
    return fmt::format("{} of the {} allowed: see that the table's writer keeps up{}{}{}{}.",
                       Waiting(report), FormatDuration(report.sla), CommitAge(report),
                       Estimated(report), HeldBack(report), CutOff(report));
  }
  return fmt::format("{}, {} are allowed: check the job that writes the table{}{}{}{}.",
                     Waiting(report), FormatDuration(report.sla), CommitAge(report),
                     Estimated(report), HeldBack(report), CutOff(report));
}

/// A breach that is proved although not everything is known.
std::string PartlyKnownBreach(const PipelineReport& report) {
  return fmt::format(
      "{}, {} are allowed, and {} of {} could not be judged, first {}: check the job that writes "
      "the table, then these partitions.",
      Waiting(report), FormatDuration(report.sla), report.counts.unknown + report.counts.ahead,
      Partitions(report.counts.total), NameUndecided(report));
}

}  // namespace

std::string MessageOf(const MessageContext& context) {
  const PipelineReport& report = context.report;
  if (report.status == PipelineStatus::kDisabled)
    return "This pipeline is switched off in the configuration and was not checked.";
  if (!context.table.search) return TableUnreadable(context);
  const lake::CheckpointSearch& search = *context.table.search;
  if (report.status == PipelineStatus::kBreach && report.reason != Reason::kOk &&
      report.reason != Reason::kDataLost)
    return PartlyKnownBreach(report);
  switch (report.reason) {
    case Reason::kOk:
      return report.status == PipelineStatus::kFresh ? Healthy(report) : Late(report);
    case Reason::kNoCheckpoint: return NoCheckpoint(search);
    case Reason::kCheckpointNotKafka:
      return search.found ? CheckpointNotKafka(*search.found) : NoCheckpoint(search);
    case Reason::kCheckpointUnreadable: return CheckpointUnreadable(context, search);
    case Reason::kTopicMismatch:
      return search.found ? TopicMismatch(context, *search.found) : NoCheckpoint(search);
    case Reason::kTopicMissing: return TopicMissing(context);
    case Reason::kTopicRecreated: return TopicRecreated(report);
    case Reason::kOffsetAhead: return OffsetAhead(report);
    case Reason::kPartitionsUnknown: return PartitionsUnknown(context);
    case Reason::kDataLost: return DataLost(context);
    case Reason::kTableUnreadable: return TableUnreadable(context);
    case Reason::kAuth: return Refused(context);
    case Reason::kClusterUnreachable:
    case Reason::kTimeout: return NotAnswered(context);
    case Reason::kNoTimestamp: return NoTimestamp(report);
    case Reason::kMaintenance: return "A maintenance window is open and no alarm is raised.";
  }
  std::unreachable();
}

}  // namespace tidemark::freshness
