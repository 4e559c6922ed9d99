// Two schemas and a value: "writer\nreader\nbytes".
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "lake/avro/resolve.h"

namespace {

using namespace tidemark::lake::avro;

// Every level of a record is read once more for each level above it.
int steps_left = 0;

bool Walk(const Resolved& value);

bool WalkItems(const Resolved& value) {
  auto items = value.OpenItems();
  if (!items) return false;
  while (true) {
    const auto entry = items->Next();
    if (!entry) return false;
    if (!*entry) return true;
    if (!Walk((*entry)->value)) return false;
  }
}

bool WalkRecord(const Resolved& value) {
  std::vector<std::optional<Resolved>> row(value.type().fields.size());
  if (!value.ReadFields(row)) return false;
  for (const auto& field : row) {
    if (!field) std::abort();  // a record that was read has all of the reader's fields
    if (!Walk(*field)) return false;
  }
  return true;
}

bool Walk(const Resolved& value) {
  if (--steps_left < 0) return false;
  bool truth = false;
  switch (value.type().kind) {
    case Kind::kNull: return true;
    case Kind::kBoolean: return value.Boolean(truth).has_value();
    case Kind::kInt: return value.Int().has_value();
    case Kind::kLong: return value.Long().has_value();
    case Kind::kFloat: return value.Float().has_value();
    case Kind::kDouble: return value.Double().has_value();
    case Kind::kBytes:
    case Kind::kFixed: return value.Bytes().has_value();
    case Kind::kString:
    case Kind::kEnum: return value.String().has_value();
    case Kind::kArray:
    case Kind::kMap: return WalkItems(value);
    case Kind::kRecord: return WalkRecord(value);
    case Kind::kUnion: std::abort();  // never handed out
  }
  std::abort();
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
  const auto resolution = Resolution::Make(*writer, *reader);
  if (!resolution) return 0;
  const auto value = resolution->Open(rest);
  steps_left = 300;
  if (value) Walk(*value);
  return 0;
}
