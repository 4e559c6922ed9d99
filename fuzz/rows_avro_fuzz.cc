// Two schemas and records, decoded into rows and written out: "writer\nreader\nbytes".
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "columnar/rows.h"

namespace {

using namespace tidemark::columnar;
using tidemark::lake::avro::Schema;

constexpr int kRowsMax = 16;

void WriteRows(const Batch& batch) {
  std::string text;
  for (size_t row = 0; row < batch.rows(); ++row) AppendRowJson(batch, row, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&rest] {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : line.size());
    return line;
  };
  const auto writer = Schema::Parse(take_line());
  const auto reader = Schema::Parse(take_line());
  if (!writer || !reader) return 0;
  const auto type = RowType::Make(*reader, WantAll(*reader, MetaColumns::kLeaveOut));
  if (!type) return 0;
  const auto decoder = RecordDecoder::Make(*writer, *type);
  if (!decoder) return 0;
  RowBuilder builder(*type);
  for (int i = 0; i < kRowsMax; ++i) {
    if (!builder.Append(*decoder, rest)) {
      // Whatever was begun has been taken back.
      if (rest.empty()) break;
      rest.remove_prefix(1);
    } else if (!rest.empty()) {
      rest.remove_prefix(rest.size() / 2 + 1);
    }
  }
  const size_t rows = builder.rows();
  const Batch batch = builder.Finish();
  WriteRows(batch);
  if (rows < 2) return 0;
  const uint32_t picked[] = {static_cast<uint32_t>(rows - 1), 0};
  if (const auto some = Select(batch, picked)) WriteRows(*some);
  WriteRows(batch.Slice(1, rows - 1));
  return 0;
}
