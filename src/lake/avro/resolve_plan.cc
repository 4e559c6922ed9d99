#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lake/avro/default_value.h"
#include "lake/avro/resolve_plan_internal.h"

namespace tidemark::lake::avro {
namespace {

constexpr int kPlanDepthMax = 2 * kSchemaDepthMax;

std::string_view ShortName(std::string_view full_name) {
  return full_name.substr(full_name.rfind('.') + 1);
}

// By unqualified name, or by an alias of the reader's.
bool NamesMatch(const Type& writer, const Type& reader) {
  return ShortName(writer.name) == ShortName(reader.name) ||
         std::ranges::find(reader.aliases, writer.name) != reader.aliases.end();
}

bool IsPromotable(Kind writer, Kind reader) {
  switch (writer) {
    case Kind::kInt:
      return reader == Kind::kLong || reader == Kind::kFloat || reader == Kind::kDouble;
    case Kind::kLong: return reader == Kind::kFloat || reader == Kind::kDouble;
    case Kind::kFloat: return reader == Kind::kDouble;
    case Kind::kString: return reader == Kind::kBytes;
    case Kind::kBytes: return reader == Kind::kString;
    default: return false;
  }
}

// Why the plain values of the two are not the same ones; empty when they are.
std::string LogicalDifference(const Type& writer, const Type& reader) {
  if (writer.logical == Logical::kNone || reader.logical == Logical::kNone) return {};
  if (writer.logical != reader.logical) return "they stand for different things";
  if (writer.logical == Logical::kDecimal && writer.scale != reader.scale) {
    return fmt::format("decimals of different scale, writer={} reader={}", writer.scale,
                       reader.scale);
  }
  return {};
}

class Planner {
 public:
  explicit Planner(Resolution::Storage& storage) : storage_(storage) {}

  Result<const ResolvePlan*> Plan(const Type& writer, const Type& reader, const std::string& path,
                                  int depth);

 private:
  Status Fill(const Type& writer, const Type& reader, const std::string& path, int depth,
              ResolvePlan& plan);
  Status FillWriterUnion(const Type& writer, const Type& reader, const std::string& path, int depth,
                         ResolvePlan& plan);
  Status FillReaderUnion(const Type& writer, const Type& reader, const std::string& path, int depth,
                         ResolvePlan& plan);
  Status FillRecord(const Type& writer, const Type& reader, const std::string& path, int depth,
                    ResolvePlan& plan);
  Status AddDefault(const Field& field, size_t slot, const std::string& path, int depth,
                    ResolvePlan& plan);
  Status FillItems(const Type& writer, const Type& reader, const std::string& path, int depth,
                   ResolvePlan& plan);
  static void FillEnum(const Type& writer, const Type& reader, ResolvePlan& plan);
  static void FillPlain(const Type& writer, const Type& reader, const std::string& path,
                        ResolvePlan& plan);
  static void Refuse(ResolvePlan& plan, const std::string& path, std::string_view why) {
    plan.step = ResolveStep::kImpossible;
    plan.why = fmt::format("{} path={}", why, path);
  }

  Resolution::Storage& storage_;
  // A recursive pair is found here before it is filled.
  std::map<std::pair<const Type*, const Type*>, const ResolvePlan*> known_;
};

Result<const ResolvePlan*> Planner::Plan(const Type& writer, const Type& reader,
                                         const std::string& path, int depth) {
  const auto known = known_.find({&writer, &reader});
  if (known != known_.end()) return known->second;
  if (storage_.plans.size() >= kResolvePlansMax || depth > kPlanDepthMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro schemas are too large to resolve, plans_max={} depth_max={}",
                            kResolvePlansMax, kPlanDepthMax));
  }
  ResolvePlan& plan = storage_.plans.emplace_back();
  plan.reader = &reader;
  known_.emplace(std::pair(&writer, &reader), &plan);
  TRY(Fill(writer, reader, path, depth, plan));
  return &plan;
}

Status Planner::Fill(const Type& writer, const Type& reader, const std::string& path, int depth,
                     ResolvePlan& plan) {
  if (writer.kind == Kind::kUnion) return FillWriterUnion(writer, reader, path, depth, plan);
  if (reader.kind == Kind::kUnion) return FillReaderUnion(writer, reader, path, depth, plan);
  if (writer.kind == Kind::kRecord && reader.kind == Kind::kRecord) {
    return FillRecord(writer, reader, path, depth, plan);
  }
  if (writer.kind == reader.kind && writer.items != nullptr) {
    return FillItems(writer, reader, path, depth, plan);
  }
  if (writer.kind == Kind::kEnum && reader.kind == Kind::kEnum && NamesMatch(writer, reader)) {
    FillEnum(writer, reader, plan);
  } else {
    FillPlain(writer, reader, path, plan);
  }
  return {};
}

void Planner::FillPlain(const Type& writer, const Type& reader, const std::string& path,
                        ResolvePlan& plan) {
  const bool is_same = writer.kind == reader.kind && writer.kind != Kind::kEnum &&
                       (writer.kind != Kind::kFixed ||
                        (writer.fixed_size == reader.fixed_size && NamesMatch(writer, reader)));
  if (!is_same && !IsPromotable(writer.kind, reader.kind)) {
    return Refuse(plan, path,
                  fmt::format("the types do not match, writer={} reader={}",
                              writer.name.empty() ? KindName(writer.kind) : writer.name,
                              reader.name.empty() ? KindName(reader.kind) : reader.name));
  }
  const auto difference = LogicalDifference(writer, reader);
  if (!difference.empty()) return Refuse(plan, path, difference);
  plan.step = ResolveStep::kPlain;
}

void Planner::FillEnum(const Type& writer, const Type& reader, ResolvePlan& plan) {
  const auto find = [&](const std::string& symbol) -> std::optional<size_t> {
    const auto found = std::ranges::find(reader.symbols, symbol);
    if (found == reader.symbols.end()) return std::nullopt;
    return static_cast<size_t>(found - reader.symbols.begin());
  };
  const auto fallback = reader.default_symbol ? find(*reader.default_symbol) : std::nullopt;
  for (const auto& symbol : writer.symbols) {
    const auto found = find(symbol);
    plan.symbols.push_back(found ? found : fallback);
  }
  plan.step = ResolveStep::kEnum;
}

Status Planner::FillItems(const Type& writer, const Type& reader, const std::string& path,
                          int depth, ResolvePlan& plan) {
  // Until the items say otherwise: they may hold this pair again.
  plan.step = ResolveStep::kItems;
  TRY_ASSIGN(plan.items, Plan(*writer.items, *reader.items, path + "[]", depth + 1));
  if (plan.items->step == ResolveStep::kImpossible) {
    plan.step = ResolveStep::kImpossible;
    plan.why = plan.items->why;
  }
  return {};
}

Status Planner::FillWriterUnion(const Type& writer, const Type& reader, const std::string& path,
                                int depth, ResolvePlan& plan) {
  plan.step = ResolveStep::kWriterUnion;
  bool is_possible = false;
  for (const Type* branch : writer.branches) {
    TRY_ASSIGN(const ResolvePlan* one, Plan(*branch, reader, path, depth + 1));
    is_possible = is_possible || one->step != ResolveStep::kImpossible;
    plan.branches.push_back(one);
  }
  if (!is_possible) {
    Refuse(plan, path, "no branch of the writer's union matches");
  }
  return {};
}

// Java's order: the branch of the very type and name first, then the first that can be read.
Status Planner::FillReaderUnion(const Type& writer, const Type& reader, const std::string& path,
                                int depth, ResolvePlan& plan) {
  std::vector<size_t> order;
  for (const bool is_exact : {true, false}) {
    for (size_t i = 0; i < reader.branches.size(); ++i) {
      const Type& branch = *reader.branches[i];
      const bool is_same =
          branch.kind == writer.kind && (writer.name.empty() || NamesMatch(writer, branch));
      if (is_same == is_exact) order.push_back(i);
    }
  }
  for (const size_t i : order) {
    TRY_ASSIGN(const ResolvePlan* one, Plan(writer, *reader.branches[i], path, depth + 1));
    if (one->step == ResolveStep::kImpossible) continue;
    plan.step = ResolveStep::kReaderBranch;
    plan.reader_branch = i;
    plan.inner = one;
    return {};
  }
  Refuse(plan, path,
         fmt::format("no branch of the reader's union matches, writer={}",
                     writer.name.empty() ? KindName(writer.kind) : writer.name));
  return {};
}

Status Planner::AddDefault(const Field& field, size_t slot, const std::string& path, int depth,
                           ResolvePlan& plan) {
  auto bytes = EncodeDefault(field.default_json.value_or(""), *field.type);
  if (!bytes) {
    return std::unexpected(std::move(bytes).error().With(fmt::format("path={}", path)));
  }
  ResolvePlan::Default value{slot, *std::move(bytes), nullptr};
  TRY_ASSIGN(value.plan, Plan(*field.type, *field.type, path, depth + 1));
  plan.defaults.push_back(std::move(value));
  return {};
}

Status Planner::FillRecord(const Type& writer, const Type& reader, const std::string& path,
                           int depth, ResolvePlan& plan) {
  plan.step = ResolveStep::kRecord;
  std::vector<std::string_view> names(reader.fields.size());  // no field has an empty name
  plan.fields.assign(reader.fields.size(), nullptr);
  std::set<size_t> taken;
  for (size_t i = 0; i < reader.fields.size(); ++i) {
    const Field& field = reader.fields[i];
    const auto place = path + "." + field.name;
    auto written = writer.FindField(field.name);
    for (const auto& alias : field.aliases) {
      if (!written) written = writer.FindField(alias);
    }
    if (!written && field.default_json) {
      TRY(AddDefault(field, i, place, depth, plan));
      continue;
    }
    if (!written) {
      Refuse(plan, place, "the writer has no such field and the reader no default");
      return {};
    }
    if (!taken.insert(*written).second) {
      Refuse(plan, place, "two fields of the reader stand for one of the writer");
      return {};
    }
    names[i] = writer.fields[*written].name;
    TRY_ASSIGN(plan.fields[i], Plan(*writer.fields[*written].type, *field.type, place, depth + 1));
    if (plan.fields[i]->step == ResolveStep::kImpossible) {
      plan.step = ResolveStep::kImpossible;
      plan.why = plan.fields[i]->why;
      return {};
    }
  }
  plan.selection.emplace(writer, names);
  return {};
}

}  // namespace

Result<const ResolvePlan*> PlanResolution(const Type& writer, const Type& reader,
                                          Resolution::Storage& storage) {
  return Planner(storage).Plan(writer, reader, "$", 0);
}

}  // namespace tidemark::lake::avro
