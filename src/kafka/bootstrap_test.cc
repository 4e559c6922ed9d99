#include "kafka/bootstrap.h"

#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BootstrapTest, WhatPeopleWriteIsFine) {
  for (const char* servers :
       {"broker:9092", "broker", "10.0.0.1:1", "a.b-c_d:65535", "a:1,b:2, c:3 ,d", "[::1]:9092",
        "[fe80::1%2]", "b-1.cluster.example.com:9098,b-2.cluster.example.com:9098"}) {
    EXPECT_THAT(CheckBootstrapServers(servers), IsOk()) << servers;
  }
}

TEST(BootstrapTest, AnEntryThatIsNoAddressIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "entry=''"},
      {" ", "entry=''"},
      {"a:1,,b:2", "entry=''"},
      {"a:1,", "entry=''"},
      {"a:", "entry='a:'"},
      {":9092", "entry=':9092'"},
      {"good:1,bad:0", "entry='bad:0'"},
      {"a:65536", "entry='a:65536'"},
      {"a:99999", "entry='a:99999'"},
      {"a:-1", "entry='a:-1'"},
      {"a:+1", "entry='a:+1'"},
      {"a:9092x", "entry='a:9092x'"},
      {"a:1:2", "entry='a:1:2'"},
      {"a b:1", "entry='a b:1'"},
      {"a:1;b:2", "entry='a:1;b:2'"},
      {"kafka://a:1", "entry='kafka://a:1'"},
      {"::1", "entry='::1'"},
      {"[::1", "entry='[::1'"},
      {"[]:1", "entry='[]:1'"},
      {"[::1]9092", "entry='[::1]9092'"},
      {"[::g]:1", "entry='[::g]:1'"},
  };
  for (const auto& [servers, named] : cases) {
    EXPECT_THAT(CheckBootstrapServers(servers),
                IsError(ErrorKind::kInvalidArgument, HasSubstr(named)))
        << servers;
  }
}

TEST(BootstrapTest, PasswordInAnAddressIsRefusedAndNotRepeated) {
  for (const char* servers :
       {"user:hunter2@host:9092", "user@hunter2:9092", "hunter2@host",
        "kafka://user:hunter2@host:1", "good:1,user:hunter2@host:9092", "user:hunter2,x@host:9092",
        "host:9092@hunter2", "[::1]:9092,user:hunter2@[::1]:9092", "[hunter2@::1]:9092"}) {
    EXPECT_THAT(CheckBootstrapServers(servers),
                IsError(ErrorKind::kInvalidArgument,
                        AllOf(HasSubstr("(not shown)"), HasSubstr("properties"),
                              Not(HasSubstr("hunter2")), Not(HasSubstr("user:")))))
        << servers;
  }
}

TEST(BootstrapTest, EntryThatIsNotShownIsCounted) {
  EXPECT_THAT(CheckBootstrapServers("good:1,fine:2,user:hunter2@host:9092"),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("number=3")));
}

}  // namespace
}  // namespace tidemark::kafka
