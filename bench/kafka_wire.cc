#include "bench/kafka_wire.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

namespace tidemark::bench {

namespace {

constexpr std::string_view kClientId = "tidemark-bench";
constexpr timeval kReceiveTimeout{.tv_sec = 30, .tv_usec = 0};
constexpr int32_t kResponseBytesMax = 512 << 20;
constexpr int16_t kMetadataVersion = 8;

template <class T>
void AppendBig(std::string& text, T value) {
  for (size_t i = sizeof(T); i-- > 0;) {
    text.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

}  // namespace

RequestWriter& RequestWriter::Int8(int8_t value) {
  AppendBig(body_, value);
  return *this;
}
RequestWriter& RequestWriter::Int16(int16_t value) {
  AppendBig(body_, value);
  return *this;
}
RequestWriter& RequestWriter::Int32(int32_t value) {
  AppendBig(body_, value);
  return *this;
}
RequestWriter& RequestWriter::Int64(int64_t value) {
  AppendBig(body_, value);
  return *this;
}
RequestWriter& RequestWriter::String(std::string_view text) {
  Int16(static_cast<int16_t>(text.size()));
  body_ += text;
  return *this;
}

std::string_view ResponseReader::Take(int64_t size) {
  if (size <= 0 || is_broken_) return {};
  const auto bytes = cursor_.Take(static_cast<uint64_t>(size));
  is_broken_ = !bytes;
  return bytes.value_or(std::string_view());
}
std::string_view ResponseReader::String() {
  return Take(int64_t{Int16()});
}
std::string_view ResponseReader::Bytes() {
  return Take(int64_t{Int32()});
}
void ResponseReader::SkipArray(uint64_t element_size) {
  Take(int64_t{Int32()} * static_cast<int64_t>(element_size));
}

Result<Connection> Connection::Open(const BrokerAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string place = fmt::format("{}:{}", address.host, address.port);
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) !=
      0) {
    return Fail(ErrorKind::kUnavailable, "unknown host address=" + place);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  Connection connection(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(connection.socket_, found->ai_addr, found->ai_addrlen) != 0) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("no connection address={} reason={}", place, std::strerror(errno)));
  }
  const int on = 1;
  setsockopt(connection.socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(connection.socket_, SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout,
             sizeof(kReceiveTimeout));
  return connection;
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), sent_(other.sent_), received_(other.received_) {}

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

Status Connection::Send(Api api, int16_t version, const RequestWriter& request) {
  RequestWriter header;
  header.Int16(static_cast<int16_t>(api)).Int16(version).Int32(sent_++).String(kClientId);
  RequestWriter size;
  size.Int32(static_cast<int32_t>(header.body().size() + request.body().size()));
  const std::string bytes = size.body() + header.body() + request.body();
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return Fail(ErrorKind::kUnavailable, "the broker closed the connection");
    done += static_cast<size_t>(count);
  }
  return {};
}

Status Connection::ReadWhole(std::span<char> into) {
  while (!into.empty()) {
    const ssize_t count = recv(socket_, into.data(), into.size(), 0);
    if (count == 0) return Fail(ErrorKind::kUnavailable, "the broker closed the connection");
    if (count < 0) {
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("no answer from the broker reason={}", std::strerror(errno)));
    }
    into = into.subspan(static_cast<size_t>(count));
  }
  return {};
}

Result<std::string> Connection::Receive() {
  std::string prefix(2 * sizeof(int32_t), '\0');
  TRY(ReadWhole(prefix));
  ResponseReader reader(prefix);
  const int32_t size = reader.Int32() - static_cast<int32_t>(sizeof(int32_t));
  const int32_t correlation = reader.Int32();
  if (size < 0 || size > kResponseBytesMax || correlation != received_) {
    return Fail(ErrorKind::kCorrupt, fmt::format("unexpected response size={} id={} expected={}",
                                                 size, correlation, received_));
  }
  ++received_;
  std::string body(static_cast<size_t>(size), '\0');
  TRY(ReadWhole(body));
  return body;
}

Result<BrokerAddress> FirstAddress(std::string_view bootstrap_servers) {
  const std::string_view first = bootstrap_servers.substr(0, bootstrap_servers.find(','));
  const size_t colon = first.rfind(':');
  BrokerAddress address;
  if (colon != std::string_view::npos && colon > 0) {
    const std::string_view port = first.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    address.host = first.substr(0, colon);
    if (error == std::errc() && end == port.data() + port.size()) return address;
  }
  return Fail(ErrorKind::kInvalidArgument, fmt::format("not host:port address={}", first));
}

Result<Leaders> AskLeaders(Connection& connection, std::span<const std::string> topics) {
  RequestWriter request;
  request.Int32(static_cast<int32_t>(topics.size()));
  for (const std::string& topic : topics) request.String(topic);
  request.Int8(0).Int8(0).Int8(0);  // create no topic, list no operations
  TRY(connection.Send(Api::kMetadata, kMetadataVersion, request));
  TRY_ASSIGN(const std::string response, connection.Receive());

  Leaders leaders;
  ResponseReader reader(response);
  reader.Int32();  // throttle time
  for (int32_t left = reader.Int32(); left > 0 && !reader.is_broken(); --left) {
    const int32_t id = reader.Int32();
    const std::string host(reader.String());
    leaders.brokers[id] = {host, reader.Int32()};
    reader.String();  // rack
  }
  reader.String();  // cluster
  reader.Int32();   // controller
  for (int32_t topics_left = reader.Int32(); topics_left > 0 && !reader.is_broken();
       --topics_left) {
    reader.Int16();  // error: a topic without partitions follows, and is missed by the caller
    const std::string topic(reader.String());
    reader.Int8();  // internal
    for (int32_t left = reader.Int32(); left > 0 && !reader.is_broken(); --left) {
      reader.Int16();
      const int32_t partition = reader.Int32();
      const int32_t leader = reader.Int32();
      reader.Int32();                     // leader epoch
      reader.SkipArray(sizeof(int32_t));  // replicas
      reader.SkipArray(sizeof(int32_t));  // in-sync replicas
      reader.SkipArray(sizeof(int32_t));  // offline replicas
      if (leaders.brokers.contains(leader)) leaders.leader_of[{topic, partition}] = leader;
    }
    reader.Int32();  // authorized operations
  }
  if (reader.is_broken()) return Fail(ErrorKind::kCorrupt, "the metadata response is cut short");
  return leaders;
}

}  // namespace tidemark::bench
