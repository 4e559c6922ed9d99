/// The few Kafka requests that the bench sends by hand over a plain socket. The last versions
/// before the compact encoding, which every broker since 2.4 and up to 4.x understands.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "kafka/positions.h"

namespace tidemark::bench {

enum class Api : int16_t { kFetch = 1, kListOffsets = 2, kMetadata = 3 };

/// Builds a request body, big-endian as Kafka writes it.
class RequestWriter {
 public:
  RequestWriter& Int8(int8_t value);
  RequestWriter& Int16(int16_t value);
  RequestWriter& Int32(int32_t value);
  RequestWriter& Int64(int64_t value);
  RequestWriter& String(std::string_view text);
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

/// Takes a response apart. After a read past its end every further read gives 0 or "", and
/// is_broken() says so: check it once at the end, and inside loops over counts.
class ResponseReader {
 public:
  /// `bytes` must outlive the reader and the views it hands out.
  explicit ResponseReader(std::string_view bytes) : cursor_(bytes) {}

  int8_t Int8() { return Take<int8_t>(); }
  int16_t Int16() { return Take<int16_t>(); }
  int32_t Int32() { return Take<int32_t>(); }
  int64_t Int64() { return Take<int64_t>(); }
  std::string_view String();              ///< "" for null
  std::string_view Bytes();               ///< "" for null
  void SkipArray(uint64_t element_size);  ///< of elements with a fixed size
  bool is_broken() const { return is_broken_; }

 private:
  template <class T>
  T Take() {
    const auto value = is_broken_ ? std::nullopt : cursor_.TakeBig<T>();
    is_broken_ = !value;
    return value.value_or(0);
  }
  std::string_view Take(int64_t size);

  ByteCursor cursor_;
  bool is_broken_ = false;
};

struct BrokerAddress {
  std::string host;
  int32_t port = 0;
};

/// One blocking connection. Requests may be sent ahead; the answers come in the order of the
/// requests. One thread.
class Connection {
 public:
  /// kUnavailable when nobody listens.
  static Result<Connection> Open(const BrokerAddress& address);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  Status Send(Api api, int16_t version, const RequestWriter& request);
  /// The body of the next response. kUnavailable when the connection ends or nothing comes for
  /// 30 s, kCorrupt when it answers another request or is over 512 MiB.
  Result<std::string> Receive();

 private:
  explicit Connection(int socket) : socket_(socket) {}
  Status ReadWhole(std::span<char> into);

  int socket_;
  int32_t sent_ = 0;
  int32_t received_ = 0;
};

/// "host:port[,host:port…]" to its first address. kInvalidArgument for another form.
Result<BrokerAddress> FirstAddress(std::string_view bootstrap_servers);

/// Who leads which partition. Partitions without a leader are left out.
struct Leaders {
  std::map<int32_t, BrokerAddress> brokers;
  std::map<kafka::TopicPartition, int32_t> leader_of;  ///< a key of `brokers`
};
Result<Leaders> AskLeaders(Connection& connection, std::span<const std::string> topics);

/// Writes "array of topics, each with an array of partitions", the shape of most requests, from a
/// list in which the partitions of a topic stand together. `write` adds what follows a partition's
/// number.
template <class Item, class Write>
void WriteByTopic(RequestWriter& request, std::span<const Item* const> items, const Write& write) {
  const auto topic_of = [&](size_t i) -> std::string_view { return items[i]->partition.topic; };
  int32_t topics = 0;
  for (size_t i = 0; i < items.size(); ++i) topics += i == 0 || topic_of(i) != topic_of(i - 1);
  request.Int32(topics);
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin;
    while (end < items.size() && topic_of(end) == topic_of(begin)) ++end;
    request.String(topic_of(begin)).Int32(static_cast<int32_t>(end - begin));
    for (; begin < end; ++begin) {
      request.Int32(items[begin]->partition.partition);
      write(*items[begin]);
    }
  }
}

}  // namespace tidemark::bench
