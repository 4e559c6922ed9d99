// Any bytes as the payload of a delete block of version 3.
#include "hudi_delete_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tidemark::fuzz::ReadDeletes(3, data, size);
  return 0;
}
