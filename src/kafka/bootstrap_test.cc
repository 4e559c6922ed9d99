#include "kafka/bootstrap.h"

#include <gtest/gtest.h>

#include <string>

#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace tidemark::kafka
