/// Owners of librdkafka's objects: each is destroyed by its own function when it goes out of scope.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

namespace tidemark::kafka::client {

struct Destroy {
  // A consumer's close would leave a group; ours is in none.
  void operator()(rd_kafka_t* it) const {
    rd_kafka_destroy_flags(it, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
  void operator()(rd_kafka_conf_t* it) const { rd_kafka_conf_destroy(it); }
  void operator()(rd_kafka_queue_t* it) const { rd_kafka_queue_destroy(it); }
  void operator()(rd_kafka_event_t* it) const { rd_kafka_event_destroy(it); }
  void operator()(rd_kafka_topic_t* it) const { rd_kafka_topic_destroy(it); }
  void operator()(rd_kafka_topic_partition_list_t* it) const {
    rd_kafka_topic_partition_list_destroy(it);
  }
  void operator()(rd_kafka_AdminOptions_t* it) const { rd_kafka_AdminOptions_destroy(it); }
  void operator()(rd_kafka_TopicCollection_t* it) const { rd_kafka_TopicCollection_destroy(it); }
  void operator()(rd_kafka_ConfigResource_t* it) const { rd_kafka_ConfigResource_destroy(it); }
  void operator()(rd_kafka_error_t* it) const { rd_kafka_error_destroy(it); }
  void operator()(rd_kafka_NewTopic_t* it) const { rd_kafka_NewTopic_destroy(it); }
  void operator()(rd_kafka_message_t* it) const { rd_kafka_message_destroy(it); }
};

template <class T>
using Owned = std::unique_ptr<T, Destroy>;

}  // namespace tidemark::kafka::client
