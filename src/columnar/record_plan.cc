#include <fmt/format.h>

#include <algorithm>

#include "columnar/record_plan_internal.h"
#include "lake/avro/default_value.h"

namespace tidemark::columnar {
namespace {

using lake::avro::Kind;
using lake::avro::Logical;
using lake::avro::Type;

constexpr size_t kStepsMax = 1 << 17;

std::optional<TimeUnit> UnitOf(Logical logical) {
  switch (logical) {
    case Logical::kTimeMillis:
    case Logical::kTimestampMillis:
    case Logical::kLocalTimestampMillis: return TimeUnit::kMillis;
    case Logical::kTimeMicros:
    case Logical::kTimestampMicros:
    case Logical::kLocalTimestampMicros: return TimeUnit::kMicros;
    case Logical::kTimestampNanos:
    case Logical::kLocalTimestampNanos: return TimeUnit::kNanos;
    default: return std::nullopt;
  }
}

bool IsTimeOfDay(Logical logical) {
  return logical == Logical::kTimeMillis || logical == Logical::kTimeMicros;
}

class Planner {
 public:
  explicit Planner(const DecodeOptions& options) : options_(options) {}

  // Of the fields of a record, the row type's own or a nested one's.
  template <class Fields>
  Status PlanFields(const Type& writer, const Fields& fields, const std::string& path,
                    DecodeStep& step);

  Result<DecodeStep> Plan(const Type& writer, const ValueField& target, const std::string& path);

 private:
  Status PlanUnion(const Type& writer, const ValueField& target, DecodeStep& step);
  Status PlanItems(const Type& writer, const ValueField& target, DecodeStep& step);
  DecodeOp NumberOp(const Type& writer, ValueKind target) const;
  static void PlanText(const Type& writer, const ValueField& target, DecodeStep& step);
  static void PlanEnum(const Type& writer, const ValueField& target, DecodeStep& step);
  static void PlanDecimal(const Type& writer, const ValueType& target, DecodeStep& step);
  static void PlanTime(const Type& writer, const ValueType& target, DecodeStep& step);

  const DecodeOptions& options_;
  size_t steps_ = 0;
};

// Numbers, booleans, bytes and dates.
DecodeOp Planner::NumberOp(const Type& writer, ValueKind target) const {
  const bool is_int = writer.kind == Kind::kInt;
  const bool is_long = writer.kind == Kind::kLong;
  const bool is_float = writer.kind == Kind::kFloat;
  switch (target) {
    case ValueKind::kBoolean:
      return writer.kind == Kind::kBoolean ? DecodeOp::kBoolean : DecodeOp::kImpossible;
    case ValueKind::kDate:
      if (writer.logical != Logical::kNone && writer.logical != Logical::kDate) break;
      return is_int ? DecodeOp::kInt : DecodeOp::kImpossible;
    case ValueKind::kInt32: return is_int ? DecodeOp::kInt : DecodeOp::kImpossible;
    case ValueKind::kInt64:
      return is_int ? DecodeOp::kIntToLong : is_long ? DecodeOp::kLong : DecodeOp::kImpossible;
    case ValueKind::kFloat:
      if (is_float) return DecodeOp::kFloat;
      return is_int    ? DecodeOp::kIntToFloat
             : is_long ? DecodeOp::kLongToFloat
                       : DecodeOp::kImpossible;
    case ValueKind::kDouble:
      if (writer.kind == Kind::kDouble) return DecodeOp::kDouble;
      if (is_float) {
        return options_.floats == WidenedFloats::kAsPrinted ? DecodeOp::kPrintedFloatToDouble
                                                            : DecodeOp::kFloatToDouble;
      }
      return is_int    ? DecodeOp::kIntToDouble
             : is_long ? DecodeOp::kLongToDouble
                       : DecodeOp::kImpossible;
    case ValueKind::kBinary:
      return writer.kind == Kind::kBytes || writer.kind == Kind::kString ? DecodeOp::kText
                                                                         : DecodeOp::kImpossible;
    default: break;
  }
  return DecodeOp::kImpossible;
}

void Planner::PlanEnum(const Type& writer, const ValueField& target, DecodeStep& step) {
  const Type* known = target.avro;
  if (known != nullptr && known->kind == Kind::kUnion) {
    const auto found = std::ranges::find(known->branches, Kind::kEnum, &Type::kind);
    known = found == known->branches.end() ? nullptr : *found;
  }
  step.op = DecodeOp::kEnum;
  for (const auto& symbol : writer.symbols) {
    if (known == nullptr || known->kind != Kind::kEnum ||
        std::ranges::find(known->symbols, symbol) != known->symbols.end()) {
      step.texts.emplace_back(symbol);
    } else {
      step.texts.push_back(known->default_symbol);
    }
  }
}

void Planner::PlanText(const Type& writer, const ValueField& target, DecodeStep& step) {
  switch (writer.kind) {
    case Kind::kString: step.op = DecodeOp::kText; return;
    case Kind::kEnum: return PlanEnum(writer, target, step);
    case Kind::kBoolean: step.op = DecodeOp::kBooleanText; return;
    case Kind::kFloat: step.op = DecodeOp::kFloatText; return;
    case Kind::kDouble: step.op = DecodeOp::kDoubleText; return;
    case Kind::kLong:
      if (writer.logical == Logical::kNone) step.op = DecodeOp::kLongText;
      return;
    case Kind::kInt:
      if (writer.logical == Logical::kNone) step.op = DecodeOp::kIntText;
      if (writer.logical == Logical::kDate) step.op = DecodeOp::kDateText;
      return;
    case Kind::kBytes:
    case Kind::kFixed:
      if (writer.logical == Logical::kDecimal) {
        step.op = DecodeOp::kDecimalText;
        step.digits = writer.scale;
      } else if (writer.kind == Kind::kBytes) {
        step.op = DecodeOp::kText;
      } else if (writer.logical == Logical::kUuid && writer.fixed_size == 16) {
        step.op = DecodeOp::kUuidText;
      }
      return;
    default: return;
  }
}

void Planner::PlanDecimal(const Type& writer, const ValueType& target, DecodeStep& step) {
  step.width = target.width;
  if (writer.kind == Kind::kBytes || writer.kind == Kind::kFixed) {
    step.op = DecodeOp::kDecimal;
    step.digits = writer.logical == Logical::kDecimal ? target.scale - writer.scale : 0;
  } else if (writer.logical == Logical::kNone &&
             (writer.kind == Kind::kInt || writer.kind == Kind::kLong)) {
    step.op = writer.kind == Kind::kInt ? DecodeOp::kIntToDecimal : DecodeOp::kLongToDecimal;
    step.digits = target.scale;
  }
}

void Planner::PlanTime(const Type& writer, const ValueType& target, DecodeStep& step) {
  const Kind plain = target.width == 4 ? Kind::kInt : Kind::kLong;
  if (writer.logical == Logical::kNone) {
    if (writer.kind == plain) step.op = plain == Kind::kInt ? DecodeOp::kInt : DecodeOp::kLong;
    return;
  }
  const auto unit = UnitOf(writer.logical);
  if (!unit || IsTimeOfDay(writer.logical) != (target.kind == ValueKind::kTime)) return;
  if (*unit == target.unit) {
    step.op = plain == Kind::kInt ? DecodeOp::kInt : DecodeOp::kLong;
    return;
  }
  step.op = DecodeOp::kScaledTime;
  step.is_from_int = writer.kind == Kind::kInt;
  step.width = target.width;
  for (int i = static_cast<int>(*unit); i < static_cast<int>(target.unit); ++i) {
    step.multiplier *= 1000;
  }
  for (int i = static_cast<int>(target.unit); i < static_cast<int>(*unit); ++i) {
    step.divisor *= 1000;
  }
}

Result<DecodeStep> Planner::Plan(const Type& writer, const ValueField& target,
                                 const std::string& path) {
  if (++steps_ > kStepsMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro schema takes too many steps to read, steps_max={}", kStepsMax));
  }
  DecodeStep step;
  step.writer = &writer;
  step.path = path;
  if (writer.kind == Kind::kUnion) {
    TRY(PlanUnion(writer, target, step));
    return step;
  }
  if (writer.kind == Kind::kNull) {
    if (target.is_nullable) step.op = DecodeOp::kNull;
  } else if (target.type.kind == ValueKind::kStruct) {
    if (writer.kind == Kind::kRecord) TRY(PlanFields(writer, target.type.fields, path, step));
  } else if (target.type.kind == ValueKind::kList || target.type.kind == ValueKind::kMap) {
    const Kind wanted = target.type.kind == ValueKind::kList ? Kind::kArray : Kind::kMap;
    if (writer.kind == wanted) TRY(PlanItems(writer, target, step));
  } else if (target.type.kind == ValueKind::kString) {
    PlanText(writer, target, step);
  } else if (target.type.kind == ValueKind::kFixed) {
    const bool is_same = writer.kind == Kind::kFixed && writer.fixed_size == target.type.width;
    if (is_same) step.op = DecodeOp::kFixed;
  } else if (target.type.kind == ValueKind::kDecimal) {
    PlanDecimal(writer, target.type, step);
  } else if (target.type.kind == ValueKind::kTime || target.type.kind == ValueKind::kTimestamp) {
    PlanTime(writer, target.type, step);
  } else {
    step.op = NumberOp(writer, target.type.kind);
  }
  if (step.op == DecodeOp::kImpossible && step.path == path) {
    step.path = fmt::format("column={} written={} type={}", path, KindName(writer.kind),
                            target.type.ToString());
  }
  return step;
}

Status Planner::PlanUnion(const Type& writer, const ValueField& target, DecodeStep& step) {
  bool is_possible = false;
  for (const Type* branch : writer.branches) {
    TRY_ASSIGN(step.inner.emplace_back(), Plan(*branch, target, step.path));
    is_possible = is_possible || step.inner.back().op != DecodeOp::kImpossible;
  }
  if (!is_possible) {
    step.path = step.inner.empty() ? step.path : step.inner.back().path;
    return {};
  }
  step.op = DecodeOp::kUnion;
  if (writer.branches.size() != 2) return {};
  for (size_t i = 0; i < 2; ++i) {
    if (step.inner[i].op != DecodeOp::kNull) continue;
    step.op = DecodeOp::kNullable;
    step.null_branch = i;
    step.inner.erase(step.inner.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  return {};
}

Status Planner::PlanItems(const Type& writer, const ValueField& target, DecodeStep& step) {
  const ValueField& item = target.type.fields.back();
  TRY_ASSIGN(step.inner.emplace_back(),
             Plan(*writer.items, item, fmt::format("{}.{}", step.path, item.name)));
  if (step.inner[0].op == DecodeOp::kImpossible) {
    step.path = step.inner[0].path;
  } else {
    step.op = DecodeOp::kItems;
  }
  return {};
}

template <class Fields>
Status Planner::PlanFields(const Type& writer, const Fields& fields, const std::string& path,
                           DecodeStep& step) {
  step.op = DecodeOp::kRecord;
  step.writer = &writer;
  step.fields.resize(writer.fields.size());
  for (size_t i = 0; i < writer.fields.size(); ++i) step.fields[i].type = writer.fields[i].type;
  for (size_t cell = 0; cell < fields.size(); ++cell) {
    const ValueField& field = fields[cell];
    const std::string place = path.empty() ? field.name : path + "." + field.name;
    const auto name = WrittenName(field, place, options_, [&](std::string_view known) {
      return writer.FindField(known).has_value();
    });
    std::string why;
    if (!name) {
      auto missing = PlanMissingField(field, place, options_);
      if (!missing && missing.error().kind != ErrorKind::kUnsupported) {
        return internal::Pass(missing);
      }
      if (missing) {
        missing->cell = cell;
        step.missing.push_back(*std::move(missing));
        continue;
      }
      why = missing.error().message;
    } else if (DecodeField& from = step.fields[*writer.FindField(*name)]; from.step) {
      why = fmt::format("column={} written={} twice", place, *name);
    } else {
      TRY_ASSIGN(from.step, Plan(*from.type, field, place));
      from.cell = cell;
      if (from.step->op == DecodeOp::kImpossible) why = from.step->path;
    }
    if (!why.empty()) {
      step.op = DecodeOp::kImpossible;
      step.path = why;
      return {};
    }
  }
  // A nested record is read to its end, so that what follows is found.
  while (path.empty() && !step.fields.empty() && !step.fields.back().step) step.fields.pop_back();
  return {};
}

}  // namespace

Result<DecodeMissing> PlanMissingField(const ValueField& field, const std::string& path,
                                       const DecodeOptions& options) {
  DecodeMissing made;
  const auto constant = std::ranges::find(options.constants, path, &ConstantColumn::name);
  std::optional<std::string> json;
  if (constant != options.constants.end())
    json = constant->json;
  else if (options.missing == MissingColumns::kDefault)
    json = field.default_json;
  if (!json || *json == "null" || field.avro == nullptr) {
    if (!field.is_nullable && options.missing == MissingColumns::kDefault) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("column={} written=nothing type={}, and it has no default", path,
                              field.type.ToString()));
    }
    return made;
  }
  auto bytes = lake::avro::EncodeDefault(*json, *field.avro);
  if (!bytes) {
    return std::unexpected(std::move(bytes).error().With(fmt::format("column={}", path)));
  }
  made.bytes = *std::move(bytes);
  // Of the table's own schema: no other names.
  const DecodeOptions own;
  TRY_ASSIGN(made.step, Planner(own).Plan(*field.avro, field, path));
  return made;
}

Result<DecodeStep> PlanRecord(const Type& writer, const RowType& type,
                              const DecodeOptions& options) {
  DecodeStep root;
  if (writer.kind != Kind::kRecord) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("avro records are of another type, type={}", KindName(writer.kind)));
  }
  TRY(Planner(options).PlanFields(writer, type.columns(), "", root));
  if (root.op == DecodeOp::kImpossible) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("column cannot be read as the table's, {}", root.path));
  }
  return root;
}

}  // namespace tidemark::columnar
