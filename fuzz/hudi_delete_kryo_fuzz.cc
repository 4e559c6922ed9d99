// Any bytes as the payload of a delete block of version 1 or 2; the first byte chooses.
#include "hudi_delete_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) tidemark::fuzz::ReadDeletes(data[0] == 1 ? 1 : 2, data + 1, size - 1);
  return 0;
}
