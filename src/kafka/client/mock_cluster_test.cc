#include "kafka/client/mock_cluster.h"

#include <gtest/gtest.h>

#include "support/result_matchers.h"

namespace tidemark::kafka::client {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

TEST(MockClusterTest, BrokersListenWhereTheOptionsSay) {
  ASSERT_OK_ASSIGN(const auto mock, MockCluster::Open(2));
  EXPECT_THAT(mock->options().bootstrap_servers,
              ::testing::MatchesRegex("127.0.0.1:[0-9]+,127.0.0.1:[0-9]+"));
}

TEST(MockClusterTest, LogIsFilledUpToAnOffset) {
  ASSERT_OK_ASSIGN(const auto mock, MockCluster::Open(1));
  ASSERT_THAT(mock->CreateTopic("orders", 1), IsOk());
  ASSERT_THAT(mock->AppendUntil({"orders", 0}, 25'000, 1'700'000'000'000), IsOk());
  EXPECT_THAT(mock->AppendUntil({"orders", 0}, 24'999, 1'700'000'000'000),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("end=25000")));
  EXPECT_THAT(mock->DeleteRecordsBefore({"orders", 0}, 25'000), IsOk());
}

TEST(MockClusterTest, LogStartBeyondTheEndIsRefused) {
  ASSERT_OK_ASSIGN(const auto mock, MockCluster::Open(1));
  ASSERT_THAT(mock->CreateTopic("orders", 1), IsOk());
  EXPECT_THAT(mock->DeleteRecordsBefore({"orders", 0}, 1),
              IsError(ErrorKind::kInternal, HasSubstr("delete records")));
}

}  // namespace
}  // namespace tidemark::kafka::client
