/// The topic whose partitions a group shares out.
#pragma once

#include "base/budget.h"
#include "base/error.h"
#include "kafka/client/clients_internal.h"
#include "kafka/client/group_member.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

enum class TopicCreation { kDo, kOnlyTry };

/// Creates it; `kOnlyTry` has the brokers say whether they would. Ok when it is there already.
/// kDenied, kUnavailable, else kInvalidArgument with the brokers' words.
Status CreateGroupTopic(Client& client, const GroupOptions& options, TopicCreation creation,
                        const Budget& budget);

/// Looks whether it is there and large enough, and creates it where that is wanted. Errors as above
/// and as of DescribeTopics; kInvalidArgument when it has too few partitions.
Status EnsureGroupTopic(Askers& askers, const ClusterOptions& cluster, const GroupOptions& options,
                        const Budget& budget);

/// The topic as it is.
Result<TopicFacts> DescribeGroupTopic(Askers& askers, const ClusterOptions& cluster,
                                      const GroupOptions& options, const Budget& budget);

}  // namespace tidemark::kafka::client
