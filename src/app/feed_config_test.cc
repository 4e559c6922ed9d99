#include "app/feed_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/config.h"
#include "support/config_file.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class FeedConfigTest : public ::testing::Test {
 protected:
  FeedConfigTest() { file_.sources = SystemConfigSources(); }

  LoadedConfig Load(const std::string& feed) const {
    return file_.Load("clusters: { main: { bootstrap_servers: \"b:9092\" } }\n" + feed);
  }
  std::vector<std::string> Mistakes(const std::string& feed) const {
    std::vector<std::string> lines;
    for (const auto& mistake : Load(feed).mistakes)
      lines.push_back(std::to_string(mistake.line) + ": " + mistake.message);
    return lines;
  }

  support::ConfigFile file_;
};

TEST_F(FeedConfigTest, AClusterAndTablesAreEnough) {
  const auto loaded = Load("feed: { cluster: main, tables: [ \"s3://lake/*\" ] }\n");
  ASSERT_TRUE(loaded.config) << FormatMistake(loaded.mistakes.at(0));
  const auto& feed = *loaded.config->feed;
  EXPECT_EQ(feed.topics, feed::FeedTopics());
  EXPECT_EQ(feed.topics.events, "hudi.meta.events");
  EXPECT_EQ(feed.topics.partition_count, 64);
  EXPECT_THAT(feed.tables, ElementsAre("s3://lake/*"));
  EXPECT_EQ(feed.poll, 1s);
  EXPECT_EQ(feed.poll_notified, 30s);
  EXPECT_EQ(feed.publish.limits.body_size_max, size_t{512} << 10);
}

TEST_F(FeedConfigTest, EachKeyIsRead) {
  const auto loaded = Load(R"(
feed:
  cluster: main
  topics: { events: e, state: s, cursor: c, control: o, dlq: d }
  partitions: 8
  tables: [ /data/orders, "/lake/*/t*" ]
  group: mine
  poll: 2s
  poll_notified: 1m
  local_wake_ups: false
  settle: 500ms
  rate: 50
  touches: false
  extra_keys: [ "deltastreamer.*", other ]
  profile: cloudevents
  compression: gzip
  bookmark_every: 5s
  head_every: 30s
  snapshot_every: 1h
  discover_every: 10s
  drop_rounds: 5
  table_series_max: 10
)");
  ASSERT_TRUE(loaded.config) << FormatMistake(loaded.mistakes.at(0));
  const auto& feed = *loaded.config->feed;
  EXPECT_EQ(feed.topics.control, "o");
  EXPECT_EQ(feed.topics.partition_count, 8);
  EXPECT_THAT(feed.tables, ElementsAre("/data/orders", "/lake/*/t*"));
  EXPECT_EQ(feed.group, "mine");
  EXPECT_EQ(feed.poll, 2s);
  EXPECT_EQ(feed.poll_notified, 1min);
  EXPECT_FALSE(feed.with_local_wake_ups);
  EXPECT_EQ(feed.settle, 500ms);
  EXPECT_EQ(feed.rate, 50);
  EXPECT_FALSE(feed.publish.with_touches);
  EXPECT_THAT(feed.publish.extra_keys, ElementsAre("deltastreamer.*", "other"));
  EXPECT_EQ(feed.publish.limits.body_size_max, size_t{60} << 10);
  EXPECT_EQ(feed.compression, kafka::client::Compression::kGzip);
  EXPECT_EQ(feed.bookmark_every, 5s);
  EXPECT_EQ(feed.head_every, 30s);
  EXPECT_EQ(feed.publish.snapshot_every, 1h);
  EXPECT_EQ(feed.discover_every, 10s);
  EXPECT_EQ(feed.publish.drop_rounds, 5);
  EXPECT_EQ(feed.table_series_max, 10);
}

TEST_F(FeedConfigTest, EveryMistakeIsNamedAtOnce) {
  EXPECT_THAT(
      Mistakes(R"(feed:
  cluster: mian
  topics: { events: "a b", state: same, cursor: same, contrl: x }
  partitions: 0
  tables: [ "*", "s3://b*/t", "ftp://x/*", /data/ok ]
  poll: 1ms
  profile: plane
  settel: 1s
)"),
      ElementsAre(HasSubstr("3: feed.cluster: there is no cluster 'mian' (known: main)"),
                  HasSubstr("4: feed.topics.events: 'a b' is no topic name"),
                  HasSubstr("4: feed.topics.cursor: 'same' is the name of another"),
                  HasSubstr("4: feed.topics: unknown key 'contrl', did you mean 'control'?"),
                  HasSubstr("5: feed.partitions: a whole number from 1 to 10000"),
                  HasSubstr("6: feed.tables[0]: '*' may stand for folders only"),
                  HasSubstr("6: feed.tables[1]:"), HasSubstr("6: feed.tables[2]:"),
                  HasSubstr("7: feed.poll: a duration of at least 100ms is wanted, not '1ms'"),
                  HasSubstr("8: feed.profile: one of standard, cloudevents, plain"),
                  HasSubstr("9: feed: unknown key 'settel', did you mean 'settle'?")));
}

TEST_F(FeedConfigTest, NoTablesIsAMistake) {
  EXPECT_THAT(Mistakes("feed: { cluster: main }\n"),
              ElementsAre(HasSubstr("feed.tables: a list of tables")));
}

}  // namespace
}  // namespace tidemark::app
