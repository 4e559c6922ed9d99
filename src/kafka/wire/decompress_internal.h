/// Compressed records, piece by piece: a search ends at the record it wants, and a batch that
/// claims to be huge costs no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace tidemark::kafka::wire {

/// As in the attributes of a batch.
enum class Codec : int8_t { kNone = 0, kGzip = 1, kSnappy = 2, kLz4 = 3, kZstd = 4 };

/// One caller. The input must outlive it.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// The next plain bytes, valid until the next call; empty at the end. kCorrupt when the bytes are
  /// damaged or cut short.
  virtual Result<std::string_view> Next() = 0;
};

/// How the header of an LZ4 frame is summed: before message format 1, Kafka's producers took the
/// sum over too many bytes.
enum class Lz4Header { kRight, kOfFormat0 };

/// kUnsupported for a codec that does not exist.
Result<std::unique_ptr<Decompressor>> MakeDecompressor(Codec codec, std::string_view input,
                                                       Lz4Header header = Lz4Header::kRight);

}  // namespace tidemark::kafka::wire
