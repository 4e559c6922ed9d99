#include "scan/base_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::scan {
namespace {

/// As for log files: another listing helps.
TEST(BaseFileTest, AFileThatVanishesIsAConflict) {
  const storage::MemoryStore store;
  const auto source = ObjectSource(store, "p/gone.parquet", 10, Budget());
  std::array<char, 4> bytes{};
  EXPECT_THAT(source->ReadAt(0, bytes),
              support::IsError(ErrorKind::kConflict, testing::HasSubstr("p/gone.parquet")));
}

}  // namespace
}  // namespace tidemark::scan
