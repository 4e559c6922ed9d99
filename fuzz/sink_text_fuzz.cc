// What catalogs say as text: types of columns, names of partitions; and addresses of metastores.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sink/catalog.h"
#include "sink/hive_catalog.h"
#include "sink/hive_type.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const size_t line = text.find('\n');
  const std::string_view first = text.substr(0, line);
  const std::string_view second =
      line == std::string_view::npos ? std::string_view() : text.substr(line + 1);
  using namespace tidemark::sink;
  if (!IsReadableAs(first, first)) __builtin_trap();
  static_cast<void>(IsReadableAs(first, second));
  static_cast<void>(ParseHiveAddress(first));
  if (const auto values = ValuesOfName(first, 2)) {
    const std::vector<CatalogColumn> keys = {{.name = "a"}, {.name = "b"}};
    const auto again = ValuesOfName(PartitionName(keys, *values), 2);
    const auto word = [](const std::string& value) {
      return value.empty() ? std::string(kNullPartition) : value;
    };
    for (size_t i = 0; i < 2; ++i)
      if (!again || (*again)[i] != word((*values)[i])) __builtin_trap();
  }
  return 0;
}
