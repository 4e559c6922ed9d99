#include "storage/digest.h"

#include <gtest/gtest.h>

namespace tidemark::storage {
namespace {

TEST(DigestTest, HmacIsThatOfTheStandard) {
  // RFC 4231, test cases 1 and 2.
  EXPECT_EQ(HexOf(HmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HexOf(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(DigestTest, Base64IsThatOfTheStandard) {
  // RFC 4648, section 10.
  const struct {
    std::string_view bytes, text;
  } cases[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xfb\xef\xff", "++//"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(Base64(bytes), text);
    EXPECT_EQ(Base64Decoded(text), bytes) << text;
  }
  EXPECT_EQ(Base64Url("\xfb\xef\xff\xfe"), "--___g");
}

TEST(DigestTest, WhatIsNoBase64IsNone) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg==\n", " Zg==", "Zh==", "Z===", "====",
                                      "Zg==Zg==", "Zm9v\xff", "Zm8_"})
    EXPECT_EQ(Base64Decoded(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidemark::storage
