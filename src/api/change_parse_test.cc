#include "api/change_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/change_json.h"
#include "api/replica_json.h"
#include "support/change_publisher.h"
#include "support/result_matchers.h"

namespace tidemark::api {
namespace {

using change::EventPart;
using change::Group;
using support::ChangePublisher;
using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ChangeParseTest : public ::testing::Test {
 protected:
  ChangeParseTest() {
    properties_.name = "orders";
    properties_.version = 8;
    properties_.layout = 2;
    properties_.all["hoodie.database.name"] = "lake";
    identity_ = IdentityOf("s3://lake/orders", properties_);
  }

  std::vector<EventPart> Parts(const Group& group, const EventLimits& limits = {}) const {
    std::vector<EventPart> parts;
    for (const auto& event : ChangeEvents(identity_, properties_, group, limits)) {
      auto part = ParseChangeEvent(event.body);
      EXPECT_THAT(part, IsOk()) << event.body;
      if (part) parts.push_back(*std::move(part));
    }
    return parts;
  }
  std::string Body(const Group& group, size_t part = 0) const {
    return ChangeEvents(identity_, properties_, group, {}).at(part).body;
  }
  static std::string Replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  lake::hudi::TableProperties properties_;
  TableIdentity identity_;
  ChangePublisher publisher_;
};

Group RichGroup(ChangePublisher& publisher) {
  Group group = publisher.Commit({"+dt=1/city=Köln \"x\"", "~p2", "-p3"});
  group.retracted = {{.instant = {"20260101000000000", "commit"}, .seq = 1}};
  group.operation = "UPSERT";
  group.completed = "20260131000000123";
  group.is_late = true;
  group.partitions[0].files_added = 3;
  group.partitions[0].files_removed = 1;
  group.partitions[0].bytes = 4096;
  auto& commit = *group.commit;
  commit.type = change::CommitType::kReplaceCommit;
  commit.files_added = 3;
  commit.files_removed = 1;
  commit.partitions_touched = 3;
  commit.records_written = 7;
  commit.records_deleted = 2;
  commit.is_ro_visible = true;
  commit.body = change::BodyState::kUnreadable;
  commit.defect = "torn";
  commit.extra = {{"deltastreamer.checkpoint.key", "orders,0:1"}};
  return group;
}

TEST_F(ChangeParseTest, EveryFieldOfAGroupComesBack) {
  publisher_.Commit({"+p2", "+p3"});
  const Group group = RichGroup(publisher_);
  const auto parts = Parts(group);
  ASSERT_THAT(parts, SizeIs(3));
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].uid, identity_.uid);
    EXPECT_EQ(parts[i].table_id, "lake.orders");
    EXPECT_EQ(parts[i].base_path, "s3://lake/orders");
    EXPECT_EQ(parts[i].index, i);
    EXPECT_EQ(parts[i].count, 3u);
    const Group& read = parts[i].group;
    EXPECT_EQ(read.epoch, group.epoch);
    EXPECT_EQ(read.seq, group.seq);
    EXPECT_EQ(read.previous, group.previous);
    EXPECT_EQ(read.source, group.source);
    EXPECT_EQ(read.instant, group.instant);
    EXPECT_EQ(read.operation, group.operation);
    EXPECT_EQ(read.completed, group.completed);
    EXPECT_EQ(read.time, group.time);
    EXPECT_EQ(read.is_late, group.is_late);
    EXPECT_EQ(read.schema_fingerprint, group.schema_fingerprint);
    EXPECT_EQ(read.schema_version, group.schema_version);
    EXPECT_EQ(read.partition_count, group.partition_count);
    EXPECT_EQ(read.partition_digest, group.partition_digest);
    EXPECT_EQ(read.table_version, group.table_version);
  }
  EXPECT_EQ(parts[0].group.retracted, group.retracted);
  EXPECT_EQ(parts[1].group.partitions, group.partitions);
  const auto& commit = parts[2].group.commit;
  ASSERT_TRUE(commit.has_value());
  EXPECT_EQ(commit->type, change::CommitType::kReplaceCommit);
  EXPECT_EQ(commit->records_written, 7);
  EXPECT_EQ(commit->body, change::BodyState::kUnreadable);
  EXPECT_EQ(commit->defect, "torn");
  EXPECT_EQ(commit->extra, group.commit->extra);
}

TEST_F(ChangeParseTest, ThePartsProveTheirGroup) {
  const auto parts = Parts(publisher_.Commit({"+a", "+b", "+c"}), {.partitions_max = 1});
  ASSERT_THAT(parts, SizeIs(4));
  std::vector<std::string_view> details;
  for (const auto& part : parts) details.push_back(part.detail);
  EXPECT_EQ(change::DigestOfDetails(details), parts[0].group_digest);
}

TEST_F(ChangeParseTest, ASchemaComesBackWithTheFingerprintItHad) {
  const auto schema = change::ParseAvroColumns(
      R"({"type":"record","name":"r","fields":[)"
      R"({"name":"id","type":"long","doc":"the key"},)"
      R"({"name":"price","type":["null",{"type":"bytes","logicalType":"decimal","precision":10,)"
      R"("scale":2}],"default":null},{"name":"rate","type":"double","default":1.50},)"
      R"({"name":"tags","type":{"type":"array","items":{"type":"record","name":"t","fields":[)"
      R"({"name":"x","type":"int","default":7}]}}},)"
      R"({"name":"attrs","type":{"type":"map","values":["null","string"]}}]})");
  ASSERT_THAT(schema, IsOk());
  Group group = publisher_.Commit({});
  group.schema = change::SchemaChange{.schema = *schema, .diff = DiffSchemas({}, *schema)};
  group.schema_fingerprint = schema->fingerprint;
  const auto parts = Parts(group);
  ASSERT_THAT(parts, SizeIs(2));
  ASSERT_TRUE(parts[0].group.schema.has_value());
  EXPECT_EQ(parts[0].group.schema->schema, *schema);
  EXPECT_EQ(parts[0].group.schema->diff, group.schema->diff);
  const auto fields = ParseSchemaFields(SchemaFieldsJson(*schema));
  ASSERT_THAT(fields, IsOk());
  EXPECT_EQ(*fields, *schema);
}

TEST_F(ChangeParseTest, ATableEventComesBack) {
  Group group = publisher_.Tell(change::TableReason::kUpgraded);
  group.table->version_before = 6;
  group.table->layout_before = 1;
  const auto parts = Parts(group);
  ASSERT_THAT(parts, SizeIs(1));
  ASSERT_TRUE(parts[0].group.table.has_value());
  EXPECT_EQ(parts[0].group.table->reason, change::TableReason::kUpgraded);
  EXPECT_EQ(parts[0].group.table->version_before, 6);
  EXPECT_EQ(parts[0].group.instant, std::nullopt);
}

TEST_F(ChangeParseTest, ASnapshotComesBackInItsPages) {
  publisher_.SetColumn("x");
  publisher_.Commit({"+a", "+b", "+c"});
  std::vector<std::string> paths;
  const auto events =
      SnapshotEvents(identity_, properties_, publisher_.Snapshot(), {.partitions_max = 2});
  ASSERT_THAT(events, SizeIs(2));
  for (const auto& event : events) {
    ASSERT_OK_ASSIGN(const auto page, ParseChangeEvent(event.body));
    ASSERT_TRUE(page.page.has_value());
    EXPECT_EQ(page.group.seq, 1);
    EXPECT_EQ(page.page->schema.has_value(), page.index == 0);
    paths.insert(paths.end(), page.page->partitions.begin(), page.page->partitions.end());
  }
  EXPECT_THAT(paths, ElementsAre("a", "b", "c"));
}

TEST_F(ChangeParseTest, UnknownMembersAreLeftAlone) {
  const std::string body = Body(publisher_.Commit({"+a"}));
  for (const auto& [before, added] :
       std::vector<std::pair<std::string, std::string>>{{"{\"specversion\"", "{\"new\":[1,{}],"},
                                                        {"{\"tableId\"", "{\"new\":{\"a\":null},"},
                                                        {"{\"index\"", "{\"new\":true,"},
                                                        {"{\"path\"", "{\"new\":\"x\","}}) {
    const auto part = ParseChangeEvent(Replaced(body, before, added + before.substr(1)));
    EXPECT_THAT(part, IsOk()) << before;
  }
}

TEST_F(ChangeParseTest, AnotherMajorVersionAndAnotherKindAreUnsupported) {
  const std::string body = Body(publisher_.Commit({"+a"}));
  EXPECT_THAT(ParseChangeEvent(Replaced(body, "partition.v1", "partition.v2")),
              IsError(ErrorKind::kUnsupported, HasSubstr("partition.v2")));
  EXPECT_THAT(ParseChangeEvent(Replaced(body, "partition.v1", "rowgroup.v1")),
              IsError(ErrorKind::kUnsupported, HasSubstr("rowgroup")));
  EXPECT_THAT(ParseChangeEvent(Replaced(body, "hudi.metadata.partition.v1", "other.thing.v1")),
              IsError(ErrorKind::kCorrupt, HasSubstr("type")));
}

TEST_F(ChangeParseTest, AnEventThatContradictsItselfIsCorrupt) {
  const std::string body = Body(publisher_.Commit({"+a"}));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"seq\":1", "\"seq\":2"},
           {"\"epoch\":1", "\"epoch\":2"},
           {"\"index\":0", "\"index\":1"},
           {"\"index\":0", "\"index\":7"},
           {"\"count\":2", "\"count\":0"},
           {"\"count\":2", "\"count\":2000000"},
           {"\"uid\":\"", "\"uid\":\"x"},
           {"\"partitionkey\":\"", "\"partitionkey\":\"x"},
           {"\"sequence\":\"0", "\"sequence\":\"1"},
           {"\"changeType\":\"PARTITION\"", "\"changeType\":\"COMMIT\""},
           {"\"specversion\":\"1.0\"", "\"specversion\":\"0.3\""},
           {"\"op\":\"ADD\"", "\"op\":\"GROW\""},
           {"\"op\":\"ADD\",", ""},
           {"\"path\":\"a\",", ""},
           {"\"path\":\"a\"", "\"path\":\"a\\u0000\""},
           {"\"filesAdded\":0", "\"filesAdded\":-1"},
           {"\"filesAdded\":0", "\"filesAdded\":1.5"},
           {"\"late\":false", "\"late\":0"},
           {"\"partitionDigest\":\"", "\"partitionDigest\":\"z"},
           {"\"source\":\"incremental\"", "\"source\":\"rumour\""}}) {
    EXPECT_THAT(ParseChangeEvent(Replaced(body, from, to)),
                IsError(ErrorKind::kCorrupt, HasSubstr("event")))
        << from << " -> " << to;
  }
}

TEST_F(ChangeParseTest, NoTruncationIsAnEvent) {
  publisher_.Commit({"+p2", "+p3"});
  const Group group = RichGroup(publisher_);
  for (size_t part = 0; part < 3; ++part) {
    const std::string body = Body(group, part);
    for (size_t length = 0; length < body.size(); ++length)
      ASSERT_FALSE(ParseChangeEvent(body.substr(0, length))) << body.substr(0, length);
  }
}

TEST_F(ChangeParseTest, NoFlippedByteIsWorseThanAnError) {
  publisher_.Commit({"+p2", "+p3"});
  const Group group = RichGroup(publisher_);
  for (size_t part = 0; part < 3; ++part) {
    const std::string body = Body(group, part);
    for (size_t at = 0; at < body.size(); ++at) {
      std::string flipped = body;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x21);
      const auto read = ParseChangeEvent(flipped);
      if (!read) continue;
      EXPECT_EQ(read->index, part);
      EXPECT_EQ(read->group.seq, group.seq);
    }
  }
}

TEST_F(ChangeParseTest, BookmarksAndHeadsComeBack) {
  const std::vector<TableHead> heads = {
      {.uid = "a", .epoch = 1, .seq = 7, .checked = WallTimeFromMillis(1'700'000'000'123)},
      {.uid = "b", .epoch = 2, .seq = 9, .checked = WallTimeFromMillis(1'700'000'000'456)}};
  const auto events = BookmarkEvents(3, heads, WallTimeFromMillis(1'700'000'000'999), {});
  ASSERT_THAT(events, SizeIs(1));
  ASSERT_OK_ASSIGN(const auto read, ParseBookmark(events[0].body));
  EXPECT_EQ(read, heads);
  EXPECT_THAT(ParseBookmark(Body(publisher_.Commit({}))),
              IsError(ErrorKind::kUnsupported, HasSubstr("no bookmark")));
  ASSERT_OK_ASSIGN(const auto head, ParseStateHead(StateHeadJson({.table = {.uid = "a"},
                                                                  .epoch = 1,
                                                                  .as_of_seq = 3,
                                                                  .page_count = 1,
                                                                  .head_seq = 7,
                                                                  .checked = heads[0].checked})));
  EXPECT_EQ(head, heads[0]);
}

TEST_F(ChangeParseTest, AKeyOfTheStateTopicIsTakenApart) {
  const std::string page = StatePageKey("a", 17);
  EXPECT_EQ(UidOfStateKey(page), "a");
  EXPECT_FALSE(IsStateHeadKey(page));
  EXPECT_EQ(PageOfStateKey(page), 17);
  EXPECT_EQ(UidOfStateKey(StateHeadKey("a")), "a");
  EXPECT_TRUE(IsStateHeadKey(StateHeadKey("a")));
  EXPECT_EQ(PageOfStateKey(StateHeadKey("a")), std::nullopt);
  EXPECT_EQ(UidOfStateKey("a"), "a");
  for (const char* junk : {"", "/", "a/p/", "a/p/x", "a/p/1x", "a/p/99999999999999999999"})
    EXPECT_EQ(PageOfStateKey(junk), std::nullopt) << junk;
}

TEST_F(ChangeParseTest, AKeptTableComesBackButForItsPartitions) {
  change::Subscriber subscriber;
  publisher_.SetColumn("x");
  publisher_.Tell(change::TableReason::kCreated);
  for (auto& page : support::PagesOf(publisher_.Snapshot(), 10))
    subscriber.Take(std::move(page), {});
  for (auto& part : support::PartsOf(RichGroup(publisher_))) subscriber.Take(std::move(part), {});
  subscriber.TakePoison({});
  auto replica = subscriber.replica();
  ASSERT_TRUE(replica.latest.has_value());
  ASSERT_OK_ASSIGN(const auto read, ParseReplicaText(ReplicaText(replica)));
  replica.partitions.clear();
  EXPECT_EQ(read, replica);
  const std::string text = ReplicaText(replica);
  for (size_t length = 0; length < text.size(); ++length)
    ASSERT_FALSE(ParseReplicaText(text.substr(0, length)));
}

}  // namespace
}  // namespace tidemark::api
