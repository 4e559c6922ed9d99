/// The compressions of container file blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::lake::avro {

enum class Codec { kNull, kDeflate, kSnappy, kZstandard };

/// By the word in "avro.codec"; nullopt for one we do not read.
std::optional<Codec> FindCodec(std::string_view word);

/// A block is at most this large, unpacked.
inline constexpr size_t kBlockBytesMax = 256 << 20;

/// Unpacks one block into `out`, whose old content is dropped; memory grows with what is really
/// there, not with what a length field claims. REQUIRES: codec is not kNull. kCorrupt: the bytes
/// are damaged, or more follows; kExhausted: over `bytes_max`.
Status Unpack(Codec codec, std::string_view packed, std::string& out,
              size_t bytes_max = kBlockBytesMax);

}  // namespace tidemark::lake::avro
