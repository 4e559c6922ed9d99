#include "support/scripted_http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace tidemark::support {

namespace {

constexpr int kPollMillis = 20;
constexpr int kPauseMillis = 2;

/// Waits until `fd` can be read; false when stopped.
bool WaitForInput(int fd, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd poll_fd{fd, POLLIN, 0};
    if (::poll(&poll_fd, 1, kPollMillis) > 0) return true;
  }
  return false;
}

bool Pause(std::chrono::milliseconds duration, const std::stop_token& stop) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
    if (stop.stop_requested()) return false;
    ::poll(nullptr, 0, kPauseMillis);
  }
  return true;
}

/// Appends what has arrived; false at the end of the connection.
bool ReadMore(int fd, std::string& buffer, const std::stop_token& stop) {
  char bytes[65536];
  if (!WaitForInput(fd, stop)) return false;
  const ssize_t count = ::recv(fd, bytes, sizeof(bytes), 0);
  if (count <= 0) return false;
  buffer.append(bytes, static_cast<size_t>(count));
  return true;
}

ScriptedRequest ParseHead(const std::string& head) {
  ScriptedRequest request;
  const size_t first = head.find(' ');
  const size_t second = head.find(' ', first + 1);
  request.method = head.substr(0, first);
  request.target = head.substr(first + 1, second - first - 1);
  size_t at = head.find("\r\n");
  while (at != std::string::npos && at + 2 < head.size()) {
    const size_t end = head.find("\r\n", at + 2);
    const std::string line = head.substr(at + 2, end - at - 2);
    const size_t colon = line.find(':');
    if (colon != std::string::npos) {
      std::string name = line.substr(0, colon);
      std::ranges::transform(name, name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const size_t value = line.find_first_not_of(' ', colon + 1);
      request.headers[name] = value == std::string::npos ? "" : line.substr(value);
    }
    at = end;
  }
  return request;
}

/// The next request of the connection; `buffer` keeps what came after it.
std::optional<ScriptedRequest> ReadRequest(int fd, std::string& buffer,
                                           const std::stop_token& stop) {
  size_t end = buffer.find("\r\n\r\n");
  while (end == std::string::npos) {
    if (!ReadMore(fd, buffer, stop)) return std::nullopt;
    end = buffer.find("\r\n\r\n");
  }
  ScriptedRequest request = ParseHead(buffer.substr(0, end));
  buffer.erase(0, end + 4);
  const auto it = request.headers.find("content-length");
  size_t length = 0;
  if (it != request.headers.end())
    std::from_chars(it->second.data(), it->second.data() + it->second.size(), length);
  while (buffer.size() < length) {
    if (!ReadMore(fd, buffer, stop)) return std::nullopt;
  }
  request.body = buffer.substr(0, length);
  buffer.erase(0, length);
  return request;
}

bool SendReply(int fd, const ScriptedReply& reply, const std::stop_token& stop) {
  if (!Pause(reply.wait_before, stop)) return false;
  const size_t piece = reply.piece_bytes == 0 ? reply.bytes.size() : reply.piece_bytes;
  for (size_t at = 0; at < reply.bytes.size();) {
    const size_t wanted = std::min(piece, reply.bytes.size() - at);
    const ssize_t count = ::send(fd, reply.bytes.data() + at, wanted, MSG_NOSIGNAL);
    if (count <= 0) return false;
    at += static_cast<size_t>(count);
    if (!Pause(reply.wait_between, stop)) return false;
  }
  return !reply.closes;
}

}  // namespace

ScriptedReply HttpReply(int status, const std::string& body, const std::string& head) {
  ScriptedReply reply;
  reply.bytes = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Length: {}\r\n{}\r\n{}", status,
                            body.size(), head, body);
  return reply;
}

ScriptedHttpServer::ScriptedHttpServer(Script script) : script_(std::move(script)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0)
    std::abort();
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this](const std::stop_token& stop) { Accept(stop); });
}

ScriptedHttpServer::~ScriptedHttpServer() {
  accepting_.request_stop();
  accepting_.join();
  serving_.clear();
  ::close(listener_);
}

std::string ScriptedHttpServer::endpoint() const {
  return fmt::format("http://127.0.0.1:{}", port_);
}

std::vector<ScriptedRequest> ScriptedHttpServer::Requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

int ScriptedHttpServer::connections() const {
  const std::scoped_lock lock(mutex_);
  return connections_;
}

void ScriptedHttpServer::Accept(const std::stop_token& stop) {
  while (WaitForInput(listener_, stop)) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    {
      const std::scoped_lock lock(mutex_);
      ++connections_;
    }
    serving_.emplace_back([this, fd](const std::stop_token& own_stop) {
      Serve(fd, own_stop);
      ::close(fd);
    });
  }
}

void ScriptedHttpServer::Serve(int fd, const std::stop_token& stop) {
  std::string buffer;
  while (auto request = ReadRequest(fd, buffer, stop)) {
    int number = 0;
    {
      const std::scoped_lock lock(mutex_);
      requests_.push_back(*request);
      number = static_cast<int>(requests_.size());
    }
    if (!SendReply(fd, script_(*request, number), stop)) return;
  }
}

}  // namespace tidemark::support
