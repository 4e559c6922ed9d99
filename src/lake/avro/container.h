/// Avro object container files: a schema, then blocks of records, each block compressed on its own
/// (Avro specification 1.12, "Object Container Files").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "lake/avro/codec.h"
#include "lake/avro/datum.h"
#include "lake/avro/schema.h"

namespace tidemark::lake::avro {

/// The first four bytes of every container file.
inline constexpr std::string_view kContainerMagic{"Obj\x01", 4};

/// One reading of one file from its first record to its last. Borrows the bytes. Single-threaded.
class Container {
 public:
  /// Reads the head. kCorrupt: not a container file, or its head is cut short or damaged.
  /// kUnsupported: a codec other than null, deflate, snappy and zstandard. kExhausted: as
  /// Schema::Parse.
  static Result<Container> Open(std::string_view bytes);

  const Schema& schema() const { return schema_; }
  /// The head's entries, "avro.schema" and "avro.codec" included.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  Codec codec() const { return codec_; }

  /// The next record, in file order; nullopt behind the last. The view borrows this object and the
  /// file's bytes and is good until the next call. kCorrupt: the file is cut short or damaged, with
  /// the offset in the file (of the block, when the block is compressed); kExhausted: a block
  /// grows over kBlockBytesMax. After an error always that error.
  Result<std::optional<Datum>> Next();

  /// Blocks read so far.
  size_t blocks_read() const { return blocks_read_; }

 private:
  Container(Schema schema, Wire wire) : schema_(std::move(schema)), wire_(wire) {}
  Status ReadBlock();
  Result<std::optional<Datum>> NextRecord();

  Schema schema_;
  std::map<std::string, std::string, std::less<>> metadata_;
  Codec codec_ = Codec::kNull;
  std::string_view sync_;
  Wire wire_;  // over the file
  // The block, when it is compressed; on the heap so that views of it survive a move.
  std::unique_ptr<std::string> unpacked_ = std::make_unique<std::string>();
  Wire block_{std::string_view()};  // over the block's records
  uint64_t block_offset_ = 0;
  uint64_t records_left_ = 0;
  bool is_inside_ = false;  // the record handed out last has not been passed over yet
  size_t blocks_read_ = 0;
  std::optional<Error> error_;
};

}  // namespace tidemark::lake::avro
