#include "lake/avro/default_value.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace tidemark::lake::avro {
namespace {

using Json = simdjson::dom::element;

// Values tried: unions in unions multiply.
constexpr size_t kStepsMax = 1 << 20;

class Encoder {
 public:
  Result<std::string> Finish(std::string_view json, const Type& type) {
    TRY(PutText(json, type, 0));
    return std::move(out_);
  }

 private:
  Status PutText(std::string_view json, const Type& type, int depth);
  Status Put(Json json, const Type& type, int depth);
  Status PutPlain(Json json, const Type& type);
  Status PutRaw(Json json, const Type& type);
  Status PutUnion(Json json, const Type& type, int depth);
  Status PutItems(Json json, const Type& type, int depth);
  Status PutRecord(Json json, const Type& type, int depth);

  void PutLong(int64_t value) {
    auto raw = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (; raw >= 0x80; raw >>= 7) out_ += static_cast<char>(raw | 0x80);
    out_ += static_cast<char>(raw);
  }
  template <class T>
  void PutLittle(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void PutBytes(std::string_view bytes) {
    PutLong(static_cast<int64_t>(bytes.size()));
    out_ += bytes;
  }
  static std::unexpected<Error> Misfit(const Type& type) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("avro default does not fit its type, type={}",
                            type.name.empty() ? KindName(type.kind) : std::string_view(type.name)));
  }

  std::string out_;
  size_t steps_ = 0;
};

// A parser for each text: the elements of one do not survive another parse of its parser.
Status Encoder::PutText(std::string_view json, const Type& type, int depth) {
  simdjson::dom::parser parser;
  Json root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("avro default is not JSON, reason={}", simdjson::error_message(error)));
  }
  return Put(root, type, depth);
}

Status Encoder::Put(Json json, const Type& type, int depth) {
  if (depth > kSchemaDepthMax || out_.size() > kDefaultSizeMax || ++steps_ > kStepsMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro default is too large, depth_max={} size_max={} steps_max={}",
                            kSchemaDepthMax, kDefaultSizeMax, kStepsMax));
  }
  switch (type.kind) {
    case Kind::kNull:
    case Kind::kBoolean:
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kFloat:
    case Kind::kDouble: return PutPlain(json, type);
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
    case Kind::kEnum: return PutRaw(json, type);
    case Kind::kArray:
    case Kind::kMap: return PutItems(json, type, depth);
    case Kind::kUnion: return PutUnion(json, type, depth);
    case Kind::kRecord: return PutRecord(json, type, depth);
  }
  std::unreachable();
}

Status Encoder::PutPlain(Json json, const Type& type) {
  if (type.kind == Kind::kNull) {
    if (!json.is_null()) return Misfit(type);
    return {};
  }
  if (type.kind == Kind::kBoolean) {
    bool value = false;
    if (json.get(value) != simdjson::SUCCESS) return Misfit(type);
    out_ += static_cast<char>(value ? 1 : 0);
    return {};
  }
  if (type.kind == Kind::kInt || type.kind == Kind::kLong) {
    int64_t value = 0;
    if (json.get(value) != simdjson::SUCCESS) return Misfit(type);
    if (type.kind == Kind::kInt && value != static_cast<int32_t>(value)) return Misfit(type);
    PutLong(value);
    return {};
  }
  double value = 0;
  if (json.get(value) != simdjson::SUCCESS) return Misfit(type);
  if (type.kind == Kind::kDouble) {
    PutLittle(std::bit_cast<uint64_t>(value));
  } else {
    PutLittle(std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  return {};
}

// Bytes in JSON are text whose code points 0 to 255 are the byte values.
bool BytesOfText(std::string_view text, std::string& bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes += static_cast<char>((lead << 6) | (static_cast<uint8_t>(text[++i]) & 0x3f));
    } else {
      return false;
    }
  }
  return true;
}

Status Encoder::PutRaw(Json json, const Type& type) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) return Misfit(type);
  if (type.kind == Kind::kString) {
    PutBytes(text);
    return {};
  }
  if (type.kind == Kind::kEnum) {
    for (size_t i = 0; i < type.symbols.size(); ++i) {
      if (type.symbols[i] != text) continue;
      PutLong(static_cast<int64_t>(i));
      return {};
    }
    return Misfit(type);
  }
  std::string bytes;
  if (!BytesOfText(text, bytes)) return Misfit(type);
  if (type.kind == Kind::kBytes) {
    PutBytes(bytes);
  } else if (bytes.size() == type.fixed_size) {
    out_ += bytes;
  } else {
    return Misfit(type);
  }
  return {};
}

Status Encoder::PutUnion(Json json, const Type& type, int depth) {
  const size_t begin = out_.size();
  for (size_t i = 0; i < type.branches.size(); ++i) {
    PutLong(static_cast<int64_t>(i));
    auto done = Put(json, *type.branches[i], depth + 1);
    if (done || done.error().kind == ErrorKind::kExhausted) return done;
    out_.resize(begin);
  }
  return Misfit(type);
}

Status Encoder::PutItems(Json json, const Type& type, int depth) {
  simdjson::dom::array list;
  simdjson::dom::object object;
  if (type.kind == Kind::kArray && json.get(list) == simdjson::SUCCESS) {
    // Blocks of one item each: the count is not known before the end.
    for (const Json item : list) {
      PutLong(1);
      TRY(Put(item, *type.items, depth + 1));
    }
  } else if (type.kind == Kind::kMap && json.get(object) == simdjson::SUCCESS) {
    for (const auto entry : object) {
      PutLong(1);
      PutBytes(entry.key);
      TRY(Put(entry.value, *type.items, depth + 1));
    }
  } else {
    return Misfit(type);
  }
  PutLong(0);
  return {};
}

Status Encoder::PutRecord(Json json, const Type& type, int depth) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Misfit(type);
  for (const Field& field : type.fields) {
    Json value;
    if (object[field.name].get(value) == simdjson::SUCCESS) {
      TRY(Put(value, *field.type, depth + 1));
    } else if (field.default_json) {
      TRY(PutText(*field.default_json, *field.type, depth + 1));
    } else {
      return Misfit(type);
    }
  }
  return {};
}

}  // namespace

Result<std::string> EncodeDefault(std::string_view json, const Type& type) {
  return Encoder().Finish(json, type);
}

}  // namespace tidemark::lake::avro
