#include "cli/log_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::cli {
namespace {

using ::testing::HasSubstr;

std::string Shown(const std::string& name) {
  const std::string bytes = support::ReadTestdata("hudi/logs/" + name);
  const auto listing = lake::hudi::ListLog(bytes, Budget());
  EXPECT_THAT(listing, support::IsOk());
  return LogTable(name, bytes.size(), *listing, Terminal());
}

TEST(LogTableTest, BlocksHaveARowAndDeletesALine) {
  const std::string shown = Shown("intact.log");
  EXPECT_THAT(shown, HasSubstr("intact.log  1991 bytes\n"));
  EXPECT_THAT(shown, HasSubstr("OFFSET  SIZE  VERSION  KIND"));
  EXPECT_THAT(shown, HasSubstr("AVRO_DATA v3"));
  EXPECT_THAT(shown, HasSubstr("SCHEMA=record "));
  EXPECT_THAT(shown, HasSubstr("BLOCK_IDENTIFIER=0,0"));
  EXPECT_THAT(shown, HasSubstr("delete key=b partition="));
  EXPECT_THAT(shown, HasSubstr("(LongWrapper)"));
}

TEST(LogTableTest, RollbacksNameTheirTarget) {
  EXPECT_THAT(Shown("rollback_command.log"), HasSubstr("TARGET_INSTANT_TIME=2026"));
}

TEST(LogTableTest, DamageHasARowOfItsOwn) {
  const std::string shown = Shown("truncated_content.log");
  EXPECT_THAT(shown, HasSubstr("torn"));
  EXPECT_THAT(shown, HasSubstr("the file ends inside a block"));
}

TEST(LogTableTest, AnEmptyFileSaysThatItIs) {
  EXPECT_THAT(Shown("truncated_zero.log"), HasSubstr("empty"));
}

}  // namespace
}  // namespace tidemark::cli
