#include "app/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/time_text.h"
#include "base/utf8.h"
#include "freshness/judge.h"
#include "lake/hudi/table.h"

namespace tidemark::app {

namespace {

using kafka::ProbeFault;
using lake::CheckpointKind;

/// Retention shorter than this many SLAs leaves no time to repair a stopped pipeline.
constexpr int kRetentionSlasMin = 3;
/// A breach that lasts no longer than the SLA should be met by this many looks.
constexpr int kLooksInSlaMin = 2;
constexpr std::string_view kNotAskedAgain = " (not asked again for this pipeline)";
/// As much of a checkpoint as a line holds.
constexpr size_t kValueBytesShown = 200;

DoctorCheck Ok(std::string name, std::string detail) {
  return {std::move(name), CheckOutcome::kOk, std::move(detail), "", std::nullopt};
}

DoctorCheck Warning(std::string name, std::string detail, std::string cure) {
  return {std::move(name), CheckOutcome::kWarning, std::move(detail), std::move(cure),
          std::nullopt};
}

DoctorCheck Failed(std::string name, std::string detail, std::string cure,
                   std::optional<ErrorKind> error = std::nullopt) {
  return {std::move(name), CheckOutcome::kFailed, std::move(detail), std::move(cure), error};
}

std::string CureOfStore(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound:
      return "check the path: a Hudi table has the file .hoodie/hoodie.properties in its root "
             "folder";
    case ErrorKind::kDenied:
      return "grant read and list rights on the table's folder, or give credentials of one who has "
             "them";
    case ErrorKind::kUnavailable: return "check that the store is up and its address is right";
    case ErrorKind::kCorrupt:
      return "look at the file: a writer may have died while writing it, its backup is beside it";
    case ErrorKind::kUnsupported: return "use a release of tidemark that reads this table version";
    case ErrorKind::kConflict:
      return "try again; when it stays so, an upgrade or downgrade of the table was interrupted";
    default: return "";
  }
}

std::string CureOfCluster(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied:
      return "check user, password, mechanism and the CA file in the cluster's properties";
    case ErrorKind::kUnavailable:
      return "check the broker addresses, and that security.protocol is what the listener speaks";
    case ErrorKind::kInvalidArgument: return "correct the cluster's properties";
    default: return "";
  }
}

std::string CureOfFault(ProbeFault fault, const std::string& topic) {
  switch (fault) {
    case ProbeFault::kTopicDenied:
      return fmt::format("grant READ and DESCRIBE on topic {} to the user of this cluster", topic);
    case ProbeFault::kTopicMissing:
      return fmt::format(
          "check the topic's name and cluster; a user without DESCRIBE on {} sees "
          "it as missing",
          topic);
    case ProbeFault::kNoLeader: return "bring the partition's broker back";
    case ProbeFault::kTimeout: return "look at the broker's load, or give more time with --timeout";
    default: return "look at the message";
  }
}

/// Whether a file of the timeline is of an instant after `instant`.
bool IsNewer(std::string_view place, std::string_view instant) {
  const auto name = lake::hudi::ParseInstantFileName(place.substr(place.rfind('/') + 1));
  return name && name->requested > instant;
}

/// "s3://lake" of "s3://lake/orders"; empty for a local folder.
std::string BucketOf(std::string_view uri) {
  const size_t scheme_end = uri.find("://");
  if (scheme_end == uri.npos || uri.starts_with("file:")) return "";
  return std::string(uri.substr(0, uri.find('/', scheme_end + 3)));
}

/// Clusters and stores that did not answer: each costs one deadline, not one a pipeline. Any
/// thread.
class Silent {
 public:
  void Note(const std::string& who, const Error& error) {
    if (who.empty() || error.kind != ErrorKind::kUnavailable) return;
    const std::lock_guard lock(mutex_);
    errors_.emplace(who, error);
  }
  std::optional<Error> Find(const std::string& who) const {
    const std::lock_guard lock(mutex_);
    const auto found = errors_.find(who);
    return found == errors_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Error> errors_;
};

/// One diagnosis being made. `silent` outlives it.
class Doctor {
 public:
  Doctor(const Config& config, const PipelineConfig& pipeline, const FreshnessRunOptions& options,
         const FreshnessEdges& edges, Silent& silent)
      : config_(config), pipeline_(pipeline), options_(options), edges_(edges), silent_(silent) {
    diagnosis_.subject = pipeline.spec.name;
    diagnosis_.table = pipeline.spec.table;
  }

  Diagnosis Make() {
    if (pipeline_.spec.is_disabled) {
      Add({"pipeline", CheckOutcome::kSkipped, "switched off in the configuration", "", {}});
      return std::move(diagnosis_);
    }
    CheckInterval();
    CheckTable();
    CheckCluster();
    return std::move(diagnosis_);
  }

 private:
  void Add(DoctorCheck check) {
    check.detail = StoreFor(config_, pipeline_.spec.table).hidden.Hide(std::move(check.detail));
    const auto cluster = config_.clusters.find(pipeline_.spec.cluster);
    if (cluster != config_.clusters.end()) {
      check.detail = cluster->second.hidden.Hide(std::move(check.detail));
    }
    diagnosis_.checks.push_back(std::move(check));
  }

  /// Of a configuration file only: nobody looks twice at a single table.
  void CheckInterval() {
    if (config_.files.empty() || pipeline_.interval * kLooksInSlaMin <= pipeline_.spec.sla) return;
    Add(Warning(
        "interval",
        fmt::format("looked at every {}, the SLA is {}", FormatDuration(pipeline_.interval),
                    FormatDuration(pipeline_.spec.sla)),
        fmt::format("shorten the interval to {} or less: a breach may begin and end between "
                    "two looks",
                    FormatDuration(pipeline_.spec.sla / kLooksInSlaMin))));
  }

  void CheckTable() {
    const std::string bucket = BucketOf(pipeline_.spec.table);
    if (const auto error = silent_.Find(bucket)) {
      return Add(Failed("store", error->message + std::string(kNotAskedAgain),
                        CureOfStore(error->kind), error->kind));
    }
    const Budget budget = Budget::For(options_.table_deadline, options_.stop);
    const std::string& uri = pipeline_.spec.table;
    auto store = edges_.open_store(uri, StoreFor(config_, uri).options);
    if (!store) {
      silent_.Note(bucket, store.error());
      return Add(Failed("store", store.error().message, CureOfStore(store.error().kind),
                        store.error().kind));
    }
    auto listing = (*store)->List(".hoodie", {}, budget);
    if (!listing) {
      silent_.Note(bucket, listing.error());
      return Add(Failed("store", listing.error().message, CureOfStore(listing.error().kind),
                        listing.error().kind));
    }
    Add(Ok("store", fmt::format("{} answers", (*store)->uri())));
    auto table = lake::hudi::Table::Open(**store, edges_.columns, budget);
    if (!table) {
      return Add(Failed("table", table.error().message, CureOfStore(table.error().kind),
                        table.error().kind));
    }
    const auto& properties = table->properties();
    Add(Ok("table",
           fmt::format("Hudi table '{}', {}, version {}, layout {}", properties.name,
                       properties.type == lake::hudi::TableType::kMergeOnRead ? "merge-on-read"
                                                                              : "copy-on-write",
                       properties.version, properties.layout)));
    CheckTimeline(*table, budget);
    CheckCheckpoint(*table, budget);
  }

  void CheckTimeline(const lake::hudi::Table& table, const Budget& budget) {
    const auto timeline = table.ReadTimeline({}, budget);
    if (!timeline) {
      return Add(Failed("timeline", timeline.error().message, CureOfStore(timeline.error().kind),
                        timeline.error().kind));
    }
    const auto completed =
        std::ranges::count_if(timeline->instants, [](const lake::hudi::Instant& instant) {
          return instant.state == lake::hudi::State::kCompleted;
        });
    const std::string seen =
        fmt::format("{} instants, {} completed", timeline->instants.size(), completed);
    if (timeline->findings.empty()) return Add(Ok("timeline", seen));
    const auto& first = timeline->findings.front();
    Add(Warning("timeline",
                fmt::format("{}; {} of its files cannot be read as they should, the first: {}: {}",
                            seen, timeline->findings.size(), first.place, first.message),
                "look at the named files"));
  }

  void CheckCheckpoint(const lake::hudi::Table& table, const Budget& budget) {
    auto search = table.FindCheckpoint({.commit_depth_max = pipeline_.commit_depth_max}, budget);
    if (!search) {
      return Add(Failed("checkpoint", search.error().message, CureOfStore(search.error().kind),
                        search.error().kind));
    }
    topics_ = freshness::TopicsToProbe(pipeline_.spec, *search);
    if (!search->found) {
      return Add(
          Failed("checkpoint",
                 fmt::format("no checkpoint in the newest {} commits", search->commits_examined),
                 search->is_depth_exhausted
                     ? "raise max_commit_depth, or check that the streamer writes this table"
                     : "only a table that a streamer writes has one; check that this is it"));
    }
    const lake::CommitPoint& commit = *search->found;
    const std::string seen = fmt::format("{} commit{} back, {}: {}", commit.commit_depth,
                                         commit.commit_depth == 1 ? "" : "s", commit.checkpoint.key,
                                         Shortened(commit.checkpoint.value, kValueBytesShown));
    if (topics_.empty()) {
      const bool is_kafka = commit.checkpoint.kind == CheckpointKind::kKafka;
      const std::string cure =
          is_kafka ? fmt::format("the configuration says topic {}: correct one of them",
                                 pipeline_.spec.topic.value_or(""))
          : commit.checkpoint.kind == CheckpointKind::kKafkaConnect
              ? "this checkpoint names no topic: give it with --topic or `topic:`"
              : "its offsets are not in the table, so its freshness cannot be told from here";
      return Add(Failed("checkpoint", seen, cure));
    }
    if (search->commits_unreadable > 0) {
      return Add(Warning("checkpoint",
                         fmt::format("{}; {} that cannot be read may hold a newer one", seen,
                                     search->commits_unreadable),
                         "see what `tidemark checkpoint` finds, and restore or roll back the "
                         "damaged commit"));
    }
    const auto empty = std::ranges::find_if(search->findings, [&](const lake::Finding& finding) {
      return finding.kind == "empty_commit" && IsNewer(finding.place, commit.instant);
    });
    if (empty != search->findings.end()) {
      return Add(Warning("checkpoint",
                         fmt::format("{}; passed over {}: {}", seen, empty->place, empty->message),
                         "look at the job that writes the table: it goes on from the checkpoint "
                         "before the empty commit"));
    }
    if (commit.is_archived) {
      return Add(
          Warning("checkpoint", seen + " (in the archived timeline only)",
                  "the streamer looks at the active timeline only: it may start over or fail"));
    }
    Add(Ok("checkpoint", seen));
  }

  void CheckCluster() {
    const auto cluster = config_.clusters.find(pipeline_.spec.cluster);
    if (cluster == config_.clusters.end() || cluster->second.options.bootstrap_servers.empty()) {
      return;
    }
    if (topics_.empty() && pipeline_.spec.topic)
      topics_.push_back({*pipeline_.spec.topic, {}, true});
    if (topics_.empty()) {
      return Add({"cluster",
                  CheckOutcome::kSkipped,
                  "not asked: neither the checkpoint nor the configuration names a topic",
                  "",
                  {}});
    }
    if (const auto error = silent_.Find(pipeline_.spec.cluster)) {
      Error again = *error;
      again.message += kNotAskedAgain;
      return Add(FailedCluster(cluster->second, again));
    }
    for (auto& topic : topics_) topic.wants_config = true;
    const ProbeChoice choice = ChooseProbe(cluster->second.options, cluster->second.client);
    Add(Ok("client", fmt::format("{}: {}", KafkaClientName(choice.client), choice.reason)));
    auto probe = edges_.open_probe(cluster->second);
    auto result = probe ? (*probe)->Probe({topics_, pipeline_.spec.isolation},
                                          Budget::For(options_.probe_deadline, options_.stop))
                        : Result<kafka::ProbeResult>(std::unexpected(probe.error()));
    if (!result) {
      silent_.Note(pipeline_.spec.cluster, result.error());
      return Add(FailedCluster(cluster->second, result.error()));
    }
    Add(Ok("cluster", fmt::format("{} answers", cluster->second.options.bootstrap_servers)));
    for (const auto& topic : result->topics) CheckTopic(topic, *result);
  }

  // A cluster that refuses us is there: its check has failed, and it is not unreachable.
  static DoctorCheck FailedCluster(const ClusterConfig& cluster, const Error& error) {
    const std::string name = cluster.name.empty() ? "" : fmt::format("'{}': ", cluster.name);
    return Failed("cluster", name + error.message, CureOfCluster(error.kind),
                  error.kind == ErrorKind::kDenied ? std::nullopt : std::optional(error.kind));
  }

  void CheckTopic(const kafka::TopicFacts& topic, const kafka::ProbeResult& result) {
    if (!topic.exists) {
      return Add(Failed(
          "topic", fmt::format("{}: {}", topic.topic, topic.fault_message),
          CureOfFault(topic.fault == ProbeFault::kNone ? ProbeFault::kTopicMissing : topic.fault,
                      topic.topic)));
    }
    Add(Ok("topic", fmt::format("{} has {} partitions", topic.topic, topic.partition_count)));
    CheckPartitions(topic, result);
    CheckOffsets(topic, result);
    CheckRetention(topic);
  }

  void CheckPartitions(const kafka::TopicFacts& topic, const kafka::ProbeResult& result) {
    size_t decided = 0, all = 0, estimated = 0;
    const kafka::PartitionFacts* worst = nullptr;
    for (const auto& facts : result.partitions) {
      if (facts.partition.topic != topic.topic) continue;
      ++all;
      if (facts.search == kafka::PartitionFacts::Search::kEstimated) ++estimated;
      if (facts.fault == ProbeFault::kNone) {
        ++decided;
      } else if (worst == nullptr) {
        worst = &facts;
      }
    }
    if (worst == nullptr && estimated > 0) return CheckUnread(topic.topic, estimated, all);
    if (worst == nullptr) {
      return Add(Ok("partitions", fmt::format("{} of {} can be looked at", decided, all)));
    }
    Add(Failed("partitions",
               fmt::format("{} of {} can be looked at; partition {}: {}", decided, all,
                           worst->partition.partition, worst->fault_message),
               CureOfFault(worst->fault, topic.topic)));
  }

  void CheckUnread(const std::string& topic, size_t estimated, size_t all) {
    const auto& access = config_.clusters.at(pipeline_.spec.cluster).options.record_access;
    std::string seen = fmt::format(
        "{} of {} hold records that are not read: their ages are estimated from "
        "look-ups by time",
        estimated, all);
    if (access == kafka::RecordAccess::kDescribe) {
      return Add(Ok("partitions", seen + ", as record_access asks"));
    }
    Add(Warning("partitions", std::move(seen),
                fmt::format("grant READ on topic {} for exact ages, or set record_access to "
                            "describe",
                            topic)));
  }

  /// Whether the checkpoint lies within the log. Where it does, how old the records are is not
  /// doctor's question.
  void CheckOffsets(const kafka::TopicFacts& topic, const kafka::ProbeResult& result) {
    for (const auto& facts : result.partitions) {
      if (facts.partition.topic != topic.topic || !facts.committed) continue;
      const auto differs = [&](std::string_view where, kafka::Offset bound, std::string cure) {
        Add(Failed(
            "offsets",
            fmt::format("{} partition {}: the table is committed up to {}, the log {} {}",
                        topic.topic, facts.partition.partition, *facts.committed, where, bound),
            std::move(cure)));
      };
      if (facts.high_watermark && *facts.committed > *facts.high_watermark) {
        return differs("ends at", *facts.high_watermark,
                       "the topic was created again or cut, or this is another cluster: check that "
                       "before the writer runs on");
      }
      if (facts.log_start && *facts.committed < *facts.log_start) {
        return differs("begins at", *facts.log_start,
                       "records were deleted before the table read them: restore them from "
                       "elsewhere and lengthen retention");
      }
    }
  }

  void CheckRetention(const kafka::TopicFacts& topic) {
    if (topic.is_compacted || !topic.retention) {
      return Add(Ok("retention", topic.is_compacted
                                     ? fmt::format("{} is compacted", topic.topic)
                                     : fmt::format("{} keeps records without limit of age, or its "
                                                   "configuration may not be read",
                                                   topic.topic)));
    }
    const std::string seen =
        fmt::format("{} keeps records for {}, the SLA is {}", topic.topic,
                    FormatDuration(*topic.retention), FormatDuration(pipeline_.spec.sla));
    if (*topic.retention < pipeline_.spec.sla) {
      return Add(Failed("retention", seen,
                        "raise retention.ms: records are deleted before the SLA is even broken"));
    }
    if (*topic.retention < pipeline_.spec.sla * kRetentionSlasMin) {
      return Add(Warning("retention", seen,
                         fmt::format("raise retention.ms to {} or more, to leave time for repair",
                                     FormatDuration(pipeline_.spec.sla * kRetentionSlasMin))));
    }
    Add(Ok("retention", seen));
  }

  const Config& config_;
  const PipelineConfig& pipeline_;
  const FreshnessRunOptions& options_;
  const FreshnessEdges& edges_;
  Silent& silent_;
  Diagnosis diagnosis_;
  std::vector<kafka::ProbeRequest::Topic> topics_;
};

}  // namespace

std::string_view CheckOutcomeName(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kOk: return "ok";
    case CheckOutcome::kWarning: return "warning";
    case CheckOutcome::kFailed: return "failed";
    case CheckOutcome::kSkipped: return "skipped";
  }
  std::unreachable();
}

std::vector<Diagnosis> DiagnoseAll(const Config& config,
                                   const std::vector<PipelineConfig>& pipelines,
                                   const FreshnessRunOptions& options,
                                   const FreshnessEdges& edges) {
  std::vector<Diagnosis> diagnoses(pipelines.size());
  Silent silent;
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < pipelines.size() && !options.stop.stop_requested(); i = next++)
      diagnoses[i] = Doctor(config, pipelines[i], options, edges, silent).Make();
  };
  {
    std::vector<std::jthread> threads;
    const size_t count = std::min<size_t>(options.tables_at_once, pipelines.size());
    for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  return diagnoses;
}

}  // namespace tidemark::app
