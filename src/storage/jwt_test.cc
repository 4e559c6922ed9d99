#include "storage/jwt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "storage/digest.h"
#include "storage/small_file.h"
#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JwtTest : public ::testing::Test {
 protected:
  /// The exit code of openssl.
  int OpenSsl(std::vector<std::string> words) {
    words.insert(words.begin(), "openssl");
    support::ChildOptions options;
    options.command = std::move(words);
    options.folder = folder_.path();
    auto child = support::ChildProcess::Start(options);
    EXPECT_THAT(child, IsOk());
    return (*child)->WaitForExit(std::chrono::seconds(60)).value_or(-1);
  }
  std::string ReadFile(const std::string& name) {
    return ReadSmallFile(folder_.path() + "/" + name).value_or("");
  }
  void Write(const std::string& name, std::string_view text) {
    std::ofstream(folder_.path() + "/" + name) << text;
  }

  support::TemporaryFolder folder_;
};

TEST_F(JwtTest, ItsSignatureIsOneToOthers) {
  ASSERT_EQ(OpenSsl({"genpkey", "-algorithm", "RSA", "-out", "key.pem"}), 0);
  ASSERT_EQ(OpenSsl({"pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"}), 0);
  ASSERT_OK_ASSIGN(const std::string token,
                   SignedJwt(R"({"alg":"RS256"})", R"({"iss":"me"})", ReadFile("key.pem")));
  const size_t dot = token.rfind('.');
  EXPECT_EQ(token.substr(0, dot), "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJtZSJ9");
  std::string signature = token.substr(dot + 1);
  std::ranges::replace(signature, '-', '+');
  std::ranges::replace(signature, '_', '/');
  signature.resize((signature.size() + 3) / 4 * 4, '=');
  Write("signature", Base64Decoded(signature).value_or(""));
  Write("text", token.substr(0, dot));
  EXPECT_EQ(
      OpenSsl({"dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text"}), 0);
  Write("text", token.substr(0, dot - 1));
  EXPECT_NE(
      OpenSsl({"dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "text"}), 0);
}

TEST_F(JwtTest, WhatIsNoKeyIsRefusedAndNotRepeated) {
  const auto refused = IsError(ErrorKind::kInvalidArgument,
                               AllOf(HasSubstr("private RSA key"), Not(HasSubstr("s3cr3t"))));
  EXPECT_THAT(SignedJwt("{}", "{}", ""), refused);
  EXPECT_THAT(SignedJwt("{}", "{}", "-----BEGIN PRIVATE KEY-----\ns3cr3t\n"), refused);
  // Nobody is there to type a pass phrase.
  ASSERT_EQ(OpenSsl({"genpkey", "-algorithm", "RSA", "-aes128", "-pass", "pass:s3cr3t", "-out",
                     "locked.pem"}),
            0);
  EXPECT_THAT(SignedJwt("{}", "{}", ReadFile("locked.pem")), refused);
  ASSERT_EQ(OpenSsl({"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                     "-out", "ec.pem"}),
            0);
  EXPECT_THAT(SignedJwt("{}", "{}", ReadFile("ec.pem")), refused);
}

}  // namespace
}  // namespace tidemark::storage
