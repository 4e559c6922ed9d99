// Any bytes as a Parquet file, read as rows of testdata/rows' types and written out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "columnar/rows.h"

namespace {

using namespace tidemark::columnar;
using tidemark::lake::avro::Schema;

constexpr size_t kRowsMax = 10000;

RowType MakeType() {
  const auto schema = Schema::Parse(R"({"type":"record","name":"t","fields":[
    {"name":"i","type":["null","long"]},{"name":"s","type":["null","string"]},
    {"name":"dec","type":["null",{"type":"bytes","logicalType":"decimal","precision":12,"scale":3}]},
    {"name":"st","type":["null",{"type":"record","name":"st","fields":[
      {"name":"a","type":["null","string"]},{"name":"b","type":"string"},
      {"name":"new","type":["null","int"],"default":null}]}]},
    {"name":"li","type":["null",{"type":"array","items":["null","double"]}]},
    {"name":"m","type":["null",{"type":"map","values":["null","long"]}]},
    {"name":"known","type":"int","default":3}]})");
  if (!schema) std::abort();
  const auto type = RowType::Make(*schema, WantAll(*schema, MetaColumns::kLeaveOut));
  if (!type) std::abort();
  return *type;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const RowType kType = MakeType();
  ReadOptions options;
  options.batch_rows = 1000;
  options.memory_max = 256 << 20;
  auto reader =
      OpenParquetBytes({reinterpret_cast<const char*>(data), size}, nullptr, kType, options);
  if (!reader) return 0;
  std::string text;
  std::optional<Batch> kept;
  for (size_t rows = 0; rows < kRowsMax;) {
    const auto batch = (*reader)->Next();
    if (!batch || !*batch) break;
    rows += (*batch)->rows();
    kept = **batch;
    for (size_t row = 0; row < (*batch)->rows(); ++row) {
      text.clear();
      AppendRowJson(**batch, row, text);
    }
  }
  // A batch outlives its reader.
  reader->reset();
  if (kept) AppendRowJson(*kept, kept->rows() - 1, text);
  return 0;
}
