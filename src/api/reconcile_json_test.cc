#include "api/reconcile_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace tidemark::api {
namespace {

using change::Agreement;
using enum change::Agreement;

ReconciledSink Sink(std::vector<Agreement> agreements) {
  ReconciledSink sink{.sink = "metastore", .kind = "hive"};
  for (const auto agreement : agreements)
    sink.tables.push_back({.database = "lake", .table = "orders", .agreement = agreement});
  return sink;
}

TEST(AgreementOfTest, DifferentIsWorseThanUnknownThanBehindThanEqual) {
  const std::vector<Agreement> from_best = {kEqual, kBehind, kUnknown, kDifferent};
  for (size_t a = 0; a < from_best.size(); ++a) {
    for (size_t b = 0; b < from_best.size(); ++b) {
      const auto worse = from_best[std::max(a, b)];
      EXPECT_EQ(WorseOf(from_best[a], from_best[b]), worse);
      EXPECT_EQ(AgreementOf(Sink({from_best[a], from_best[b]})), worse);
      ReconciledTable table;
      table.found.agreement = from_best[a];
      table.sinks = {Sink({kEqual}), Sink({from_best[b]})};
      EXPECT_EQ(AgreementOf(table), worse);
    }
  }
}

TEST(AgreementOfTest, ASinkThatCouldNotBeAskedIsUnknown) {
  EXPECT_EQ(AgreementOf(Sink({})), kUnknown);
  ReconciledSink sink = Sink({kEqual});
  sink.failure = {ErrorKind::kUnavailable, "away"};
  EXPECT_EQ(AgreementOf(sink), kUnknown);
}

TEST(ReconcileJsonTest, ASinkIsToldBesideTheFeedThatItDoesNotChange) {
  ReconciledTable table{.table = "s3://lake/orders", .uid = "0123"};
  table.found.agreement = kEqual;
  ReconciledSink sink = Sink({kDifferent, kUnknown});
  sink.tables[0].is_there = true;
  sink.tables[0].stamp = {2, 7};
  sink.tables[0].missing.assign(kListedMax + 1, "dt=1");
  sink.tables[0].surplus = {"dt=9"};
  sink.tables[0].differences = {"missing column=qty"};
  sink.tables[1].message = "away";
  table.sinks = {sink};
  const auto json = nlohmann::json::parse(ReconcileJson(std::vector{table}, WallTime{}));
  EXPECT_EQ(json["schema"], "tidemark.reconcile/1");
  EXPECT_EQ(json["tables"][0]["agreement"], "equal");
  const auto& told = json["tables"][0]["sinks"][0];
  EXPECT_EQ(told["sink"], "metastore");
  EXPECT_EQ(told["agreement"], "different");
  EXPECT_TRUE(told["message"].is_null());
  EXPECT_EQ(told["tables"][0]["missing_count"], kListedMax + 1);
  EXPECT_EQ(told["tables"][0]["missing_partitions"].size(), kListedMax);
  auto first = told["tables"][0];
  first.erase("missing_partitions");
  first.erase("missing_count");
  EXPECT_EQ(first, nlohmann::json::parse(R"({"database":"lake","table":"orders",
      "agreement":"different","message":null,"there":true,"epoch":2,"seq":7,"surplus_count":1,
      "surplus_partitions":["dt=9"],"difference_count":1,"differences":["missing column=qty"]})"));
  EXPECT_TRUE(told["tables"][1]["epoch"].is_null());
  EXPECT_EQ(told["tables"][1]["message"], "away");
}

}  // namespace
}  // namespace tidemark::api
