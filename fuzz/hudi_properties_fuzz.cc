// hoodie.properties: any bytes give a table or an error, and a table has a name and folders below
// `.hoodie`.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "lake/hudi/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = tidemark::lake::hudi::ParseTableProperties(text);
  if (!table) return 0;
  CHECK(!table->name.empty(), "a table without a name");
  CHECK(table->timeline_folder.starts_with(".hoodie"), table->timeline_folder);
  CHECK(table->archive_folder.starts_with(".hoodie/"), table->archive_folder);
  CHECK(table->archive_folder.find("..") == std::string::npos ||
            table->archive_folder.find("/../") == std::string::npos,
        table->archive_folder);
  return 0;
}
