/// Delete blocks of versions 1 and 2: Java objects in the bytes of Kryo 4.0.2.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/hudi/delete_block.h"

namespace tidemark::lake::hudi {

struct KryoDeletes {
  std::vector<DeleteRecord> records;
  std::deque<std::string> texts;  // what records view, where it is not in the bytes as it is
};

/// `version`: 1 for an array of keys, 2 for one of deletes. `offset`: of `payload` in the file, for
/// messages. Errors as DeleteRecords::Open.
Result<KryoDeletes> ReadKryoDeletes(std::string_view payload, int32_t version, uint64_t offset);

}  // namespace tidemark::lake::hudi
