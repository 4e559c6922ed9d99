#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>
#include <fmt/format.h>

#include "columnar/arrow_bridge_internal.h"
#include "columnar/arrow_errors_internal.h"

namespace tidemark::columnar {
namespace {

std::unexpected<Error> Unsupported(const std::string& path, const arrow::DataType& type) {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("parquet column has a type that is not supported, column={} type={}",
                          path, type.ToString()));
}

// The items or fields of a nested type, each made plain.
Result<std::vector<std::shared_ptr<arrow::Field>>> PlainFields(const arrow::DataType& type,
                                                               const std::string& path) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const auto& field : type.fields()) {
    TRY_ASSIGN(const auto plain, PlainArrowType(field->type(), path + "." + field->name()));
    fields.push_back(field->WithType(plain));
  }
  return fields;
}

Result<std::shared_ptr<arrow::DataType>> PlainNested(const std::shared_ptr<arrow::DataType>& type,
                                                     const std::string& path) {
  TRY_ASSIGN(const auto fields, PlainFields(*type, path));
  bool is_plain = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    is_plain = is_plain && fields[i]->type() == type->field(static_cast<int>(i))->type();
  }
  switch (type->id()) {
    case arrow::Type::STRUCT:
      if (is_plain) return type;
      return arrow::struct_(fields);
    case arrow::Type::LIST:
      if (is_plain) return type;
      return arrow::list(fields[0]);
    case arrow::Type::MAP:
      if (is_plain) return type;
      return std::static_pointer_cast<arrow::DataType>(std::make_shared<arrow::MapType>(fields[0]));
    default: return arrow::list(fields[0]);  // large and fixed-size lists
  }
}

ValueType Make(ValueKind kind, uint32_t width, TimeUnit unit = TimeUnit::kMillis) {
  ValueType type;
  type.kind = kind;
  type.width = width;
  type.unit = unit;
  return type;
}

TimeUnit UnitOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::NANO: return TimeUnit::kNanos;
    case arrow::TimeUnit::MICRO: return TimeUnit::kMicros;
    default: return TimeUnit::kMillis;
  }
}

arrow::TimeUnit::type ArrowUnitOf(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis: return arrow::TimeUnit::MILLI;
    case TimeUnit::kMicros: return arrow::TimeUnit::MICRO;
    case TimeUnit::kNanos: break;
  }
  return arrow::TimeUnit::NANO;
}

ValueType NestedTypeOf(const arrow::DataType& type) {
  ValueType made = Make(type.id() == arrow::Type::STRUCT ? ValueKind::kStruct
                        : type.id() == arrow::Type::MAP  ? ValueKind::kMap
                                                         : ValueKind::kList,
                        0);
  // The entries of a map are a struct of their own in Arrow.
  const arrow::DataType& holder = made.kind == ValueKind::kMap ? *type.field(0)->type() : type;
  for (const auto& field : holder.fields()) {
    ValueField child;
    child.name = field->name();
    child.type = ValueTypeOf(*field->type());
    child.is_nullable = field->nullable();
    made.fields.push_back(std::move(child));
  }
  return made;
}

std::shared_ptr<arrow::DataType> ArrowTypeOf(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBoolean: return arrow::boolean();
    case ValueKind::kInt32: return arrow::int32();
    case ValueKind::kInt64: return arrow::int64();
    case ValueKind::kFloat: return arrow::float32();
    case ValueKind::kDouble: return arrow::float64();
    case ValueKind::kString: return arrow::utf8();
    case ValueKind::kBinary: return arrow::binary();
    case ValueKind::kFixed: return arrow::fixed_size_binary(static_cast<int32_t>(type.width));
    case ValueKind::kDecimal:
      if (type.width == 16) return arrow::decimal128(type.precision, type.scale);
      return arrow::decimal256(type.precision, type.scale);
    case ValueKind::kDate: return arrow::date32();
    case ValueKind::kTime:
      if (type.width == 4) return arrow::time32(arrow::TimeUnit::MILLI);
      return arrow::time64(arrow::TimeUnit::MICRO);
    case ValueKind::kTimestamp:
      return arrow::timestamp(ArrowUnitOf(type.unit), type.is_local ? "" : "UTC");
    case ValueKind::kStruct: break;
    case ValueKind::kList: return arrow::list(ArrowFieldOf(type.fields[0]));
    case ValueKind::kMap:
      return std::make_shared<arrow::MapType>(ArrowFieldOf(type.fields[0]),
                                              ArrowFieldOf(type.fields[1]));
  }
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const auto& field : type.fields) fields.push_back(ArrowFieldOf(field));
  return arrow::struct_(fields);
}

std::shared_ptr<arrow::Buffer> Borrow(const uint8_t* bytes, size_t size) {
  static const uint8_t kNone[64] = {};
  return std::make_shared<arrow::Buffer>(bytes == nullptr ? kNone : bytes,
                                         bytes == nullptr ? 0 : static_cast<int64_t>(size));
}

// From bit 0 on, because Arrow's offset would go for the values too.
Result<std::shared_ptr<arrow::Buffer>> BitsOf(const uint8_t* bits, const ColumnView& view) {
  if (view.bit_offset == 0) return Borrow(bits, (view.rows + 7) / 8);
  ARROW_TRY_ASSIGN(auto copy,
                   arrow::internal::CopyBitmap(arrow::default_memory_pool(), bits,
                                               static_cast<int64_t>(view.bit_offset),
                                               static_cast<int64_t>(view.rows)),
                   "output");
  return copy;
}

// Where a struct is null its fields are too, whatever their type says: Arrow wants a value there.
Status CheckNoNulls(const ValueField& field, const ColumnView& view, const ColumnView* parent) {
  for (size_t row = 0; row < view.rows; ++row) {
    if (view.IsNull(row) && (parent == nullptr || !parent->IsNull(row))) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("null in a column that may hold none, column={}", field.name));
    }
  }
  return {};
}

Result<std::shared_ptr<arrow::ArrayData>> ArrayUnder(const ValueField& field,
                                                     const ColumnView& view,
                                                     const ColumnView* parent) {
  const ValueType& type = *view.type;
  auto array = std::make_shared<arrow::ArrayData>();
  array->type = ArrowTypeOf(type);
  array->length = static_cast<int64_t>(view.rows);
  array->null_count = 0;
  array->buffers.push_back(nullptr);
  if (view.validity != nullptr && !field.is_nullable) {
    TRY(CheckNoNulls(field, view, parent));
  } else if (view.validity != nullptr) {
    array->null_count = arrow::kUnknownNullCount;
    TRY_ASSIGN(array->buffers[0], BitsOf(view.validity, view));
  }
  if (view.offsets != nullptr) {
    array->buffers.push_back(
        Borrow(reinterpret_cast<const uint8_t*>(view.offsets), (view.rows + 1) * sizeof(int32_t)));
  }
  if (type.kind == ValueKind::kBoolean) {
    TRY_ASSIGN(array->buffers.emplace_back(), BitsOf(view.values, view));
  } else if (type.kind == ValueKind::kString || type.kind == ValueKind::kBinary) {
    array->buffers.push_back(Borrow(view.values, static_cast<size_t>(view.offsets[view.rows])));
  } else if (view.children.empty() && type.kind != ValueKind::kStruct) {
    array->buffers.push_back(Borrow(view.values, view.rows * type.width));
  }
  for (size_t i = 0; i < view.children.size(); ++i) {
    TRY_ASSIGN(array->child_data.emplace_back(),
               ArrayUnder(type.fields[i], view.children[i],
                          type.kind == ValueKind::kStruct ? &view : nullptr));
  }
  if (type.kind != ValueKind::kMap) return array;
  auto entries = std::make_shared<arrow::ArrayData>();
  entries->type = static_cast<const arrow::MapType&>(*array->type).value_type();
  entries->length = array->child_data[0]->length;
  entries->null_count = 0;
  entries->buffers.push_back(nullptr);
  entries->child_data = std::move(array->child_data);
  array->child_data = {std::move(entries)};
  return array;
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> PlainArrowType(
    const std::shared_ptr<arrow::DataType>& type, const std::string& path) {
  switch (type->id()) {
    case arrow::Type::BOOL:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::FIXED_SIZE_BINARY:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
    case arrow::Type::DATE32: return type;
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16: return arrow::int32();
    case arrow::Type::UINT32:
    case arrow::Type::UINT64: return arrow::int64();
    case arrow::Type::HALF_FLOAT: return arrow::float32();
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW: return arrow::utf8();
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW: return arrow::binary();
    case arrow::Type::DATE64: return arrow::date32();
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(*type);
      return arrow::decimal128(decimal.precision(), decimal.scale());
    }
    case arrow::Type::TIME32: return arrow::time32(arrow::TimeUnit::MILLI);
    case arrow::Type::TIME64: return arrow::time64(arrow::TimeUnit::MICRO);
    case arrow::Type::TIMESTAMP: {
      const auto& stamp = static_cast<const arrow::TimestampType&>(*type);
      if (stamp.unit() != arrow::TimeUnit::SECOND) return type;
      return arrow::timestamp(arrow::TimeUnit::MILLI, stamp.timezone());
    }
    case arrow::Type::DICTIONARY:
      return PlainArrowType(static_cast<const arrow::DictionaryType&>(*type).value_type(), path);
    case arrow::Type::STRUCT:
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
    case arrow::Type::MAP: return PlainNested(type, path);
    default: return Unsupported(path, *type);
  }
}

ValueType ValueTypeOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL: return Make(ValueKind::kBoolean, 0);
    case arrow::Type::INT32: return Make(ValueKind::kInt32, 4);
    case arrow::Type::INT64: return Make(ValueKind::kInt64, 8);
    case arrow::Type::FLOAT: return Make(ValueKind::kFloat, 4);
    case arrow::Type::DOUBLE: return Make(ValueKind::kDouble, 8);
    case arrow::Type::STRING: return Make(ValueKind::kString, 0);
    case arrow::Type::BINARY: return Make(ValueKind::kBinary, 0);
    case arrow::Type::DATE32: return Make(ValueKind::kDate, 4);
    case arrow::Type::TIME32: return Make(ValueKind::kTime, 4);
    case arrow::Type::TIME64: return Make(ValueKind::kTime, 8, TimeUnit::kMicros);
    case arrow::Type::FIXED_SIZE_BINARY:
      return Make(
          ValueKind::kFixed,
          static_cast<uint32_t>(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width()));
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      ValueType made = Make(ValueKind::kDecimal, static_cast<uint32_t>(decimal.byte_width()));
      made.precision = decimal.precision();
      made.scale = decimal.scale();
      return made;
    }
    case arrow::Type::TIMESTAMP: {
      const auto& stamp = static_cast<const arrow::TimestampType&>(type);
      ValueType made = Make(ValueKind::kTimestamp, 8, UnitOf(stamp.unit()));
      made.is_local = stamp.timezone().empty();
      return made;
    }
    default: return NestedTypeOf(type);
  }
}

ColumnView ViewOf(const arrow::ArrayData& array, const ValueType& type) {
  ColumnView view;
  view.type = &type;
  view.rows = static_cast<size_t>(array.length);
  const auto offset = static_cast<size_t>(array.offset);
  const auto buffer = [&](size_t i) -> const uint8_t* {
    return i < array.buffers.size() && array.buffers[i] != nullptr ? array.buffers[i]->data()
                                                                   : nullptr;
  };
  view.bit_offset = offset;
  if (array.GetNullCount() != 0) view.validity = buffer(0);
  switch (type.kind) {
    case ValueKind::kBoolean: view.values = buffer(1); return view;
    case ValueKind::kString:
    case ValueKind::kBinary: {
      static const int32_t kNoOffsets[1] = {0};
      const auto* const offsets = reinterpret_cast<const int32_t*>(buffer(1));
      view.offsets = offsets == nullptr ? kNoOffsets : offsets + offset;
      view.values = buffer(2);
      return view;
    }
    case ValueKind::kStruct:
      for (size_t i = 0; i < type.fields.size(); ++i) {
        view.children.push_back(
            ViewOf(*array.child_data[i], type.fields[i].type).Slice(offset, view.rows));
      }
      return view;
    case ValueKind::kList:
    case ValueKind::kMap: break;
    default:
      view.values = buffer(1);
      if (view.values != nullptr) view.values += offset * type.width;
      return view;
  }
  static const int32_t kNoOffsets[1] = {0};
  const auto* const offsets = reinterpret_cast<const int32_t*>(buffer(1));
  view.offsets = offsets == nullptr ? kNoOffsets : offsets + offset;
  const arrow::ArrayData& items = *array.child_data[0];
  if (type.kind == ValueKind::kList) {
    view.children.push_back(ViewOf(items, type.fields[0].type));
    return view;
  }
  for (size_t i = 0; i < 2; ++i) {
    view.children.push_back(
        ViewOf(*items.child_data[i], type.fields[i].type)
            .Slice(static_cast<size_t>(items.offset), static_cast<size_t>(items.length)));
  }
  return view;
}

std::shared_ptr<arrow::Field> ArrowFieldOf(const ValueField& field) {
  return arrow::field(field.name, ArrowTypeOf(field.type), field.is_nullable);
}

Result<std::shared_ptr<arrow::ArrayData>> ArrayOf(const ValueField& field, const ColumnView& view) {
  return ArrayUnder(field, view, nullptr);
}

}  // namespace tidemark::columnar
