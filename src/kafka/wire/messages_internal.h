/// What a probe asks about topics and logs. One struct a message, one line a field: since which
/// version it is there. Names and order follow the message definitions of Apache Kafka.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kafka/wire/codec_internal.h"

namespace tidemark::kafka::wire {

inline constexpr int32_t kNoReplica = -1;  ///< who asks is a client
inline constexpr int32_t kNoEpoch = -1;

struct MetadataResponse {
  struct Broker {
    int32_t id = -1;
    std::string_view host;
    int32_t port = 0;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.id);
      c(0, m.host);
      c(0, m.port);
      c.template Skip<std::optional<std::string_view>>(1);  // rack
    }
  };
  struct Partition {
    int16_t error = 0;
    int32_t index = 0;
    int32_t leader = -1;
    int32_t leader_epoch = kNoEpoch;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.error);
      c(0, m.index);
      c(0, m.leader);
      c(7, m.leader_epoch);
      c.template Skip<IgnoredNumbers>(0);  // replicas
      c.template Skip<IgnoredNumbers>(0);  // those in sync
      c.template Skip<IgnoredNumbers>(5);  // those that are offline
    }
  };
  struct Topic {
    int16_t error = 0;
    std::optional<std::string_view> name;  ///< null for one asked by an unknown id
    TopicId id{};
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.error);
      c(0, m.name);
      c(10, m.id);
      c.template Skip<bool>(1);  // internal
      c(0, m.partitions);
      c.template Skip<int32_t>(8);  // rights on the topic
    }
  };

  int32_t throttle_ms = 0;
  std::vector<Broker> brokers;
  std::optional<std::string_view> cluster_id;
  std::vector<Topic> topics;
  int16_t error = 0;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(3, m.throttle_ms);
    c(0, m.brokers);
    c(2, m.cluster_id);
    c.template Skip<int32_t>(1);  // controller
    c(0, m.topics);
    c.template Skip<int32_t>(8, 10);  // rights on the cluster
    c(13, m.error);
  }
};
struct MetadataRequest {
  using Response = MetadataResponse;
  static constexpr Api kApi{.key = 3, .name = "Metadata", .min = 0, .max = 13, .flexible = 9};

  struct Topic {
    TopicId id{};  ///< zero: by name
    std::optional<std::string_view> name;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(10, m.id);
      c(0, m.name);
    }
  };
  /// Before version 4 a broker may create a topic that is asked for by name. Then only "all topics"
  /// is to be asked: null, and in version 0 an empty list.
  static constexpr int16_t kCreatesNothingSince = 4;
  std::optional<std::vector<Topic>> topics;
  bool allows_creation = false;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.topics);
    c(4, m.allows_creation);
    c.template Skip<bool>(8, 10);  // wants rights on the cluster
    c.template Skip<bool>(8);      // wants rights on topics
  }
};

struct ListOffsetsResponse {
  struct Partition {
    int32_t index = 0;
    int16_t error = 0;
    int64_t timestamp_ms = -1;  ///< -1 for the ends of the log
    int64_t offset = -1;
    int32_t leader_epoch = kNoEpoch;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.index);
      c(0, m.error);
      c(1, m.timestamp_ms);
      c(1, m.offset);
      c(4, m.leader_epoch);
    }
  };
  struct Topic {
    std::string_view name;
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.name);
      c(0, m.partitions);
    }
  };
  int32_t throttle_ms = 0;
  std::vector<Topic> topics;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(2, m.throttle_ms);
    c(0, m.topics);
  }
};
struct ListOffsetsRequest {
  using Response = ListOffsetsResponse;
  static constexpr Api kApi{.key = 2, .name = "ListOffsets", .min = 1, .max = 9, .flexible = 6};

  static constexpr int64_t kLatest = -1;         ///< the end, by the request's isolation level
  static constexpr int64_t kEarliest = -2;       ///< the start, tiered storage included
  static constexpr int64_t kMaxTimestamp = -3;   ///< since version 7: the newest stamp's record
  static constexpr int64_t kEarliestLocal = -4;  ///< what is on the broker's disk
  static constexpr int16_t kEarliestLocalSince = 8;
  struct Partition {
    int32_t index = 0;
    int32_t leader_epoch = kNoEpoch;
    int64_t timestamp_ms = kLatest;  ///< or the first record stamped so or later
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.index);
      c(4, m.leader_epoch);
      c(0, m.timestamp_ms);
    }
  };
  struct Topic {
    std::string_view name;
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.name);
      c(0, m.partitions);
    }
  };
  int32_t replica = kNoReplica;
  bool is_read_committed = false;
  std::vector<Topic> topics;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.replica);
    c(2, m.is_read_committed);
    c(0, m.topics);
  }
};

struct OffsetForLeaderEpochResponse {
  struct Partition {
    int16_t error = 0;
    int32_t index = 0;
    int32_t leader_epoch = kNoEpoch;
    int64_t end = -1;  ///< where that epoch ended
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.error);
      c(0, m.index);
      c(1, m.leader_epoch);
      c(0, m.end);
    }
  };
  struct Topic {
    std::string_view name;
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.name);
      c(0, m.partitions);
    }
  };
  int32_t throttle_ms = 0;
  std::vector<Topic> topics;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(2, m.throttle_ms);
    c(0, m.topics);
  }
};
struct OffsetForLeaderEpochRequest {
  using Response = OffsetForLeaderEpochResponse;
  static constexpr Api kApi{
      .key = 23, .name = "OffsetForLeaderEpoch", .min = 0, .max = 4, .flexible = 4};

  struct Partition {
    int32_t index = 0;
    int32_t current_leader_epoch = kNoEpoch;
    int32_t leader_epoch = kNoEpoch;  ///< the one asked about
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.index);
      c(2, m.current_leader_epoch);
      c(0, m.leader_epoch);
    }
  };
  struct Topic {
    std::string_view name;
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.name);
      c(0, m.partitions);
    }
  };
  int32_t replica = kNoReplica;
  std::vector<Topic> topics;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(3, m.replica);
    c(0, m.topics);
  }
};

}  // namespace tidemark::kafka::wire
