#include "storage/program_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <stop_token>
#include <thread>

#include "support/child_process.h"
#include "support/result_matchers.h"

namespace tidemark::storage {
namespace {

using namespace std::chrono_literals;
using support::IsError;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SplitCommandTest, WordsAreSplitAtBlanksOutsideOfQuotes) {
  const auto words = [](std::string_view line) { return SplitCommand(line).value(); };
  EXPECT_THAT(words("/opt/tool  --user\tme"), ElementsAre("/opt/tool", "--user", "me"));
  EXPECT_THAT(words(R"("/opt/my tool" --user 'a "b" \c' "")"),
              ElementsAre("/opt/my tool", "--user", R"(a "b" \c)", ""));
  EXPECT_THAT(words(R"(/opt/my\ tool a"b c"d "\"\x\\")"),
              ElementsAre("/opt/my tool", "ab cd", R"("\x\)"));
  EXPECT_THAT(words("tool $HOME `id` ; rm *"),
              ElementsAre("tool", "$HOME", "`id`", ";", "rm", "*"));
}

TEST(SplitCommandTest, WhatIsNoCommandIsSaidWithoutItsWords) {
  for (const char* line : {"", "  ", "tool 's3cr3t", "tool \"s3cr3t", "'' s3cr3t"})
    EXPECT_THAT(SplitCommand(line), IsError(ErrorKind::kInvalidArgument, Not(HasSubstr("s3cr3t"))))
        << line;
}

Result<std::string> RunScript(const std::string& script, Budget budget = Budget::For(20s)) {
  return ProgramOutput({"/bin/sh", "-c", script}, budget);
}

TEST(ProgramOutputTest, ItsOutputIsGivenAndNothingElse) {
  EXPECT_EQ(RunScript("echo loud >&2; printf one; sleep 0.1; printf two").value(), "onetwo");
  EXPECT_EQ(RunScript("cat").value(), "") << "there is nothing to read";
}

TEST(ProgramOutputTest, ItIsFoundInPathAndHasOurEnvironment) {
  EXPECT_THAT(ProgramOutput({"sh", "-c", "echo $PATH"}, Budget::For(20s)).value(),
              HasSubstr("/bin"));
}

TEST(ProgramOutputTest, AFailureNamesTheProgramAndNoOtherWord) {
  EXPECT_THAT(RunScript("echo s3cr3t; exit 3"),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("program=/bin/sh exit_code=3"), Not(HasSubstr("s3cr3t")))));
  EXPECT_THAT(RunScript("kill -9 $$"), IsError(ErrorKind::kDenied, HasSubstr("signal=9")));
  EXPECT_THAT(
      ProgramOutput({"/no/such/tool", "s3cr3t"}, Budget::For(20s)),
      IsError(ErrorKind::kDenied, AllOf(HasSubstr("/no/such/tool"), Not(HasSubstr("s3cr3t")))));
}

TEST(ProgramOutputTest, OneThatTalksWithoutEndIsLeft) {
  EXPECT_THAT(RunScript("while :; do echo 0123456789012345678901234567890123456789; done"),
              IsError(ErrorKind::kDenied, HasSubstr("65536 bytes")));
}

TEST(ProgramOutputTest, OneThatHangsIsKilledWithItsChildrenWhenTheTimeIsOver) {
  const support::TemporaryFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(
      RunScript("(sleep 1; echo late > " + folder.path() + "/late) & sleep 60", Budget::For(300ms)),
      IsError(ErrorKind::kUnavailable, _));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_TRUE(WaitUnlessStopped(1500ms, {}));
  EXPECT_FALSE(std::ifstream(folder.path() + "/late").is_open());
}

TEST(ProgramOutputTest, OneThatIsNotWaitedForAnyMoreIsKilled) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    WaitUnlessStopped(200ms, {});
    stop.request_stop();
  });
  EXPECT_THAT(RunScript("sleep 60", Budget::For(60s, stop.get_token())),
              IsError(ErrorKind::kCancelled, _));
}

TEST(ProgramOutputTest, OneThatClosesItsOutputIsWaitedForToItsEnd) {
  EXPECT_THAT(RunScript("printf x; exec >&-; sleep 0.3; exit 5"),
              IsError(ErrorKind::kDenied, HasSubstr("exit_code=5")));
}

}  // namespace
}  // namespace tidemark::storage
