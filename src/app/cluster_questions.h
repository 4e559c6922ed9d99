/// What many pipelines ask of one cluster, in as few requests as can be.
#pragma once

#include <span>
#include <vector>

#include "app/config.h"
#include "base/budget.h"
#include "base/error.h"
#include "freshness/judge.h"
#include "kafka/partition_probe.h"
#include "lake/commit_point.h"

namespace tidemark::app {

/// Topics with their committed offsets, of one pipeline.
using ClusterQuestion = std::vector<kafka::ProbeRequest::Topic>;

/// A pipeline's table as it was read, and what is to be asked of the cluster because of it (empty:
/// nothing). Hidden values of the store are taken out of every message.
struct TableReading {
  freshness::TableFacts table;
  ClusterQuestion question;
};
TableReading ReadingOf(Result<lake::CheckpointSearch> search, const freshness::PipelineSpec& spec,
                       const HiddenValues& hidden);

/// An answer for each question, none of which is empty, in their order. A request asks for a topic
/// once: pipelines on one topic with the same offsets share an answer, those with other offsets
/// wait for the next request. Hidden values of the cluster are taken out of every message.
std::vector<freshness::ClusterFacts> AskCluster(kafka::PartitionProbe& probe,
                                                const HiddenValues& hidden,
                                                kafka::IsolationLevel isolation,
                                                std::span<const ClusterQuestion> questions,
                                                const Budget& budget);

}  // namespace tidemark::app
