#include "change/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::change {
namespace {

// From sha256sum: the first 16 bytes of the hash of "" and of "abc" (FIPS 180-4 appendix).
TEST(DigestTest, HashIsTheBeginningOfSha256) {
  EXPECT_EQ(HexOf(HashOf("")), "e3b0c44298fc1c149afbf4c8996fb924");
  EXPECT_EQ(HexOf(HashOf("abc")), "ba7816bf8f01cfea414140de5dae2223");
}

TEST(DigestTest, SumsCarryFromTheLowerHalfAndWrapAround) {
  Digest sum{.high = ~0ULL, .low = ~0ULL};
  sum += {.high = 0, .low = 1};
  EXPECT_EQ(sum, Digest{});
  sum -= {.high = 0, .low = 1};
  EXPECT_EQ(sum, (Digest{.high = ~0ULL, .low = ~0ULL}));
  Digest carried{.high = 1, .low = ~0ULL};
  carried += {.high = 2, .low = 2};
  EXPECT_EQ(carried, (Digest{.high = 4, .low = 1}));
}

TEST(DigestTest, OrderOfMembersDoesNotMatterAndRemovingUndoesAdding) {
  Digest forwards;
  Digest backwards;
  for (const char* path : {"dt=1", "dt=2", "dt=3"}) forwards += HashOf(path);
  for (const char* path : {"dt=3", "dt=4", "dt=1", "dt=2"}) backwards += HashOf(path);
  EXPECT_NE(forwards, backwards);
  backwards -= HashOf("dt=4");
  EXPECT_EQ(forwards, backwards);
}

TEST(DigestTest, HexIsReadBackAndNothingElseIs) {
  const Digest digest{.high = 0x0123456789abcdefULL, .low = 0xfedcba9876543210ULL};
  EXPECT_EQ(HexOf(digest), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(ParseHex(HexOf(digest)), digest);
  for (const char* text :
       {"", "0123456789abcdeffedcba987654321", "0123456789ABCDEFfedcba9876543210",
        "0x23456789abcdeffedcba987654321000", "0123456789abcdeffedcba98765432100"}) {
    EXPECT_EQ(ParseHex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tidemark::change
