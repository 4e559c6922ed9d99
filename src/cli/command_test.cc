#include "cli/command.h"

#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

TEST(TextTableTest, ColumnsAreAlignedWithoutTrailingBlanks) {
  TextTable table({"PIPELINE", "LAG", "STATUS"});
  table.AddRow({{"orders"}, {"45 min", Colour::kPlain, true}, {"breach", Colour::kRed}});
  table.AddNote("it waits");
  table.AddRow({{"größe"}, {"0 s", Colour::kPlain, true}, {"", Colour::kRed}});
  EXPECT_EQ(table.Render({}),
            "PIPELINE     LAG  STATUS\n"
            "orders    45 min  breach\n"
            "  it waits\n"
            "größe        0 s\n");
}

TEST(TextTableTest, LongNotesAreBrokenAtBlanks) {
  TextTable table({"A"});
  table.AddRow({{"x"}});
  table.AddNote(std::string(60, 'y') + " " + std::string(45, 'z') + " end");
  EXPECT_EQ(table.Render({}),
            "A\nx\n  " + std::string(60, 'y') + "\n  " + std::string(45, 'z') + " end\n");
}

TEST(TextTableTest, ColourOnlyWhereTheTerminalHasIt) {
  TextTable table({"A"});
  table.AddRow({{"x", Colour::kRed}});
  EXPECT_EQ(table.Render({.has_colour = true}), "\x1b[1mA\x1b[0m\n\x1b[31mx\x1b[0m\n");
}

TEST(TextTableTest, NamesCannotDriveTheTerminalNorForgeRows) {
  TextTable table({"A", "B"});
  table.AddRow({{"x\x1b[2J\nforged"}, {"t\xFF"}});
  table.AddNote("see\x07 \xE2\x80\xAE");
  EXPECT_EQ(table.Render({}),
            "A                   B\n"
            "x\\x1b[2J\\x0aforged  t\\xff\n"
            "  see\\x07 \\u202e\n");
}

TEST(ExitCodeTest, EveryKindHasItsCode) {
  EXPECT_EQ(ExitCodeOf(ErrorKind::kInvalidArgument), 64);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kNotFound), 65);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kCorrupt), 65);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kUnsupported), 65);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kDenied), 69);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kUnavailable), 69);
  EXPECT_EQ(ExitCodeOf(ErrorKind::kInternal), 70);
}

}  // namespace
}  // namespace tidemark::cli
