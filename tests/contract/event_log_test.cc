#include <fmt/format.h>

#include <memory>

#include "contract/event_log_contract.h"
#include "feed/kafka_log.h"
#include "feed/memory_log.h"
#include "kafka/client/topic_admin.h"
#include "support/kafka_broker.h"
#include "support/result_matchers.h"

namespace tidemark::feed {
namespace {

using kafka::client::TopicAdmin;
using support::IsError;
using support::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<support::KafkaBroker> broker;

/// The broker is started once, before any test.
class Broker : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_OK_ASSIGN(broker, support::KafkaBroker::Start()); }
  void TearDown() override { broker.reset(); }
};
[[maybe_unused]] auto* const kBroker =
    ::testing::AddGlobalTestEnvironment(std::make_unique<Broker>().release());

Budget Patience() {
  return Budget::For(std::chrono::seconds(60));
}

KafkaLogOptions NextOptions() {
  static int number = 0;
  const std::string prefix = fmt::format("log{}", ++number);
  return {.cluster = broker->plain(),
          .topics = {.events = prefix + ".events",
                     .state = prefix + ".state",
                     .cursor = prefix + ".cursor",
                     .control = prefix + ".control",
                     .dlq = prefix + ".dlq",
                     .partition_count = 2}};
}

std::shared_ptr<EventLog> OnKafka() {
  const auto options = NextOptions();
  EXPECT_THAT(PrepareTopics(options, Patience()), IsOk());
  return OpenKafkaLog(options);
}

INSTANTIATE_TEST_SUITE_P(
    All, EventLogContract,
    ::testing::Values(EventLogCase{"Memory", [] { return std::make_shared<MemoryLog>(2); }},
                      EventLogCase{"Kafka", OnKafka}),
    [](const auto& each) { return each.param.name; });

TEST(KafkaLogBrokerTest, TopicsAreMadeAsTheyMustBeAndFoundSo) {
  const auto options = NextOptions();
  ASSERT_THAT(PrepareTopics(options, Patience()), IsOk());
  ASSERT_OK_ASSIGN(const auto admin, TopicAdmin::Open(options.cluster));
  ASSERT_OK_ASSIGN(const auto found,
                   admin->Describe(TopicNames(options.topics), TopicSettingNames(), Patience()));
  EXPECT_THAT(JudgeTopics(options.topics, found), IsEmpty());
  for (const auto& topic : found) {
    ASSERT_TRUE(topic.settings);
    const bool is_compacted =
        topic.topic == options.topics.state || topic.topic == options.topics.cursor;
    EXPECT_EQ(topic.settings->at("cleanup.policy"), is_compacted ? "compact" : "delete");
  }
  EXPECT_THAT(PrepareTopics(options, Patience()), IsOk());
}

TEST(KafkaLogBrokerTest, TopicsThatDoNotFitAreAllNamedWithTheCure) {
  const auto options = NextOptions();
  ASSERT_OK_ASSIGN(const auto admin, TopicAdmin::Open(options.cluster));
  const kafka::client::NewTopic topics[] = {
      {.topic = options.topics.events,
       .partition_count = 3,
       .settings = {{"cleanup.policy", "compact"}, {"retention.ms", "1000"}}},
      {.topic = options.topics.cursor,
       .partition_count = 2,
       .settings = {{"cleanup.policy", "compact,delete"}, {"max.message.bytes", "5000"}}}};
  ASSERT_THAT(admin->Create(topics, Patience()), IsOk());
  EXPECT_THAT(PrepareTopics(options, Patience()),
              IsError(ErrorKind::kInvalidArgument,
                      AllOf(HasSubstr(".events: it has 3 partitions and feed.partitions says 2"),
                            HasSubstr("cleanup.policy is 'compact' and must be 'delete'"),
                            HasSubstr("retention.ms is 1000"),
                            HasSubstr("cleanup.policy is 'compact,delete' and must be 'compact'"),
                            HasSubstr("max.message.bytes is 5000"))));
}

TEST(KafkaLogBrokerTest, ARecordThatTheBrokerRefusesIsNamed) {
  const auto options = NextOptions();
  ASSERT_THAT(PrepareTopics(options, Patience()), IsOk());
  const auto log = OpenKafkaLog(options);
  ASSERT_OK_ASSIGN(const auto writer, log->OpenWriter(0, Patience()));
  // Not to be compressed to anything small.
  std::string noise(3 << 20, '\0');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const LogRecord large{.topic = LogTopic::kEvents, .key = "a", .value = noise};
  EXPECT_THAT(writer->Send({&large, 1}, Patience()), IsError(ErrorKind::kExhausted, ::testing::_));
  ASSERT_OK_ASSIGN(const auto again, log->OpenWriter(0, Patience()));
  const LogRecord small{.topic = LogTopic::kEvents, .key = "a", .value = "x"};
  EXPECT_THAT(again->Send({&small, 1}, Patience()), IsOk());
}

TEST(KafkaLogBrokerTest, ATopicThatIsNotThereIsNamed) {
  auto options = NextOptions();
  options.cluster = broker->plain();
  ASSERT_OK_ASSIGN(const auto admin, TopicAdmin::Open(options.cluster));
  const std::string names[] = {options.topics.state};
  ASSERT_OK_ASSIGN(const auto found, admin->Describe(names, {}, Patience()));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].partition_count, 0);
}

TEST(KafkaLogBrokerTest, AClusterThatIsNotThereIsUnavailable) {
  auto options = NextOptions();
  options.cluster.bootstrap_servers = "127.0.0.1:1";
  EXPECT_THAT(PrepareTopics(options, Budget::For(std::chrono::seconds(2))),
              IsError(ErrorKind::kUnavailable, HasSubstr("127.0.0.1:1")));
  EXPECT_THAT(OpenKafkaLog(options)->OpenWriter(0, Budget::For(std::chrono::seconds(2))),
              IsError(ErrorKind::kUnavailable, HasSubstr("127.0.0.1:1")));
}

}  // namespace
}  // namespace tidemark::feed
