#include "lake/avro/resolve.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "lake/avro/resolve_plan_internal.h"

namespace tidemark::lake::avro {

const Type& Resolved::type() const {
  return *plan_->reader;
}

// Steps through unions on both sides to what the value itself is read by.
Result<Resolved> Resolved::Make(const ResolvePlan& plan, const Datum& datum) {
  const ResolvePlan* step = &plan;
  if (step->step == ResolveStep::kWriterUnion) step = step->branches[datum.branch()];
  size_t branch = 0;
  if (step->step == ResolveStep::kReaderBranch) {
    branch = step->reader_branch;
    step = step->inner;
  }
  if (step->step == ResolveStep::kImpossible) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("avro value cannot be read as the reader's type: {} offset={}",
                            step->why, datum.offset()));
  }
  return Resolved(*step, datum, branch);
}

std::unexpected<Error> Resolved::Mismatch(std::string_view wanted) const {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("avro value is of another type, wanted={} type={} offset={}", wanted,
                          KindName(type().kind), datum_.offset()));
}

Result<int32_t> Resolved::Int() const {
  if (type().kind != Kind::kInt) return Mismatch("int");
  return datum_.Int();
}

Result<int64_t> Resolved::Long() const {
  if (type().kind != Kind::kInt && type().kind != Kind::kLong) return Mismatch("long");
  return datum_.Long();
}

Result<float> Resolved::Float() const {
  if (type().kind != Kind::kFloat) return Mismatch("float");
  if (datum_.type().kind == Kind::kFloat) return datum_.Float();
  TRY_ASSIGN(const int64_t value, datum_.Long());
  return static_cast<float>(value);
}

Result<double> Resolved::Double() const {
  if (type().kind == Kind::kFloat) {
    TRY_ASSIGN(const float value, Float());
    return static_cast<double>(value);
  }
  if (type().kind != Kind::kDouble) return Mismatch("double");
  if (datum_.type().kind == Kind::kFloat || datum_.type().kind == Kind::kDouble) {
    return datum_.Double();
  }
  TRY_ASSIGN(const int64_t value, datum_.Long());
  return static_cast<double>(value);
}

Result<std::string_view> Resolved::Bytes() const {
  if (type().kind != Kind::kBytes && type().kind != Kind::kString && type().kind != Kind::kFixed) {
    return Mismatch("bytes");
  }
  return datum_.Bytes();
}

Result<std::string_view> Resolved::String() const {
  if (type().kind == Kind::kString) return datum_.Bytes();
  if (type().kind != Kind::kEnum) return Mismatch("string");
  TRY_ASSIGN(const size_t written, datum_.SymbolIndex());
  const auto symbol = plan_->symbols[written];
  if (!symbol) {
    return Fail(
        ErrorKind::kUnsupported,
        fmt::format("avro enum symbol is unknown to the reader, symbol={} enum={} offset={}",
                    datum_.type().symbols[written], type().name, datum_.offset()));
  }
  return std::string_view(type().symbols[*symbol]);
}

Status Resolved::Boolean(bool& value) const {
  if (type().kind != Kind::kBoolean) return Mismatch("boolean");
  return datum_.Boolean(value);
}

Status Resolved::ReadFields(std::span<std::optional<Resolved>> row) const {
  if (plan_->step != ResolveStep::kRecord || !plan_->selection) return Mismatch("record");
  CHECK(row.size() == type().fields.size(), "row of another record");
  std::vector<std::optional<Datum>> written(row.size());
  TRY(datum_.ReadFields(*plan_->selection, written));
  for (size_t i = 0; i < row.size(); ++i) {
    // Where there is none a default follows.
    if (const auto& datum = written[i]) {
      TRY_ASSIGN(row[i], Make(*plan_->fields[i], *datum));
    }
  }
  for (const auto& value : plan_->defaults) {
    TRY_ASSIGN(const auto datum, Datum::Open(*type().fields[value.slot].type, value.bytes));
    TRY_ASSIGN(row[value.slot], Make(*value.plan, datum));
  }
  return {};
}

Result<ResolvedItems> Resolved::OpenItems() const {
  if (plan_->step != ResolveStep::kItems) return Mismatch("array or map");
  TRY_ASSIGN(const auto items, datum_.OpenItems());
  return ResolvedItems(*plan_->items, items);
}

Result<std::optional<ResolvedItems::Entry>> ResolvedItems::Next() {
  TRY_ASSIGN(const auto entry, items_.Next());
  if (!entry) return std::nullopt;
  TRY_ASSIGN(const auto value, Resolved::Make(*plan_, entry->value));
  return Entry{entry->key, value};
}

Result<Resolution> Resolution::Make(Schema writer, Schema reader) {
  auto storage = std::make_shared<Storage>();
  TRY_ASSIGN(const ResolvePlan* root, PlanResolution(writer.root(), reader.root(), *storage));
  if (root->step == ResolveStep::kImpossible) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("avro schema cannot be read as the reader's: {}", root->why));
  }
  return Resolution(std::move(writer), std::move(reader), std::move(storage), root);
}

Result<Resolved> Resolution::Open(std::string_view bytes, uint64_t offset) const {
  TRY_ASSIGN(const auto datum, Datum::Open(writer_.root(), bytes, offset));
  return Resolved::Make(*root_, datum);
}

}  // namespace tidemark::lake::avro
