/// The families of metrics tidemark exposes: the registry that docs/metrics.md is checked against.
#pragma once

#include <span>
#include <string_view>

namespace tidemark::metrics {

enum class FamilyType {
  kGauge,
  kCounter,    ///< only grows while the process lives; its name ends in _total
  kHistogram,  ///< counts by bucket, label `le`, that only grow; points have a suffix
};

/// One metric name with all its labels.
struct Family {
  std::string_view name;
  std::string_view unit;    ///< as in the name: "seconds", "ratio"; empty for counts and states
  std::string_view help;    ///< one sentence
  std::string_view labels;  ///< beside pipeline, cluster, table and the pipeline's own; comma list
  std::string_view absent;  ///< when it has no sample; empty: never
  FamilyType type = FamilyType::kGauge;
};

/// Which part of the exposition a family belongs to.
enum class FamilyGroup {
  kPipeline,       ///< always
  kPartition,      ///< on request: one series a partition
  kCompatibility,  ///< on request: the names of other lag exporters
  kProcess,        ///< of the daemon itself
  kExporter,       ///< of the daemon's exporters
  kWork,           ///< what the daemon has done, and asked of others
  kCoordination,   ///< of a daemon that shares its pipelines with others
  kQueue,          ///< of the queues that wake a daemon up
  kFeed,           ///< of the change feed's publisher; labels are those named, and no others
  kSink,           ///< of a mirror's sinks; labels as kFeed's
  kMirror,         ///< of a mirror of the change feed; labels as kFeed's
};

/// In the order of exposition. What it refers to lives as long as the process.
std::span<const Family> FamiliesOf(FamilyGroup group);

/// REQUIRES: the group has a family of this name.
const Family& FamilyNamed(FamilyGroup group, std::string_view name);

}  // namespace tidemark::metrics
