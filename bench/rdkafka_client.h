/// librdkafka for the peers and the loader of the bench: owning handles and nothing else.
#pragma once

#include <librdkafka/rdkafka.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"

namespace tidemark::bench {

struct RdKafkaDeleter {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using Client = std::unique_ptr<rd_kafka_t, RdKafkaDeleter>;
using Message = std::unique_ptr<rd_kafka_message_t, RdKafkaDeleter>;
using Queue = std::unique_ptr<rd_kafka_queue_t, RdKafkaDeleter>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, RdKafkaDeleter>;

using DeliveryReport = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void* opaque);

struct ClientOptions {
  rd_kafka_type_t type = RD_KAFKA_CONSUMER;
  std::initializer_list<std::pair<const char*, std::string>> properties;
  DeliveryReport on_delivery = nullptr;
  void* opaque = nullptr;
};

/// kInvalidArgument for a property the library refuses.
Result<Client> OpenClient(const ClientOptions& options);

}  // namespace tidemark::bench
