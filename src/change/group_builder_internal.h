/// The pieces of a group that depend on one instant alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "change/planner.h"

namespace tidemark::change {

/// Fills in which instant caused the group and when.
void DescribeInstant(const InstantEffect& instant, const TableFacts& facts, Group& group);

SchemaSource SchemaSourceOf(const InstantEffect& instant);

CommitChange CommitChangeOf(const InstantEffect& instant,
                            std::span<const PartitionChange> partitions,
                            const PlanOptions& options);

/// Applies what a commit did to one partition; nullopt where it was not there and is not now.
std::optional<PartitionOp> Apply(const std::string& path, const PartitionWrite& write,
                                 Inventory& inventory);

/// Adds the groups that `instants`, in their order, continue or replace without having begun them:
/// they were there before, though their files may have been cleaned since.
void AddImplied(std::span<const InstantEffect* const> instants, Inventory& inventory);

struct FoundSchema {
  Schema schema;
  SchemaSource source;
};
/// Of the published commits whose bodies are at hand, the one whose schema readers see.
std::optional<FoundSchema> NewestSchema(const std::map<InstantKey, int64_t>& published,
                                        const TableFacts& facts);

/// Requested last.
std::optional<InstantKey> NewestOf(const std::map<InstantKey, int64_t>& published);

}  // namespace tidemark::change
