// Any text as the name of a data file: what is taken apart must give the name when put together.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lake/hudi/data_file_name.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::hudi;
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  if (const auto base = ParseBaseFileName(name)) {
    const std::string again = base->file_id + "_" + base->write_token + "_" + base->instant + "." +
                              std::string(BaseFileFormatName(base->format));
    if (again != name || ParseLogFileName(name)) std::abort();
  }
  if (const auto log = ParseLogFileName(name)) {
    if (!name.starts_with("." + log->file_id + "_" + log->instant + ".log.")) std::abort();
    if (log->is_cdc != name.ends_with(".cdc")) std::abort();
  }
  return 0;
}
