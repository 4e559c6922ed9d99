// Any bytes as a value of one schema that has every kind of type. What the views read whole must be
// of the size that skipping finds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lake/avro/datum.h"

namespace {

using namespace tidemark::lake::avro;

constexpr std::string_view kSchema = R"({"type":"record","name":"a.R","fields":[
  {"name":"n","type":"null"},{"name":"b","type":"boolean"},{"name":"i","type":"int"},
  {"name":"l","type":"long"},{"name":"f","type":"float"},{"name":"d","type":"double"},
  {"name":"y","type":"bytes"},{"name":"s","type":["null","string"]},
  {"name":"x","type":{"type":"fixed","name":"X","size":3}},
  {"name":"e","type":{"type":"enum","name":"E","symbols":["A","B","C"]}},
  {"name":"a","type":{"type":"array","items":["null","long","a.R"]}},
  {"name":"z","type":{"type":"array","items":"null"}},
  {"name":"m","type":{"type":"map","values":{"type":"map","values":"a.X"}}},
  {"name":"next","type":["null","a.R"]}]})";
constexpr int kDepthMax = 40;
// Every level of a record is read once more for each level above it.
int steps_left = 0;

bool Walk(const Datum& datum, int depth);

bool WalkItems(const Datum& datum, int depth) {
  auto items = datum.OpenItems();
  if (!items) return false;
  while (true) {
    const auto entry = items->Next();
    if (!entry) return false;
    if (!*entry) return true;
    if (!Walk((*entry)->value, depth + 1)) return false;
  }
}

// true: every part of the value could be read.
bool Walk(const Datum& datum, int depth) {
  if (depth > kDepthMax || --steps_left < 0) return false;
  bool truth = false;
  switch (datum.type().kind) {
    case Kind::kNull: return true;
    case Kind::kBoolean: return datum.Boolean(truth).has_value();
    case Kind::kInt: return datum.Int().has_value();
    case Kind::kLong: return datum.Long().has_value();
    case Kind::kFloat: return datum.Float().has_value();
    case Kind::kDouble: return datum.Double().has_value();
    case Kind::kBytes:
    case Kind::kFixed: return datum.Bytes().has_value();
    case Kind::kString:
    case Kind::kEnum: return datum.String().has_value();
    case Kind::kArray:
    case Kind::kMap: return WalkItems(datum, depth);
    case Kind::kUnion: std::abort();  // a datum is never a union
    case Kind::kRecord:
      for (size_t i = 0; i < datum.type().fields.size(); ++i) {
        const auto field = datum.FieldAt(i);
        if (!field || !Walk(*field, depth + 1)) return false;
      }
      return true;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto schema = Schema::Parse(kSchema);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto datum = Datum::Open(schema->root(), bytes);
  if (!datum) std::abort();  // a record always opens
  steps_left = 100000;
  if (Walk(*datum, 0) && !datum->Size().has_value()) std::abort();
  return 0;
}
