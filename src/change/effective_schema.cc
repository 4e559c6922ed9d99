#include <tuple>

#include "change/schema.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::change {
namespace {

/// The greatest is seen.
auto Rank(const SchemaSource& source) {
  const bool may_change = !source.operation || lake::hudi::MayChangeSchema(*source.operation);
  return std::tuple(source.has_schema, may_change, std::string_view(source.requested),
                    std::string_view(source.action_name));
}

}  // namespace

bool Supersedes(const SchemaSource& candidate, const SchemaSource& current) {
  return candidate.has_schema && Rank(candidate) > Rank(current);
}

std::optional<size_t> EffectiveSchema(std::span<const SchemaSource> completed) {
  std::optional<size_t> seen;
  for (size_t i = 0; i < completed.size(); ++i) {
    if (!completed[i].has_schema) continue;
    if (!seen || Supersedes(completed[i], completed[*seen])) seen = i;
  }
  return seen;
}

}  // namespace tidemark::change
