#include "sink/refresh_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "sink/mysql_session.h"
#include "sink/sql_text.h"

namespace tidemark::sink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Recorder final : public StatementRunner {
 public:
  Recorder(std::vector<std::string>& statements, std::optional<Error>& failure)
      : statements_(statements), failure_(failure) {}

  Status Run(const std::string& statement, const Budget&) override {
    statements_.push_back(statement);
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

 private:
  std::vector<std::string>& statements_;
  std::optional<Error>& failure_;
};

class RefreshSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    view_.table_name = "orders";
    view_.identity.database = "sales";
  }
  SinkOutcome Apply(const TableDelta* delta = nullptr, RefreshDialect dialect = {}) {
    statements_.clear();
    RefreshSink sink(std::make_unique<Recorder>(statements_, failure_),
                     {.dialect = dialect, .catalog = "lake"});
    return sink.Apply({.now = view_, .stamp = {1, 2}, .delta = delta, .applied = applied_}, {});
  }

  TableView view_;
  std::optional<SinkStamp> applied_;
  std::optional<Error> failure_;
  std::vector<std::string> statements_;
};

TEST(RefreshStatementTest, EachEngineHasItsOwn) {
  const CatalogName name{.database = "sales", .table = "orders"};
  using enum RefreshDialect;
  const auto statement = [&](RefreshDialect dialect) {
    return RefreshStatement({.dialect = dialect, .catalog = "lake"}, name);
  };
  EXPECT_EQ(statement(kTrino),
            "CALL \"lake\".system.flush_metadata_cache(schema_name => 'sales', "
            "table_name => 'orders')");
  EXPECT_EQ(statement(kPresto),
            "CALL \"lake\".system.invalidate_metastore_cache('sales', 'orders')");
  EXPECT_EQ(statement(kStarRocks), "REFRESH EXTERNAL TABLE `lake`.`sales`.`orders`");
  EXPECT_EQ(statement(kDoris), "REFRESH TABLE `lake`.`sales`.`orders`");
}

TEST(SqlTextTest, NothingEndsWhatItStandsIn) {
  EXPECT_EQ(SqlName("a\"; DROP TABLE x --"), "\"a\"\"; DROP TABLE x --\"");
  EXPECT_EQ(SqlText("it's '' \\"), "'it''s '''' \\'");
  EXPECT_EQ(MysqlName("a`b"), "`a``b`");
  EXPECT_EQ(MysqlName(std::string_view("a\0b", 3)), "`ab`");
  EXPECT_EQ(SqlText(""), "''");
}

TEST_F(RefreshSinkTest, ATableOfMergesOnReadIsForgottenTwice) {
  view_.type = lake::hudi::TableType::kMergeOnRead;
  EXPECT_EQ(Apply(nullptr, RefreshDialect::kDoris).kind, OutcomeKind::kApplied);
  EXPECT_THAT(statements_, ElementsAre("REFRESH TABLE `lake`.`sales`.`orders_ro`",
                                       "REFRESH TABLE `lake`.`sales`.`orders_rt`"));
}

TEST_F(RefreshSinkTest, WhatChangesNothingAsksNothing) {
  TableDelta delta{.from = {1, 1}, .to = {1, 2}};
  Apply(&delta);
  EXPECT_THAT(statements_, IsEmpty());
  delta.touched = {{.path = "dt=1", .values = {"1"}}};
  Apply(&delta);
  EXPECT_EQ(statements_.size(), 1U);
  applied_ = {1, 2};
  Apply(&delta);
  EXPECT_THAT(statements_, IsEmpty());
}

TEST_F(RefreshSinkTest, FailuresAreWhatTheyMean) {
  struct Case {
    ErrorKind error;
    bool is_dropped;
    OutcomeKind outcome;
  };
  for (const auto& [error, is_dropped, outcome] :
       {Case{ErrorKind::kUnavailable, false, OutcomeKind::kTemporary},
        Case{ErrorKind::kNotFound, false, OutcomeKind::kTemporary},
        Case{ErrorKind::kNotFound, true, OutcomeKind::kApplied},
        Case{ErrorKind::kDenied, false, OutcomeKind::kTemporary},
        Case{ErrorKind::kInvalidArgument, false, OutcomeKind::kPermanent}}) {
    failure_ = Error{error, "why"};
    view_.is_dropped = is_dropped;
    const auto result = Apply();
    EXPECT_EQ(result.kind, outcome) << ErrorKindName(error);
    if (outcome == OutcomeKind::kPermanent) {
      EXPECT_THAT(result.cure, HasSubstr("resume the sink"));
      EXPECT_EQ(result.reason, "table=lake.sales.orders: why");
    }
  }
}

TEST(MysqlErrorTest, ATableOfNumbers) {
  using enum ErrorKind;
  struct Case {
    unsigned number;
    const char* message;
    ErrorKind kind;
  };
  for (const auto& [number, message, kind] :
       {Case{1045, "Access denied for user", kDenied}, Case{1044, "", kDenied},
        Case{1142, "", kDenied}, Case{1049, "Unknown database", kNotFound},
        Case{1146, "no such table", kNotFound}, Case{1051, "Unknown table", kNotFound},
        Case{1064, "You have an error in your SQL Syntax", kInvalidArgument},
        Case{1064, "Getting analyzing error. Detail message: connection reset", kUnavailable},
        Case{1105, "errCode = 2", kUnavailable}, Case{2003, "Can't connect", kUnavailable},
        Case{2013, "Lost connection; syntax", kUnavailable}})
    EXPECT_EQ(KindOfMysqlError(number, message), kind) << number;
}

}  // namespace
}  // namespace tidemark::sink
