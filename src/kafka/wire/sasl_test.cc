#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kafka/wire/sasl_internal.h"
#include "kafka/wire/secure_text_internal.h"
#include "support/result_matchers.h"

namespace tidemark::kafka::wire {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

constexpr const char* kNonce = "rOprNGfwEbeRWgbNEkqO";
// The example of RFC 7677, section 3.
constexpr const char* kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr const char* kClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr const char* kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

Login LoginBy(Mechanism mechanism) {
  return {.mechanism = mechanism,
          .name = "",
          .username = "user",
          .password = "pencil",
          .token_words = ""};
}

std::unique_ptr<SaslConversation> Scram() {
  return MakeConversation(LoginBy(Mechanism::kScramSha256), kNonce, WallTime{});
}

TEST(SaslTest, PlainSendsUserAndPasswordAtOnce) {
  const auto plain = MakeConversation(LoginBy(Mechanism::kPlain), kNonce, WallTime{});
  EXPECT_EQ(plain->First(), std::string("\0user\0pencil", 12));
  EXPECT_THAT(plain->Answer(""), IsOkAnd(std::nullopt));
}

TEST(SaslTest, ScramSpeaksAsItsStandardDoes) {
  const auto scram = Scram();
  EXPECT_EQ(scram->First(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  EXPECT_THAT(scram->Answer(kServerFirst), IsOkAnd(Optional(std::string(kClientFinal))));
  EXPECT_THAT(scram->Answer(kServerFinal), IsOkAnd(std::nullopt));
}

TEST(SaslTest, ScramHidesNoFieldInAName) {
  Login login = LoginBy(Mechanism::kScramSha256);
  login.username = "a,b=c";
  EXPECT_EQ(MakeConversation(login, "x", WallTime{})->First(), "n,,n=a=2Cb=3Dc,r=x");
}

TEST(SaslTest, ServerThatDoesNotKnowThePasswordIsRefused) {
  const auto scram = Scram();
  ASSERT_TRUE(scram->Answer(kServerFirst));
  std::string other = kServerFinal;
  other[2] = 'A';
  EXPECT_THAT(scram->Answer(other), IsError(ErrorKind::kDenied, HasSubstr("does not know")));
  EXPECT_THAT(scram->Answer("e=invalid-proof"),
              IsError(ErrorKind::kDenied, HasSubstr("invalid-proof")));
  EXPECT_THAT(scram->Answer(""), IsError(ErrorKind::kDenied, ::testing::_));
}

TEST(SaslTest, ServersFirstWordsAreChecked) {
  for (const char* words : {
           "",
           "r=",
           "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
           "r=somebodyelse,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
           "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",   // adds nothing of its own
           "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095",  // too few
           "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=2000000000",
           "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096x",
           "r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096",
       }) {
    EXPECT_THAT(Scram()->Answer(words),
                IsError(ErrorKind::kDenied, AllOf(HasSubstr("SCRAM"), Not(HasSubstr("pencil")))))
        << words;
  }
}

TEST(SaslTest, EveryCutAndFlippedBitOfTheServersWordsIsAnAnswerOrARefusal) {
  const std::string first = kServerFirst;
  for (size_t at = 0; at < first.size(); ++at) {
    static_cast<void>(Scram()->Answer(first.substr(0, at)));
    std::string flipped = first;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    static_cast<void>(Scram()->Answer(flipped));
  }
}

TEST(SaslTest, UnsignedTokenHoldsItsWordsAndTimes) {
  ASSERT_OK_ASSIGN(const UnsignedToken made,
                   MakeUnsignedToken("principal=me scope=a,b lifeSeconds=60 extension_trace=7",
                                     WallTimeFromMillis(1'500)));
  const std::string header = UrlBase64Of(R"({"alg":"none"})");
  const std::string claims =
      UrlBase64Of(R"({"sub":"me","iat":1.500,"exp":61.500,"scope":["a","b"]})");
  EXPECT_EQ(made.token, header + "." + claims + ".");
  EXPECT_EQ(made.extensions, "\1trace=7");
}

TEST(SaslTest, WordsThatMakeNoTokenAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "principal"},
      {"scope=a", "principal"},
      {"principal", "="},
      {"principal=a\"b", "principal"},
      {"principal=me lifeSeconds=x", "lifeSeconds"},
      {"principal=me colour=red", "colour"},
  };
  for (const auto& [words, name] : cases) {
    EXPECT_THAT(MakeUnsignedToken(words, WallTime{}),
                IsError(ErrorKind::kInvalidArgument, HasSubstr(name)))
        << words;
  }
}

TEST(SaslTest, TokenIsPresentedAsItsStandardWants) {
  Login login = LoginBy(Mechanism::kOauthBearer);
  login.token_words = "principal=me extension_trace=7";
  const auto bearer = MakeConversation(login, "", WallTime{});
  const std::string first = bearer->First();
  EXPECT_TRUE(first.starts_with("n,,\1auth=Bearer ")) << first;
  EXPECT_TRUE(first.ends_with(".\1trace=7\1\1")) << first;
  EXPECT_THAT(bearer->Answer(""), IsOkAnd(std::nullopt));
  EXPECT_THAT(bearer->Answer("{\"status\":\"invalid_token\"}"),
              IsOkAnd(Optional(std::string("\1"))));
}

TEST(SaslTest, NoncesDiffer) {
  EXPECT_NE(MakeNonce(), MakeNonce());
  EXPECT_EQ(MakeNonce().size(), 32u);
}

TEST(SaslTest, Base64IsReadBack) {
  for (const char* text : {"", "f", "fo", "foo", "foob"})
    EXPECT_EQ(FromBase64(Base64Of(text)), text);
  EXPECT_EQ(Base64Of("fo"), "Zm8=");
  EXPECT_EQ(UrlBase64Of("\xff\xfe\xfd"), "__79");
  for (const char* text : {"Zg=", "Z===", "=m8=", "Zm8!"})
    EXPECT_EQ(FromBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tidemark::kafka::wire
