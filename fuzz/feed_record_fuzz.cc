// What the publisher reads back from its own topics: it must never crash, and what it takes is
// written the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "feed/control.h"
#include "feed/table_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto record = tidemark::feed::ParseTableRecord(text)) {
    const auto again = tidemark::feed::ParseTableRecord(tidemark::feed::TableRecordText(*record));
    CHECK(again.has_value(), "what was read can be written and read");
    CHECK(tidemark::feed::TableRecordText(*again) == tidemark::feed::TableRecordText(*record),
          "writing is stable");
  }
  static_cast<void>(tidemark::feed::ParseControl("0123456789abcdef", text));
  return 0;
}
