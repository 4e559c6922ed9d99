/// Between Arrow's types and arrays and ours.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/value_type.h"

namespace arrow {
class DataType;
class Field;
struct ArrayData;
}  // namespace arrow

namespace tidemark::columnar {

/// The type that values of `type` are cast to before they are looked at: the same one for most.
/// kUnsupported, with the path, for what has no layout here.
Result<std::shared_ptr<arrow::DataType>> PlainArrowType(
    const std::shared_ptr<arrow::DataType>& type, const std::string& path);

/// Of a type that PlainArrowType gave.
ValueType ValueTypeOf(const arrow::DataType& type);

/// The rows of an array; `type` is ValueTypeOf its type. Borrows both.
ColumnView ViewOf(const arrow::ArrayData& array, const ValueType& type);

std::shared_ptr<arrow::Field> ArrowFieldOf(const ValueField& field);

/// A column of batches, for writing; borrows what the view borrows. kUnsupported: a null where the
/// field may have none.
Result<std::shared_ptr<arrow::ArrayData>> ArrayOf(const ValueField& field, const ColumnView& view);

}  // namespace tidemark::columnar
