#include "base/letter_case.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(LetterCaseTest, OnlyLettersOfAsciiChange) {
  EXPECT_EQ(LowerCase("@AZ[`az{ 09-\xc3\x89"), "@az[`az{ 09-\xc3\x89");
  EXPECT_EQ(LowerCase(""), "");
  EXPECT_EQ(LowerCase('Q'), 'q');
}

}  // namespace
}  // namespace tidemark
