#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "change/columns_internal.h"
#include "lake/avro/schema.h"

namespace tidemark::change {
namespace {

using lake::avro::Kind;
using lake::avro::Logical;
using lake::avro::Type;

std::string LogicalName(const Type& type) {
  switch (type.logical) {
    case Logical::kDecimal: return fmt::format("decimal({},{})", type.precision, type.scale);
    case Logical::kDate: return "date";
    case Logical::kTimeMillis: return "time_millis";
    case Logical::kTimeMicros: return "time";
    case Logical::kTimestampMillis: return "timestamp_millis";
    case Logical::kTimestampMicros: return "timestamp";
    case Logical::kTimestampNanos: return "timestamp_nanos";
    case Logical::kLocalTimestampMillis: return "timestamp_ntz_millis";
    case Logical::kLocalTimestampMicros: return "timestamp_ntz";
    case Logical::kLocalTimestampNanos: return "timestamp_ntz_nanos";
    case Logical::kUuid: return "uuid";
    case Logical::kNone: break;
  }
  return {};
}

std::string LeafName(const Type& type) {
  if (std::string name = LogicalName(type); !name.empty()) return name;
  switch (type.kind) {
    case Kind::kBoolean: return "boolean";
    case Kind::kInt: return "int";
    case Kind::kLong: return "bigint";
    case Kind::kFloat: return "float";
    case Kind::kDouble: return "double";
    case Kind::kBytes: return "binary";
    case Kind::kFixed: return fmt::format("fixed({})", type.fixed_size);
    // An enum's symbols are no type to Hive, Spark or Hudi's internal form.
    case Kind::kString:
    case Kind::kEnum: return "string";
    default: return "void";
  }
}

class AvroReader {
 public:
  Result<std::vector<Column>> ReadFields(const Type& record) {
    // Whoever wrote it can read no such table either.
    if (std::ranges::find(open_, &record) != open_.end())
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("schema holds itself record={}", record.name));
    open_.push_back(&record);
    std::vector<Column> columns;
    for (const auto& field : record.fields) {
      if (open_.size() == 1 && IsMetaColumn(field.name)) continue;
      TRY_ASSIGN(Column column, Read(*field.type, field.name));
      column.comment = field.doc;
      column.default_json = field.default_json;
      if (column.is_nullable && column.default_json == "null") column.default_json.reset();
      columns.push_back(std::move(column));
    }
    open_.pop_back();
    return columns;
  }

 private:
  Result<Column> Read(const Type& type, std::string name) {
    TRY(count_.Add());
    Column column;
    column.name = std::move(name);
    TRY(Fill(type, column));
    return column;
  }

  Status Fill(const Type& type, Column& column) {
    switch (type.kind) {
      case Kind::kNull:
        column.type = LeafName(type);
        column.is_nullable = true;
        return {};
      case Kind::kRecord: {
        column.type = kStruct;
        TRY_ASSIGN(column.children, ReadFields(type));
        return {};
      }
      case Kind::kArray: {
        column.type = kArray;
        TRY_ASSIGN(Column element, Read(*type.items, "element"));
        column.children.push_back(std::move(element));
        return {};
      }
      case Kind::kMap: {
        column.type = kMap;
        TRY(count_.Add());
        Column key;
        key.name = "key";
        key.type = "string";
        column.children.push_back(std::move(key));
        TRY_ASSIGN(Column value, Read(*type.items, "value"));
        column.children.push_back(std::move(value));
        return {};
      }
      case Kind::kUnion: return FillUnion(type, column);
      default: column.type = LeafName(type); return {};
    }
  }

  Status FillUnion(const Type& type, Column& column) {
    std::vector<const Type*> members;
    for (const Type* branch : type.branches)
      if (branch->kind != Kind::kNull) members.push_back(branch);
    if (members.size() == 1) {
      TRY(Fill(*members.front(), column));
    } else {
      column.type = members.empty() ? "void" : std::string(kUnion);
      for (const Type* member : members) {
        TRY_ASSIGN(Column read, Read(*member, fmt::format("member{}", column.children.size())));
        column.children.push_back(std::move(read));
      }
    }
    column.is_nullable = members.size() < type.branches.size();
    return {};
  }

  std::vector<const Type*> open_;  // records around the one being read
  ColumnCount count_;
};

}  // namespace

Result<std::vector<Column>> AvroColumns(std::string_view json) {
  TRY_ASSIGN(const auto schema, lake::avro::Schema::Parse(json));
  if (schema.root().kind != Kind::kRecord)
    return Fail(ErrorKind::kCorrupt, fmt::format("schema is not that of a record type={}",
                                                 lake::avro::KindName(schema.root().kind)));
  return AvroReader().ReadFields(schema.root());
}

Result<Schema> ParseAvroColumns(std::string_view json) {
  TRY_ASSIGN(auto columns, AvroColumns(json));
  return FinishSchema(std::move(columns));
}

}  // namespace tidemark::change
