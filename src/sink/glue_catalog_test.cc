#include "sink/glue_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sink/catalog_sink.h"
#include "support/change_column.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::sink {
namespace {

using support::ColumnOf;
using support::IsError;
using support::IsOk;
using testing::HasSubstr;
using testing::StartsWith;

/// AWS Glue as strict as the service is: its limits, versions, errors inside of answers, and keys
/// that it does not know refused. After Glue's API pages.
class FakeGlue {
 public:
  using Json = nlohmann::json;
  using Values = std::vector<std::string>;

  struct Table {
    Json input;
    int version = 0;
    int archived = 0;
    std::map<Values, Json> partitions{};
  };

  // What goes wrong; guarded by mutex.
  int throttles_next = 0;                ///< so many requests
  std::set<Values> fails_once{};         ///< inside of a 200 answer, with InternalServiceException
  std::optional<std::string> refuses{};  ///< every call of this operation is AccessDenied
  std::mutex mutex{};
  std::map<std::string, Table> tables{};  ///< by "database.table"
  std::map<std::string, int> calls{};
  size_t most_created_at_once = 0;

  support::ScriptedReply Answer(const support::ScriptedRequest& request) {
    const std::scoped_lock lock(mutex);
    const std::string target = request.headers.at("x-amz-target");
    if (!target.starts_with("AWSGlue.") || request.method != "POST" ||
        request.headers.at("content-type") != "application/x-amz-json-1.1" ||
        !request.headers.at("authorization").contains("/glue/aws4_request"))
      return Error("UnknownOperationException", "not a call of Glue's");
    const std::string operation = target.substr(8);
    ++calls[operation];
    if (throttles_next > 0) {
      --throttles_next;
      return Error("ThrottlingException", "Rate exceeded");
    }
    if (operation == refuses) return Error("AccessDeniedException", "no");
    const Json body = Json::parse(request.body, nullptr, false);
    if (operation == "GetDatabases") return Reply({{"DatabaseList", Json::array()}});
    if (body.at("DatabaseName") != "lake") return Error(kMissing, "Database not found.");
    if (operation == "CreateTable") return Create(body);
    std::string name;
    for (const Json* place : {&body, body.contains("TableInput") ? &body["TableInput"] : &body})
      for (const char* const key : {"Name", "TableName"})
        if (place->contains(key)) name = (*place)[key];
    const auto it = tables.find("lake." + name);
    if (it == tables.end()) return Error(kMissing, "Table not found.");
    if (operation == "GetTable") return Get(it->second, body);
    if (operation == "UpdateTable") return Update(it->second, body);
    if (operation == "DeleteTable") {
      tables.erase(it);
      return Reply(Json::object());
    }
    if (operation == "GetPartitions") return List(it->second, body);
    if (operation == "BatchCreatePartition") return CreateBatch(it->second, body);
    if (operation == "BatchDeletePartition") return DeleteBatch(it->second, body);
    return Error("UnknownOperationException", operation);
  }

 private:
  static constexpr const char* kMissing = "EntityNotFoundException";
  static constexpr const char* kInvalid = "InvalidInputException";

  static support::ScriptedReply Reply(const Json& json) {
    return support::HttpReply(200, json.dump());
  }
  static support::ScriptedReply Error(const std::string& code, const std::string& message) {
    const Json json = {{"__type", code}, {"Message", message}};
    return support::HttpReply(400, json.dump());
  }

  /// The first key that is not of the request's shape.
  static std::optional<std::string> UnknownKey(const Json& object,
                                               const std::set<std::string>& known) {
    for (const auto& [key, value] : object.items())
      if (!known.contains(key)) return key;
    return std::nullopt;
  }

  static std::optional<std::string> BadInput(const Json& input) {
    static const std::set<std::string> kTableInput = {
        "Name",      "Description",       "Owner",         "LastAccessTime",   "LastAnalyzedTime",
        "Retention", "StorageDescriptor", "PartitionKeys", "ViewOriginalText", "ViewExpandedText",
        "TableType", "Parameters"};
    if (auto key = UnknownKey(input, kTableInput)) return key;
    if (input.at("Name").get<std::string>().empty()) return "Name";
    for (const auto& column : input.at("StorageDescriptor").at("Columns")) {
      if (auto key = UnknownKey(column, {"Name", "Type", "Comment", "Parameters"})) return key;
      if (column.value("Comment", "").size() > 255) return "Comment";
    }
    return std::nullopt;
  }

  support::ScriptedReply Create(const Json& body) {
    const Json& input = body.at("TableInput");
    if (auto key = BadInput(input)) return Error(kInvalid, *key);
    const auto [it, is_new] =
        tables.try_emplace("lake." + input.at("Name").get<std::string>(), Table{input});
    return is_new ? Reply(Json::object()) : Error("AlreadyExistsException", "exists");
  }

  static support::ScriptedReply Get(const Table& table, const Json& body) {
    Json shown = table.input;
    shown["DatabaseName"] = body["DatabaseName"];
    shown["CreateTime"] = 1.7e9;
    shown["UpdateTime"] = 1.7e9;
    shown["CreatedBy"] = "arn:aws:iam::1:user/x";
    shown["IsRegisteredWithLakeFormation"] = false;
    shown["CatalogId"] = "1";
    shown["VersionId"] = std::to_string(table.version);
    return Reply({{"Table", shown}});
  }

  static support::ScriptedReply Update(Table& table, const Json& body) {
    if (auto key = UnknownKey(body, {"CatalogId", "DatabaseName", "TableInput", "SkipArchive",
                                     "VersionId", "TransactionId"}))
      return Error(kInvalid, *key);
    if (auto key = BadInput(body.at("TableInput"))) return Error(kInvalid, *key);
    if (body.contains("VersionId") && body["VersionId"] != std::to_string(table.version))
      return Error("ConcurrentModificationException",
                   "Update table failed due to concurrent "
                   "modifications.");
    if (!body.value("SkipArchive", false)) ++table.archived;
    table.input = body.at("TableInput");
    ++table.version;
    return Reply(Json::object());
  }

  static support::ScriptedReply List(const Table& table, const Json& body) {
    if (body.value("MaxResults", 0) > 1000) return Error(kInvalid, "MaxResults");
    size_t segment = 0;
    size_t segments = 1;
    if (body.contains("Segment")) {
      segment = body["Segment"].at("SegmentNumber");
      segments = body["Segment"].at("TotalSegments");
      if (segments > 10 || segment >= segments) return Error(kInvalid, "Segment");
    }
    const std::string token = body.value("NextToken", "0");
    size_t skip = 0;
    for (const char c : token) skip = skip * 10 + static_cast<size_t>(c - '0');
    auto list = Json::array();
    size_t at = 0;
    size_t seen = 0;
    bool has_more = false;
    for (const auto& [values, input] : table.partitions) {
      if (at++ % segments != segment) continue;
      if (seen++ < skip) continue;
      if (list.size() == 1000) {
        has_more = true;
        break;
      }
      Json shown = {{"Values", values}};
      if (!body.value("ExcludeColumnSchema", false))
        shown["StorageDescriptor"] = input.at("StorageDescriptor");
      list.push_back(std::move(shown));
    }
    Json answer = {{"Partitions", list}};
    if (has_more) answer["NextToken"] = std::to_string(skip + 1000);
    return Reply(answer);
  }

  Json ItemError(const Values& values, const std::string& code) const {
    return {{"PartitionValues", values},
            {"ErrorDetail", {{"ErrorCode", code}, {"ErrorMessage", "about " + values.at(0)}}}};
  }

  support::ScriptedReply CreateBatch(Table& table, const Json& body) {
    const Json& list = body.at("PartitionInputList");
    most_created_at_once = std::max(most_created_at_once, list.size());
    if (list.empty() || list.size() > 100) return Error(kInvalid, "PartitionInputList");
    auto errors = Json::array();
    for (const auto& input : list) {
      const Values values = input.at("Values");
      if (values.size() != table.input.at("PartitionKeys").size()) {
        errors.push_back(ItemError(values, kInvalid));
      } else if (fails_once.erase(values) > 0) {
        errors.push_back(ItemError(values, "InternalServiceException"));
      } else if (!table.partitions.emplace(values, input).second) {
        errors.push_back(ItemError(values, "AlreadyExistsException"));
      }
    }
    return Reply({{"Errors", errors}});
  }

  support::ScriptedReply DeleteBatch(Table& table, const Json& body) {
    const Json& list = body.at("PartitionsToDelete");
    if (list.empty() || list.size() > 25) return Error(kInvalid, "PartitionsToDelete");
    auto errors = Json::array();
    for (const auto& input : list) {
      const Values values = input.at("Values");
      if (table.partitions.erase(values) == 0) errors.push_back(ItemError(values, kMissing));
    }
    return Reply({{"Errors", errors}});
  }
};

class GlueCatalogTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    view_.table_name = "orders";
    view_.identity.base_path = "s3://lake/orders";
    view_.partition_columns = {"dt"};
    view_.schema.columns = {ColumnOf("id", "int")};
    view_.schema.columns[0].comment = std::string(400, 'c');
    view_.partitions = [this] { return partitions_; };
  }

  GlueOptions Options() const {
    return {.endpoint = server_.endpoint(),
            .region = "eu-west-1",
            .at_once = 3,
            .rate = {.most = 10'000, .least = 1'000, .burst = 10'000}};
  }
  static Budget Ample() { return Budget::For(std::chrono::seconds(30)); }
  SinkOutcome Apply(SinkStamp stamp, const TableDelta* delta = nullptr) {
    CatalogSink sink(std::make_unique<GlueCatalog>(Options()),
                     {.naming = {.database = "lake"}, .stamping = Stamping::kWithChanges});
    return sink.Apply({.now = view_, .stamp = stamp, .delta = delta, .applied = applied_}, Ample());
  }
  void SetPartitions(int begin, int end) {
    partitions_.clear();
    for (int i = begin; i < end; ++i)
      partitions_.push_back({.path = "dt=" + std::to_string(i), .values = {std::to_string(i)}});
  }
  FakeGlue::Table& There() { return glue_.tables.at("lake.orders"); }

  FakeGlue glue_;
  support::ScriptedHttpServer server_{
      [this](const support::ScriptedRequest& request, int) { return glue_.Answer(request); }};
  TableView view_;
  std::vector<PartitionView> partitions_;
  std::optional<SinkStamp> applied_;
};

TEST_F(GlueCatalogTest, ThousandsOfPartitionsGoInByHundredsAndOutByTwentyFives) {
  SetPartitions(0, 2'345);
  auto outcome = Apply({1, 1});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(There().partitions.size(), 2'345U);
  EXPECT_EQ(glue_.calls["BatchCreatePartition"], 24);
  EXPECT_EQ(There().input["StorageDescriptor"]["Location"], "s3://lake/orders");
  EXPECT_EQ(There().partitions.at({"7"})["StorageDescriptor"]["Location"], "s3://lake/orders/dt=7");
  SetPartitions(60, 2'345);
  outcome = Apply({2, 1});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(outcome.partitions_added, 0U);
  EXPECT_EQ(outcome.partitions_dropped, 60U);
  EXPECT_EQ(glue_.calls["BatchDeletePartition"], 3);
  // Three segments, each of less than a page.
  EXPECT_EQ(There().archived, 0);
}

TEST_F(GlueCatalogTest, ACommitOfFilesOrPartitionsMakesNoVersionOfTheTable) {
  SetPartitions(0, 2);
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  const int version = There().version;
  applied_ = {1, 1};
  TableDelta delta{.from = {1, 1}, .to = {1, 2}};
  delta.added = {{.path = "dt=9", .values = {"9"}}};
  glue_.calls.clear();
  ASSERT_EQ(Apply({1, 2}, &delta).kind, OutcomeKind::kApplied);
  EXPECT_EQ(There().version, version);
  EXPECT_EQ(There().partitions.size(), 3U);
  EXPECT_EQ(glue_.calls.count("GetPartitions"), 0U);
  applied_ = {1, 2};
  EXPECT_EQ(Apply({1, 2}, &delta).kind, OutcomeKind::kApplied);
}

TEST_F(GlueCatalogTest, ThrottlingAndErrorsInsideAnAnswerAreTriedAgain) {
  SetPartitions(0, 250);
  glue_.throttles_next = 2;
  glue_.fails_once = {{"3"}, {"120"}, {"249"}};
  const auto outcome = Apply({1, 1});
  ASSERT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
  EXPECT_EQ(There().partitions.size(), 250U);
  // Three batches, and each once more with the one that failed.
  EXPECT_EQ(glue_.calls["BatchCreatePartition"], 6);
}

TEST_F(GlueCatalogTest, WhatIsThereAlreadyOrGoneAlreadyIsNoError) {
  SetPartitions(0, 30);
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  applied_ = {1, 1};
  TableDelta delta{.from = {1, 1}, .to = {1, 2}};
  delta.added = partitions_;
  delta.dropped = {{.path = "dt=99", .values = {"99"}}};
  const auto outcome = Apply({1, 2}, &delta);
  EXPECT_EQ(outcome.kind, OutcomeKind::kApplied) << outcome.reason;
}

TEST_F(GlueCatalogTest, AnAlterationOfAnotherVersionIsAConflict) {
  ASSERT_EQ(Apply({1, 1}).kind, OutcomeKind::kApplied);
  GlueCatalog catalog(Options());
  const auto table = catalog.ReadTable("lake", "orders", Ample());
  ASSERT_TRUE(table && *table);
  ++There().version;
  EXPECT_THAT(catalog.AlterTable(**table, **table, Ample()),
              IsError(ErrorKind::kConflict, StartsWith("ConcurrentModificationException")));
}

TEST_F(GlueCatalogTest, AMissingDatabaseAndAMissingRightAreWaitedFor) {
  CatalogSink sink(std::make_unique<GlueCatalog>(Options()), {.naming = {.database = "none"}});
  auto outcome = sink.Apply({.now = view_, .stamp = {1, 1}}, Ample());
  EXPECT_EQ(outcome.kind, OutcomeKind::kTemporary);
  EXPECT_THAT(outcome.reason, HasSubstr("create it: database=none"));
  glue_.refuses = "CreateTable";
  outcome = Apply({1, 1});
  EXPECT_EQ(outcome.kind, OutcomeKind::kTemporary);
  EXPECT_THAT(outcome.reason, HasSubstr("AccessDeniedException"));
}

TEST_F(GlueCatalogTest, CheckAsksForNothingThatNeedsATable) {
  EXPECT_THAT(GlueCatalog(Options()).Check(Ample()), IsOk());
  EXPECT_EQ(glue_.calls["GetDatabases"], 1);
}

TEST(GlueErrorTest, ATableOfCodes) {
  using enum ErrorKind;
  for (const auto& [code, kind] : std::vector<std::pair<std::string, ErrorKind>>{
           {"ThrottlingException", kUnavailable},
           {"InternalServiceException", kUnavailable},
           {"OperationTimeoutException", kUnavailable},
           {"Http503", kUnavailable},
           {"Http500", kUnavailable},
           {"EntityNotFoundException", kNotFound},
           {"ConcurrentModificationException", kConflict},
           {"ResourceNumberLimitExceededException", kExhausted},
           {"AccessDeniedException", kDenied},
           {"UnrecognizedClientException", kDenied},
           {"InvalidInputException", kInvalidArgument},
           {"AlreadyExistsException", kInvalidArgument},
           {"Http404", kInvalidArgument}})
    EXPECT_EQ(KindOfGlueError(code), kind) << code;
}

}  // namespace
}  // namespace tidemark::sink
