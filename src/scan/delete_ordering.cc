#include "scan/delete_ordering.h"

#include <array>
#include <utility>
#include <vector>

namespace tidemark::scan {
namespace {

using lake::hudi::DeleteOrdering;
using merge::JavaClass;
using merge::OrderingColumn;
using merge::OrderingValue;
using Branch = lake::hudi::DeleteBranch;

/// The two modules number the union's branches alike.
merge::DeleteBranch BranchOf(Branch branch) {
  if (branch == Branch::kLocalDate) return merge::DeleteBranch::kDate;
  return static_cast<merge::DeleteBranch>(branch);
}
static_assert(static_cast<int>(Branch::kArray) == static_cast<int>(merge::DeleteBranch::kArray));

std::optional<JavaClass> ClassOf(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, JavaClass>, 14> kClasses = {{
      {"java.lang.Boolean", JavaClass::kBoolean},
      {"java.lang.Integer", JavaClass::kInteger},
      {"java.lang.Long", JavaClass::kLong},
      {"java.lang.Float", JavaClass::kFloat},
      {"java.lang.Double", JavaClass::kDouble},
      {"java.lang.String", JavaClass::kString},
      {"org.apache.avro.util.Utf8", JavaClass::kUtf8},
      {"org.apache.spark.unsafe.types.UTF8String", JavaClass::kUtf8String},
      {"java.math.BigDecimal", JavaClass::kBigDecimal},
      {"org.apache.spark.sql.types.Decimal", JavaClass::kSparkDecimal},
      {"java.time.LocalDate", JavaClass::kLocalDate},
      {"java.sql.Date", JavaClass::kSqlDate},
      {"java.sql.Timestamp", JavaClass::kSqlTimestamp},
      {"java.time.Instant", JavaClass::kInstant},
  }};
  for (const auto& [known, java_class] : kClasses) {
    if (name == known) return java_class;
  }
  return std::nullopt;
}

Result<OrderingValue> Single(const DeleteOrdering& ordering, OrderingColumn column) {
  const auto branch = BranchOf(ordering.branch);
  switch (ordering.branch) {
    case Branch::kNull: return OrderingValue::NoneDeleted(column);
    case Branch::kFloat:
    case Branch::kDouble: return OrderingValue::DeletedReal(branch, ordering.real, column);
    case Branch::kBytes:
    case Branch::kString:
    case Branch::kDecimal:
      return OrderingValue::DeletedBytes(branch, ordering.bytes, column,
                                         ordering.branch == Branch::kDecimal
                                             ? static_cast<uint8_t>(ordering.scale)
                                             : merge::kDeleteDecimalScale);
    default: return OrderingValue::DeletedInteger(branch, ordering.integer, column);
  }
}

Result<OrderingValue> Classed(const DeleteOrdering& ordering, OrderingColumn column) {
  TRY_ASSIGN(const OrderingValue value, Single(ordering, column));
  const auto java_class = ClassOf(ordering.java_class);
  if (!java_class || value.is_sentinel()) return value;
  return value.WithClass(*java_class);
}

}  // namespace

Result<OrderingValue> DeletedOrdering(const DeleteOrdering& ordering, const OrderingFields& fields,
                                      merge::OrderingArena& arena) {
  if (ordering.branch != Branch::kArray) return Classed(ordering, fields.single());
  std::vector<OrderingValue> items;
  for (size_t i = 0; i < ordering.items.size(); ++i) {
    const OrderingColumn column = i < fields.size() ? fields.column(i) : OrderingColumn{};
    TRY_ASSIGN(const OrderingValue item, Classed(ordering.items[i], column));
    items.push_back(item);
  }
  return arena.Keep(OrderingValue::Array(items));
}

}  // namespace tidemark::scan
