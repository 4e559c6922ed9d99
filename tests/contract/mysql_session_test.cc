// The client of StarRocks and Doris against a real server of the same protocol.
#include "sink/mysql_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stop_token>
#include <thread>

#include "sink/refresh_sink.h"
#include "sink/sql_text.h"
#include "support/mariadb_server.h"
#include "support/result_matchers.h"

namespace tidemark::sink {
namespace {

using support::IsError;
using support::IsOk;
using support::MariadbServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Started by main(): a child ends with the thread that started it.
std::unique_ptr<MariadbServer> server;

MysqlOptions Options() {
  return {.host = "127.0.0.1",
          .port = static_cast<uint16_t>(server->port()),
          .user = MariadbServer::kUser,
          .password = MariadbServer::kPassword};
}
Budget Ample() {
  return Budget::For(std::chrono::seconds(60));
}

TEST(MysqlSessionTest, AStatementIsRun) {
  MysqlSession session(Options());
  EXPECT_THAT(session.Run("SELECT 1", Ample()), IsOk());
  EXPECT_THAT(session.Run("DO 1", Ample()), IsOk());
}

TEST(MysqlSessionTest, NamesArriveAsTheyWereMeant) {
  MysqlSession session(Options());
  const std::string database = MysqlName("a`b; DROP");
  const std::string table = database + "." + MysqlName("t'\"\xC3\xA9");
  EXPECT_THAT(session.Run("CREATE DATABASE " + database, Ample()), IsOk());
  EXPECT_THAT(session.Run("CREATE TABLE " + table + " (c INT)", Ample()), IsOk());
  EXPECT_THAT(session.Run("SELECT * FROM " + table, Ample()), IsOk());
}

TEST(MysqlSessionTest, AWrongPasswordIsDeniedAndNotShown) {
  auto options = Options();
  options.password = "wrong-pa55word";
  EXPECT_THAT(MysqlSession(options).Run("SELECT 1", Ample()),
              IsError(ErrorKind::kDenied,
                      AllOf(HasSubstr("error=1045"), Not(HasSubstr("wrong-pa55word")))));
}

TEST(MysqlSessionTest, WhatIsNotThereIsNotFound) {
  MysqlSession session(Options());
  EXPECT_THAT(session.Run("SELECT * FROM mysql.nowhere", Ample()),
              IsError(ErrorKind::kNotFound, HasSubstr("error=1146")));
  EXPECT_THAT(session.Run("USE nowhere", Ample()),
              IsError(ErrorKind::kNotFound, HasSubstr("error=1049")));
}

TEST(MysqlSessionTest, AStatementOfAnotherEngineIsRefusedAndArrivedWhole) {
  RefreshSink sink(std::make_unique<MysqlSession>(Options()),
                   {.dialect = RefreshDialect::kStarRocks, .catalog = "lake"});
  TableView view;
  view.table_name = "orders";
  const auto outcome = sink.Apply({.now = view, .stamp = {1, 1}}, Ample());
  EXPECT_EQ(outcome.kind, OutcomeKind::kPermanent);
  EXPECT_THAT(outcome.reason, HasSubstr("SQL syntax"));
  EXPECT_THAT(server->Statements(), HasSubstr("REFRESH EXTERNAL TABLE `lake`.`default`.`orders`"));
}

TEST(MysqlSessionTest, AStatementThatTakesTooLongEndsWithTheBudgetAndTheStop) {
  MysqlSession session(Options());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(session.Run("SELECT SLEEP(60)", Budget::For(std::chrono::milliseconds(300))),
              IsError(ErrorKind::kUnavailable, HasSubstr("budget")));
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THAT(
      session.Run("SELECT SLEEP(60)", Budget::For(std::chrono::seconds(60), stop.get_token())),
      IsError(ErrorKind::kCancelled, "stopped"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(MysqlSessionTest, NobodyThereIsUnavailable) {
  auto options = Options();
  options.port = static_cast<uint16_t>(support::FreePort());
  EXPECT_THAT(MysqlSession(options).Run("SELECT 1", Ample()),
              IsError(ErrorKind::kUnavailable, HasSubstr("127.0.0.1")));
}

TEST(MysqlSessionTest, AServerWithoutTlsIsNotSpokenToWhereTlsIsWanted) {
  auto options = Options();
  options.is_encrypted = true;
  EXPECT_THAT(MysqlSession(options).Run("SELECT 1", Ample()), Not(IsOk()));
}

}  // namespace
}  // namespace tidemark::sink

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto started = tidemark::support::MariadbServer::Start();
  if (!started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  tidemark::sink::server = *std::move(started);
  const int code = RUN_ALL_TESTS();
  tidemark::sink::server.reset();
  return code;
}
