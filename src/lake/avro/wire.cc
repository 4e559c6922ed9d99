#include "lake/avro/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::lake::avro {
namespace {

std::string_view FlawText(Flaw flaw) {
  switch (flaw) {
    case Flaw::kNone: return "has no flaw";
    case Flaw::kEndsEarly: return "ends early";
    case Flaw::kVarintTooLong: return "has an integer of more than 64 bits";
    case Flaw::kIntTooLarge: return "has an int of more than 32 bits";
    case Flaw::kNegativeLength: return "has a negative length";
    case Flaw::kBadBoolean: return "has a boolean that is neither 0 nor 1";
    case Flaw::kBadBranch: return "names a union branch that its schema does not have";
    case Flaw::kBadSymbol: return "names an enum symbol that its schema does not have";
    case Flaw::kTooManyItems: return "claims more items than can be there";
    case Flaw::kBlockSizeWrong: return "has a block of items of another size than it says";
    case Flaw::kTooDeep: return "is nested too deep";
    case Flaw::kBytesLeft: return "ends before its bytes do";
  }
  std::unreachable();
}

}  // namespace

Error Wire::ToError() const {
  return {ErrorKind::kCorrupt,
          fmt::format("avro data {} offset={}", FlawText(flaw_), flaw_offset_)};
}

bool Wire::ReadBoolean() {
  const char* const start = at_;
  const auto byte = Take(1);
  if (!byte.empty() && static_cast<uint8_t>(byte[0]) > 1) [[unlikely]] {
    at_ = start;
    Fail(Flaw::kBadBoolean);
    return false;
  }
  return !byte.empty() && byte[0] == 1;
}

uint64_t Wire::ItemsMax(const Type& items, uint64_t key_size) const {
  if (items.is_empty && key_size == 0) return kEmptyItemsMax;
  return remaining() / std::max<uint64_t>(items.size_min + key_size, 1);
}

void Wire::Fail(Flaw flaw) {
  if (!ok()) return;
  flaw_ = flaw;
  flaw_offset_ = offset();
  at_ = end_;
}

uint64_t Wire::ReadLongVarint() {
  uint64_t value = 0;
  for (int i = 0; i < 10; ++i) {
    if (at_ + i == end_) {
      Fail(Flaw::kEndsEarly);
      return 0;
    }
    const auto byte = static_cast<uint8_t>(at_[i]);
    if (i == 9 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      at_ += i + 1;
      return value;
    }
  }
  Fail(Flaw::kVarintTooLong);
  return 0;
}

void Wire::Skip(const Type& type, int depth) {
  if (depth > kDatumDepthMax) return Fail(Flaw::kTooDeep);
  switch (type.kind) {
    case Kind::kNull: return;
    case Kind::kBoolean: ReadBoolean(); return;
    case Kind::kInt: ReadInt(); return;
    case Kind::kLong: ReadLong(); return;
    case Kind::kFloat: Take(4); return;
    case Kind::kDouble: Take(8); return;
    case Kind::kBytes:
    case Kind::kString: ReadBytes(); return;
    case Kind::kFixed: Take(type.fixed_size); return;
    case Kind::kEnum: ReadIndex(type.symbols.size(), Flaw::kBadSymbol); return;
    case Kind::kArray:
    case Kind::kMap: return SkipItems(type, depth);
    case Kind::kUnion: {
      const size_t branch = ReadIndex(type.branches.size(), Flaw::kBadBranch);
      if (ok()) Skip(*type.branches[branch], depth + 1);
      return;
    }
    case Kind::kRecord:
      for (const Type* field : type.solid) {
        Skip(*field, depth + 1);
        if (!ok()) return;
      }
      return;
  }
}

void Wire::SkipItems(const Type& type, int depth) {
  const bool is_map = type.kind == Kind::kMap;
  uint64_t empty_items = 0;
  while (true) {
    const int64_t count = ReadLong();
    if (count == 0) return;  // the end, or a flaw
    if (count < 0) {
      // The writer put the block's size here so that it can be passed over.
      Take(ReadLength());
      continue;
    }
    if (static_cast<uint64_t>(count) > ItemsMax(*type.items, is_map ? 1 : 0)) {
      return Fail(Flaw::kTooManyItems);
    }
    if (!is_map && type.items->is_empty) {
      empty_items += static_cast<uint64_t>(count);
      if (empty_items > kEmptyItemsMax) return Fail(Flaw::kTooManyItems);
      continue;
    }
    for (int64_t i = 0; i < count && ok(); ++i) {
      if (is_map) ReadBytes();
      Skip(*type.items, depth + 1);
    }
  }
}

}  // namespace tidemark::lake::avro
