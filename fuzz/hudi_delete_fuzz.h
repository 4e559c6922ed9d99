/// What both targets for delete blocks do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lake/hudi/delete_block.h"

namespace tidemark::fuzz {

/// Reads every delete of a block with this payload, to its last byte.
inline void ReadDeletes(uint8_t version, const uint8_t* data, size_t size) {
  std::string content("\0\0\0", 3);
  content += static_cast<char>(version);
  for (int shift = 24; shift >= 0; shift -= 8) content += static_cast<char>(size >> shift);
  content.append(reinterpret_cast<const char*>(data), size);
  lake::hudi::LogBlock block;
  block.kind = lake::hudi::LogBlockKind::kDelete;
  block.content = content;
  auto deletes = lake::hudi::DeleteRecords::Open(block);
  if (!deletes) return;
  size_t sum = 0;
  while (true) {
    const auto record = deletes->Next();
    if (!record || !*record) break;
    for (const char c : (*record)->key.value_or("")) sum += static_cast<unsigned char>(c);
    for (const char c : (*record)->ordering.bytes) sum += static_cast<unsigned char>(c);
    for (const auto& item : (*record)->ordering.items) sum += item.bytes.size();
  }
  static volatile size_t sink;
  sink = sum;
}

}  // namespace tidemark::fuzz
