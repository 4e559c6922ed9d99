/// The sentence of a report: what is, and what to do.
#pragma once

#include <string>

#include "freshness/judge.h"
#include "freshness/report.h"

namespace tidemark::freshness {

/// What the sentence is made from; all of it must outlive the call only.
struct MessageContext {
  const PipelineSpec& spec;
  const TableFacts& table;
  const ClusterFacts& cluster;
  const PipelineReport& report;  ///< complete but for its message
};

std::string MessageOf(const MessageContext& context);

}  // namespace tidemark::freshness
