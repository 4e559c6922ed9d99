/// Reading record batches: the one message with more versions than all others together.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kafka/wire/codec_internal.h"

namespace tidemark::kafka::wire {

/// A producer's records from `first_offset` on, up to its next abort marker, are not to be given
/// out.
struct AbortedTransaction {
  int64_t producer_id = -1;
  int64_t first_offset = 0;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.producer_id);
    c(0, m.first_offset);
  }
};

struct FetchResponse {
  struct Partition {
    int32_t index = 0;
    int16_t error = 0;
    int64_t high_watermark = -1;
    int64_t last_stable = -1;
    int64_t log_start = -1;
    std::vector<AbortedTransaction> aborted;
    ByteField records;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.index);
      c(0, m.error);
      c(0, m.high_watermark);
      c(4, m.last_stable);
      c(5, m.log_start);
      c(4, m.aborted);
      c.template Skip<int32_t>(11);  // a replica nearer to our rack
      c(0, m.records);
    }
  };
  struct Topic {
    std::string_view name;
    TopicId id{};
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, 12, m.name);
      c(13, m.id);
      c(0, m.partitions);
    }
  };

  int32_t throttle_ms = 0;
  int16_t error = 0;
  std::vector<Topic> topics;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(1, m.throttle_ms);
    c(7, m.error);
    c.template Skip<int32_t>(7);  // session
    c(0, m.topics);
  }
};

struct FetchRequest {
  using Response = FetchResponse;
  static constexpr Api kApi{.key = 1, .name = "Fetch", .min = 4, .max = 16, .flexible = 12};
  /// From here on topics go by id, which a broker without them cannot do.
  static constexpr int16_t kByTopicId = 13;

  struct Partition {
    int32_t index = 0;
    int32_t leader_epoch = -1;
    int64_t offset = 0;
    int32_t last_fetched_epoch = -1;
    int64_t log_start = -1;
    int32_t bytes_max = 0;  ///< a batch that is larger comes only as the first of the response
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.index);
      c(9, m.leader_epoch);
      c(0, m.offset);
      c(12, m.last_fetched_epoch);
      c(5, m.log_start);
      c(0, m.bytes_max);
    }
  };
  struct Topic {
    std::string_view name;
    TopicId id{};
    std::vector<Partition> partitions;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, 12, m.name);
      c(13, m.id);
      c(0, m.partitions);
    }
  };
  struct Forgotten {
    template <class C, class M>
    static void Fields(C&, M&) {}
  };

  int32_t replica = -1;
  int32_t wait_ms = 0;
  int32_t bytes_min = 1;
  int32_t bytes_max = 0;
  bool is_read_committed = false;
  int32_t session_id = 0;
  int32_t session_epoch = -1;  ///< no session
  std::vector<Topic> topics;
  std::vector<Forgotten> forgotten;  ///< of a session
  std::string_view rack;             ///< unset: the leader answers
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, 14, m.replica);
    c(0, m.wait_ms);
    c(0, m.bytes_min);
    c(3, m.bytes_max);
    c(4, m.is_read_committed);
    c(7, m.session_id);
    c(7, m.session_epoch);
    c(0, m.topics);
    c(7, m.forgotten);
    c(11, m.rack);
  }
};

}  // namespace tidemark::kafka::wire
