#include "feed/control.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using support::IsError;
using ::testing::HasSubstr;

TEST(ControlTest, EachActionIsReadAsItIsWritten) {
  for (const auto action : {ControlAction::kSnapshot, ControlAction::kResync, ControlAction::kPause,
                            ControlAction::kResume}) {
    const auto read = ParseControl("0011", ControlJson({.action = action, .uid = "0011"}));
    ASSERT_THAT(read, support::IsOk());
    EXPECT_EQ(read->action, action);
    EXPECT_EQ(read->uid, "0011");
  }
}

TEST(ControlTest, OtherMembersAreForPeople) {
  EXPECT_THAT(ParseControl("0011", R"({"action":"pause","by":"ann","why":[1]})"), support::IsOk());
}

TEST(ControlTest, AnythingElseIsRefused) {
  const std::string good = R"({"action":"resync"})";
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(ParseControl("0011", good.substr(0, size)));
  for (const char* bad : {"", "[]", "{}", R"({"action":1})", R"({"action":"Pause"})"})
    EXPECT_THAT(ParseControl("0011", bad),
                IsError(ErrorKind::kInvalidArgument, HasSubstr("control topic")));
  EXPECT_FALSE(ParseControl("", good));
}

}  // namespace
}  // namespace tidemark::feed
