/// What a Resolution works by: one plan for each pair of types that meet.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lake/avro/resolve.h"
#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

enum class ResolveStep : uint8_t {
  kPlain,  ///< the writer's bytes, perhaps promoted
  kEnum,   ///< symbols map by name
  kRecord,
  kItems,
  kWriterUnion,   ///< a plan for each branch
  kReaderBranch,  ///< a branch of the reader's union, by another plan
  kImpossible,
};

struct ResolvePlan {
  /// A field that the writer does not have.
  struct Default {
    size_t slot = 0;    ///< place in the reader's fields
    std::string bytes;  ///< encoded as the reader's field type
    const ResolvePlan* plan = nullptr;
  };

  ResolveStep step = ResolveStep::kImpossible;
  const Type* reader = nullptr;
  size_t reader_branch = 0;                    ///< kReaderBranch
  const ResolvePlan* inner = nullptr;          ///< kReaderBranch; never one itself
  std::vector<std::optional<size_t>> symbols;  ///< kEnum, by the writer's; nullopt: unknown
  std::optional<Selection> selection;      ///< kRecord: the writer's fields, in the reader's order
  std::vector<const ResolvePlan*> fields;  ///< kRecord: per reader field; nullptr: has a default
  std::vector<Default> defaults;           ///< kRecord
  const ResolvePlan* items = nullptr;      ///< kItems
  std::vector<const ResolvePlan*> branches;  ///< kWriterUnion
  std::string why;                           ///< kImpossible: path and reason
};

struct Resolution::Storage {
  std::deque<ResolvePlan> plans;  // addresses stay
};

/// The plan for the roots, owned by `storage`; it may be impossible. kCorrupt and kExhausted as
/// Resolution::Make.
Result<const ResolvePlan*> PlanResolution(const Type& writer, const Type& reader,
                                          Resolution::Storage& storage);

}  // namespace tidemark::lake::avro
