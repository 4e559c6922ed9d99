#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "contract/state_store_contract.h"
#include "state/postgres_session.h"
#include "support/child_process.h"
#include "support/postgres_server.h"
#include "support/result_matchers.h"

namespace tidemark::state {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Started once from the main thread; ended with the program.
support::PostgresServer& Server() {
  static const auto server = support::PostgresServer::Start();
  if (!server) ADD_FAILURE() << server.error().message;
  return **server;
}

/// A database of its own.
StateOptions NewDatabase() {
  static int count = 0;
  const std::string name = fmt::format("state_{}", ++count);
  const auto session = OpenPostgres(Server().url());
  EXPECT_THAT(session, IsOk());
  if (!session) return {};
  EXPECT_THAT((*session)->Run("CREATE DATABASE " + name), IsOk());
  std::string url = Server().url();
  url.replace(url.rfind('/') + 1, std::string::npos, name);
  return {.path = {}, .url = url};
}

StateOptions NewFolder() {
  static std::vector<std::unique_ptr<support::TemporaryFolder>> folders;
  folders.push_back(std::make_unique<support::TemporaryFolder>());
  return {.path = folders.back()->path() + "/made/on/the/way", .url = {}};
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StateStoreContract,
                         ::testing::Values(StateUnderTest{"sqlite", NewFolder}));
INSTANTIATE_TEST_SUITE_P(Postgres, StateStoreContract,
                         ::testing::Values(StateUnderTest{"postgres", NewDatabase}));

TEST(PostgresStateTest, AServerThatCrashesIsUnavailableOnceAndThenUsedAgain) {
  ASSERT_OK_ASSIGN(const auto store, OpenState(NewDatabase()));
  PipelineState state;
  state.pipeline = "orders";
  ASSERT_THAT(store->SavePipelines({&state, 1}), IsOk());
  ASSERT_THAT(Server().Crash(), IsOk());
  EXPECT_THAT(store->SavePipelines({&state, 1}),
              IsError(ErrorKind::kUnavailable, HasSubstr("postgresql=")));
  // It takes a moment to recover.
  const Budget budget = Budget::For(std::chrono::seconds(60));
  Status saved;
  for (int attempt = 1; attempt < 100; ++attempt) {
    saved = store->SavePipelines({&state, 1});
    if (saved || budget.is_over()) break;
    Budget pause = budget;
    pause.tries_max = 2;
    ASSERT_TRUE(pause.WaitForTry(2));
  }
  EXPECT_THAT(saved, IsOk());
}

TEST(PostgresStateTest, AServerThatFreezesIsWaitedForWithinTheLimitAndThenUsedAgain) {
  ASSERT_OK_ASSIGN(const auto store, OpenState(NewDatabase()));
  PipelineState state;
  state.pipeline = "orders";
  ASSERT_THAT(store->SavePipelines({&state, 1}), IsOk());
  Server().Freeze();
  const auto does_not_answer = IsError(ErrorKind::kUnavailable, HasSubstr("does not answer"));
  // On the connection that is there, and while it is made anew.
  for (int call = 0; call < 2; ++call) {
    store->LimitTo(Budget::For(std::chrono::milliseconds(300)));
    EXPECT_THAT(store->SavePipelines({&state, 1}), does_not_answer) << call;
  }
  store->LimitTo(Budget::For(std::chrono::milliseconds(300)));
  EXPECT_THAT(store->LoadPipelines(), does_not_answer);
  Server().Thaw();
  store->LimitTo(Budget::For(std::chrono::seconds(60)));
  ASSERT_OK_ASSIGN(const auto loaded, store->LoadPipelines());
  EXPECT_EQ(loaded.pipelines.size(), 1u);
  EXPECT_THAT(store->SavePipelines({&state, 1}), IsOk());
}

TEST(PostgresStateTest, AStopEndsTheWaitForAServer) {
  ASSERT_OK_ASSIGN(const auto store, OpenState(NewDatabase()));
  Server().Freeze();
  std::stop_source stop;
  store->LimitTo(Budget::For(std::chrono::hours(1), stop.get_token()));
  const std::jthread stopper([&] {
    static_cast<void>(WaitUnlessStopped(std::chrono::milliseconds(100), {}));
    stop.request_stop();
  });
  EXPECT_THAT(store->LoadPipelines(),
              IsError(ErrorKind::kUnavailable, HasSubstr("does not answer")));
  Server().Thaw();
}

TEST(PostgresStateTest, AUrlThatCannotBeReadIsRefusedWithoutAnyPartOfIt) {
  for (const std::string url : {
           "postgresql://tide:Xk3secretpart/tail9@127.0.0.1:1/db",
           "postgresql://tide:50%secretpart@127.0.0.1:1/db",
           "postgresql://tide:1/secretpart@127.0.0.1:1/db",
           "postgresql://tide:x@secretpart@127.0.0.1:1/db",
           "postgresql://tide:x@127.0.0.1:secretpart/db",
       }) {
    EXPECT_THAT(OpenState({.path = {}, .url = url}),
                IsError(ErrorKind::kInvalidArgument,
                        AllOf(HasSubstr("written %2F"), Not(HasSubstr("secretpart")))))
        << url;
  }
}

TEST(PostgresStateTest, AWrongPasswordIsDeniedAndNotRepeated) {
  std::string url = Server().url();
  url.replace(url.find("hunter2"), 7, "s3cr3t-w0rd");
  const auto store = OpenState({.path = {}, .url = url});
  EXPECT_THAT(store, IsError(ErrorKind::kDenied, Not(HasSubstr("s3cr3t-w0rd"))));
}

TEST(PostgresStateTest, AServerThatIsNotThereIsUnavailable) {
  const std::string url = fmt::format("postgresql://u:s3cr3t@127.0.0.1:{}/x", support::FreePort());
  EXPECT_THAT(
      OpenState({.path = {}, .url = url}),
      IsError(ErrorKind::kUnavailable, AllOf(HasSubstr("127.0.0.1"), Not(HasSubstr("s3cr3t")))));
}

TEST(PostgresStateTest, TwoDaemonsMayBeginTogether) {
  const StateOptions options = NewDatabase();
  ASSERT_OK_ASSIGN(const auto first, OpenState(options));
  ASSERT_OK_ASSIGN(const auto second, OpenState(options));
  PipelineState state;
  state.pipeline = "orders";
  ASSERT_THAT(first->SavePipelines({&state, 1}), IsOk());
  ASSERT_OK_ASSIGN(const auto loaded, second->LoadPipelines());
  EXPECT_EQ(loaded.pipelines.size(), 1u);
}

}  // namespace
}  // namespace tidemark::state
