#include "lake/hudi/properties.h"

#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// As Hudi 0.14.0 wrote it (HoodieStreamer, copy on write), without the comment lines.
const std::string kStreamerTable =
    "hoodie.table.type=COPY_ON_WRITE\n"
    "hoodie.archivelog.folder=archived\n"
    "hoodie.timeline.layout.version=1\n"
    "hoodie.table.checksum=761189601\n"
    "hoodie.table.name=fresh-a7\n"
    "hoodie.table.version=6\n";

TEST(JavaPropertiesTest, SeparatorsAndBlanksAreThoseOfJava) {
  // The first ten lines are the examples in the documentation of java.util.Properties.load.
  EXPECT_THAT(ParseJavaProperties("Truth = Beauty\n"
                                  " Truth1:Beauty\n"
                                  "Truth2                    :Beauty\n"
                                  "fruits                           apple, banana, pear, \\\n"
                                  "                                 cantaloupe, watermelon, \\\n"
                                  "                                 kiwi, mango\n"
                                  "cheeses\n"
                                  "a\\:b\\=c=d\n"
                                  "tab\\ key\tvalue with = and :\n"
                                  "empty=\n"),
              IsOkAnd(ElementsAre(
                  Pair("Truth", "Beauty"), Pair("Truth1", "Beauty"), Pair("Truth2", "Beauty"),
                  Pair("a:b=c", "d"), Pair("cheeses", ""), Pair("empty", ""),
                  Pair("fruits", "apple, banana, pear, cantaloupe, watermelon, kiwi, mango"),
                  Pair("tab key", "value with = and :"))));
}

TEST(JavaPropertiesTest, CommentsBlankLinesAndEveryLineEndAreUnderstood) {
  EXPECT_THAT(ParseJavaProperties("#a=1\r\n!b=2\r  # c=3\n\n \t\f\r\nd=4\re=5\r\nf=6"),
              IsOkAnd(ElementsAre(Pair("d", "4"), Pair("e", "5"), Pair("f", "6"))));
}

TEST(JavaPropertiesTest, ACommentInsideAContinuationIsPartOfTheValue) {
  EXPECT_THAT(ParseJavaProperties("a=1\\\n#2\nb=3\\\n\nc=4\\\r\n  5"),
              IsOkAnd(ElementsAre(Pair("a", "1#2"), Pair("b", "3"), Pair("c", "45"))));
}

TEST(JavaPropertiesTest, EscapesBecomeUtf8) {
  EXPECT_THAT(
      ParseJavaProperties("a=\\t\\n\\r\\f\\q\\\\\nb=\\u00e9\\u20AC\nc=\\ud83d\\ude00\nd=\\ud83dx"),
      IsOkAnd(ElementsAre(Pair("a", "\t\n\r\fq\\"), Pair("b", "\xc3\xa9\xe2\x82\xac"),
                          Pair("c", "\xf0\x9f\x98\x80"), Pair("d", "\xef\xbf\xbdx"))));
}

TEST(JavaPropertiesTest, TheLastOfEqualKeysWins) {
  EXPECT_THAT(ParseJavaProperties("a=1\na=2\n"), IsOkAnd(ElementsAre(Pair("a", "2"))));
}

TEST(JavaPropertiesTest, ABackslashAtTheEndOfTheTextIsDropped) {
  EXPECT_THAT(ParseJavaProperties("a=1\\"), IsOkAnd(ElementsAre(Pair("a", "1"))));
  EXPECT_THAT(ParseJavaProperties("a=1\\\\\nb=2"),
              IsOkAnd(ElementsAre(Pair("a", "1\\"), Pair("b", "2"))));
}

TEST(JavaPropertiesTest, ABrokenUnicodeEscapeIsCorruptWithItsLine) {
  for (const std::string escape : {"\\u12", "\\u", "\\u12g4", "\\u-123", "\\u+123", "\\u 123"}) {
    SCOPED_TRACE(escape);
    EXPECT_THAT(ParseJavaProperties("a=1\n\nb=" + escape),
                IsError(ErrorKind::kCorrupt, HasSubstr("line=3")));
  }
}

TEST(JavaPropertiesTest, AnEmptyTextHasNoProperties) {
  EXPECT_THAT(ParseJavaProperties(""), IsOkAnd(IsEmpty()));
}

TEST(TablePropertiesTest, AStreamerTableOfLayoutOneIsUnderstood) {
  ASSERT_OK_ASSIGN(const TableProperties table, ParseTableProperties(kStreamerTable));
  EXPECT_EQ(table.name, "fresh-a7");
  EXPECT_EQ(table.type, TableType::kCopyOnWrite);
  EXPECT_EQ(table.version, 6);
  EXPECT_EQ(table.layout, 1);
  EXPECT_EQ(table.zone, TimelineZone::kLocal);
  EXPECT_EQ(table.timeline_folder, ".hoodie");
  EXPECT_EQ(table.archive_folder, ".hoodie/archived");
  EXPECT_EQ(table.Find("hoodie.table.version"), "6");
  EXPECT_EQ(table.Find("hoodie.database.name"), std::nullopt);
}

TEST(TablePropertiesTest, ATableOfLayoutTwoHasItsOwnFolders) {
  ASSERT_OK_ASSIGN(const TableProperties table,
                   ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=9\n"
                                        "hoodie.table.type=MERGE_ON_READ\n"
                                        "hoodie.table.timeline.timezone=UTC\n"
                                        "hoodie.timeline.layout.version=2\n"
                                        "hoodie.archivelog.folder=history\n"
                                        "hoodie.table.checksum=498511606\n"));
  EXPECT_EQ(table.type, TableType::kMergeOnRead);
  EXPECT_EQ(table.layout, 2);
  EXPECT_EQ(table.zone, TimelineZone::kUtc);
  EXPECT_EQ(table.timeline_folder, ".hoodie/timeline");
  EXPECT_EQ(table.archive_folder, ".hoodie/timeline/history");
}

TEST(TablePropertiesTest, FoldersThatTheTableNamesAreTaken) {
  ASSERT_OK_ASSIGN(const TableProperties table,
                   ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=8\n"
                                        "hoodie.timeline.path=tl/x\n"
                                        "hoodie.timeline.history.path=old\n"));
  EXPECT_EQ(table.timeline_folder, ".hoodie/tl/x");
  EXPECT_EQ(table.archive_folder, ".hoodie/tl/x/old");
}

TEST(TablePropertiesTest, AFolderThatLeadsOutOfTheTableIsCorrupt) {
  for (const std::string folder : {"..", "a/../b", "/etc", "a//b", ".", "a/"}) {
    SCOPED_TRACE(folder);
    EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=8\n"
                                     "hoodie.timeline.path=" +
                                     folder),
                IsError(ErrorKind::kCorrupt, HasSubstr("hoodie.timeline.path=" + folder)));
  }
}

TEST(TablePropertiesTest, AMissingVersionIsZero) {
  ASSERT_OK_ASSIGN(const TableProperties table, ParseTableProperties("hoodie.table.name=t\n"));
  EXPECT_EQ(table.version, 0);
  EXPECT_EQ(table.layout, 1);
}

TEST(TablePropertiesTest, AMissingLayoutFollowsTheVersion) {
  for (int version = 0; version <= 9; ++version) {
    SCOPED_TRACE(version);
    ASSERT_OK_ASSIGN(const TableProperties table,
                     ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=" +
                                          std::to_string(version)));
    EXPECT_EQ(table.layout, version >= 8 ? 2 : 1);
  }
}

TEST(TablePropertiesTest, ANewerTableIsUnsupportedWithItsVersion) {
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=10\n"),
              IsError(ErrorKind::kUnsupported,
                      "table is newer than this program reads hoodie.table.version=10 "
                      "newest_readable=9"));
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.timeline.layout.version=3\n"),
              IsError(ErrorKind::kUnsupported, HasSubstr("hoodie.timeline.layout.version=3")));
}

TEST(TablePropertiesTest, AVersionThatIsNoNumberIsCorrupt) {
  for (const std::string version : {"", "six", "6x", "-1", "6.0", "99999999999", " 6 "}) {
    SCOPED_TRACE(version);
    EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.table.version=" + version),
                IsError(ErrorKind::kCorrupt, HasSubstr("hoodie.table.version=")));
  }
}

TEST(TablePropertiesTest, AnUnknownTypeIsCorrupt) {
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.table.type=MERGE\n"),
              IsError(ErrorKind::kCorrupt, HasSubstr("hoodie.table.type=MERGE")));
}

TEST(TablePropertiesTest, AFileWithoutATableNameIsCorrupt) {
  EXPECT_THAT(ParseTableProperties(""), IsError(ErrorKind::kCorrupt, HasSubstr("name no table")));
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=\n"),
              IsError(ErrorKind::kCorrupt, HasSubstr("name no table")));
}

TEST(TablePropertiesTest, AWrongChecksumIsCorrupt) {
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=t\nhoodie.table.checksum=498511607\n"),
              IsError(ErrorKind::kCorrupt, HasSubstr("stored=498511607 computed=498511606")));
}

TEST(TablePropertiesTest, TheChecksumCoversTheDatabase) {
  // zlib.crc32(b"default.fresh-a7") as Python computes it.
  EXPECT_THAT(ParseTableProperties("hoodie.table.name=fresh-a7\nhoodie.database.name=default\n"
                                   "hoodie.table.checksum=98214351\n"),
              IsOk());
}

TEST(TablePropertiesTest, EveryTruncationAndByteFlipIsDecidedWithoutCrash) {
  for (size_t size = 0; size < kStreamerTable.size(); ++size) {
    const auto parsed = ParseTableProperties(kStreamerTable.substr(0, size));
    if (parsed) {
      EXPECT_EQ(parsed->name, "fresh-a7") << size;
    }
  }
  for (size_t i = 0; i < kStreamerTable.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = kStreamerTable;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto parsed = ParseTableProperties(flipped);
      if (!parsed) {
        EXPECT_NE(parsed.error().kind, ErrorKind::kInternal) << i;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::hudi
