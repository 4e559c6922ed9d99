// Parquet files through Arrow's low-level reader, one row at a time. A value's bytes
// are those of the page it stands in, so memory is bounded by the pages at hand.
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <fmt/format.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <charconv>
#include <utility>
#include <variant>
#include <vector>

#include "columnar/parquet_footer_internal.h"
#include "columnar/parquet_reader_internal.h"
#include "lake/column_reader.h"

namespace tidemark::columnar {
namespace {

// What Arrow may hold at once for one file: pages, unpacked, and dictionaries.
constexpr int64_t kArrowBytesMax = int64_t{1} << 30;
// Runs of nulls take no bytes; a file may claim any number of rows.
constexpr int64_t kRowsMax = int64_t{1} << 27;

std::unexpected<Error> Damaged(std::string_view reason) {
  return Fail(ErrorKind::kCorrupt, fmt::format("parquet file is damaged, reason={}", reason));
}

using AnyReader =
    std::variant<std::shared_ptr<parquet::ByteArrayReader>, std::shared_ptr<parquet::Int32Reader>,
                 std::shared_ptr<parquet::Int64Reader>>;

// One asked column of one row group.
class Cell {
 public:
  Cell(AnyReader reader, bool is_unsigned)
      : reader_(std::move(reader)), is_unsigned_(is_unsigned) {}

  // Moves to the next row; false when the column has no more.
  bool Next(std::optional<std::string_view>& value) {
    return std::visit([&](auto& reader) { return Read(*reader, value); }, reader_);
  }

 private:
  template <class Type>
  bool Read(parquet::TypedColumnReader<Type>& reader, std::optional<std::string_view>& value) {
    int16_t definition_level = 0;
    typename Type::c_type raw{};
    int64_t values = 0;
    if (reader.ReadBatch(1, &definition_level, nullptr, &raw, &values) != 1) return false;
    if (values == 0) {
      value = std::nullopt;
    } else {
      value = Text(raw);
    }
    return true;
  }
  static std::string_view Text(const parquet::ByteArray& raw) {
    return {reinterpret_cast<const char*>(raw.ptr), raw.len};
  }
  template <class T>
  std::string_view Text(T raw) {
    const auto end = is_unsigned_
                         ? std::to_chars(digits_, std::end(digits_), std::make_unsigned_t<T>(raw))
                         : std::to_chars(digits_, std::end(digits_), raw);
    return {digits_, end.ptr};
  }

  AnyReader reader_;
  bool is_unsigned_;
  char digits_[24];
};

struct Column {
  int index = 0;
  parquet::Type::type type = parquet::Type::BYTE_ARRAY;
  bool is_unsigned = false;
};

// Strings, bytes and integers; not what only looks like them on disk, such as dates and decimals.
bool IsReadable(const parquet::ColumnDescriptor& column) {
  const auto& logical = column.logical_type();
  const bool is_plain = logical == nullptr || logical->is_none();
  switch (column.physical_type()) {
    case parquet::Type::BYTE_ARRAY:
      return is_plain || logical->is_string() || logical->is_enum() || logical->is_JSON() ||
             logical->is_BSON();
    case parquet::Type::INT32:
    case parquet::Type::INT64: return is_plain || logical->is_int();
    default: return false;
  }
}

Result<Column> FindColumn(const parquet::SchemaDescriptor& schema, const std::string& name) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    const auto* column = schema.Column(i);
    const auto path = column->path()->ToDotVector();
    if (path.front() != name) continue;
    if (path.size() != 1 || column->max_repetition_level() != 0 || !IsReadable(*column)) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("parquet column is not of strings, bytes or integers, column={} "
                              "type={} logical={}",
                              name, parquet::TypeToString(column->physical_type()),
                              column->logical_type() ? column->logical_type()->ToString() : ""));
    }
    const auto& logical = column->logical_type();
    const bool is_unsigned = logical != nullptr && logical->is_int() &&
                             !static_cast<const parquet::IntLogicalType&>(*logical).is_signed();
    return Column{i, column->physical_type(), is_unsigned};
  }
  return Fail(ErrorKind::kUnsupported, fmt::format("parquet file has no column column={}", name));
}

Cell OpenCell(parquet::RowGroupReader& group, const Column& column) {
  auto reader = group.Column(column.index);
  const auto as = [&]<class T>(std::in_place_type_t<T>) {
    return Cell(std::static_pointer_cast<T>(std::move(reader)), column.is_unsigned);
  };
  switch (column.type) {
    case parquet::Type::INT32: return as(std::in_place_type<parquet::Int32Reader>);
    case parquet::Type::INT64: return as(std::in_place_type<parquet::Int64Reader>);
    default: return as(std::in_place_type<parquet::ByteArrayReader>);
  }
}

Status ReadGroup(parquet::RowGroupReader& group, const std::vector<Column>& columns,
                 const lake::ColumnReader::RowSink& sink) {
  std::vector<Cell> cells;
  cells.reserve(columns.size());
  for (const auto& column : columns) cells.push_back(OpenCell(group, column));
  std::vector<std::optional<std::string_view>> row(columns.size());
  const int64_t rows = group.metadata()->num_rows();
  for (int64_t i = 0; i < rows; ++i) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (!cells[c].Next(row[c])) return Damaged(fmt::format("a column ends early row={}", i));
    }
    TRY(sink(row));
  }
  return {};
}

Status ReadFile(std::string_view bytes, std::span<const std::string> names,
                const lake::ColumnReader::RowSink& sink) {
  arrow::ProxyMemoryPool counted(arrow::system_memory_pool());
  arrow::CappedMemoryPool pool(&counted, kArrowBytesMax);
  parquet::ReaderProperties properties(&pool);
  properties.set_page_checksum_verification(true);
  const auto buffer = std::make_shared<arrow::Buffer>(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  const auto source = std::make_shared<arrow::io::BufferReader>(buffer);
  auto footer = ReadFooter(*source, properties);
  if (!footer && footer.error().kind == ErrorKind::kCorrupt) return Damaged(footer.error().message);
  if (!footer) return internal::Pass(footer);
  const auto metadata = *footer;
  const auto file = parquet::ParquetFileReader::Open(source, properties, metadata);
  std::vector<Column> columns;
  for (const auto& name : names) {
    TRY_ASSIGN(columns.emplace_back(), FindColumn(*metadata->schema(), name));
  }
  int64_t rows = 0;
  for (int i = 0; i < metadata->num_row_groups(); ++i) {
    const auto group = file->RowGroup(i);
    const int64_t more = group->metadata()->num_rows();
    if (more > kRowsMax - rows) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("parquet file has too many rows, rows_max={}", kRowsMax));
    }
    rows += more;
    TRY(ReadGroup(*group, columns, sink));
  }
  return {};
}

class ParquetColumnReader final : public lake::ColumnReader {
 public:
  Status ReadRows(std::string_view bytes, std::span<const std::string> columns,
                  const RowSink& sink) const override {
    if (columns.empty()) return Fail(ErrorKind::kInvalidArgument, "no parquet column is asked for");
    try {
      return ReadFile(bytes, columns, sink);
    } catch (const parquet::ParquetStatusException& error) {
      if (!error.status().IsOutOfMemory()) return Damaged(error.what());
    } catch (const std::bad_alloc&) {
      // As below.
    } catch (const std::exception& error) {
      return Damaged(error.what());
    } catch (...) {
      return Damaged("unknown");
    }
    return Fail(ErrorKind::kExhausted,
                fmt::format("parquet file takes too much memory, bytes_max={}", kArrowBytesMax));
  }
};

}  // namespace

const lake::ColumnReader& ParquetColumns() {
  static const ParquetColumnReader reader;
  return reader;
}

}  // namespace tidemark::columnar
