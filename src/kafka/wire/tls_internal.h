/// Bytes to and from a broker over a non-blocking socket, plain or encrypted.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kafka/cluster_error.h"

struct ssl_ctx_st;

namespace tidemark::kafka::wire {

/// One side of a connection. One caller.
class Channel {
 public:
  enum class Progress {
    kDone,        ///< at least one byte went
    kWantsRead,   ///< nothing yet: when the socket can be read
    kWantsWrite,  ///< nothing yet: when it can be written
    kEnded,       ///< the other side has closed
    kFailed,      ///< complaint() says why
  };

  virtual ~Channel() = default;
  /// kDone once bytes may be read and written.
  virtual Progress Handshake() = 0;
  virtual Progress Read(char* into, size_t size, size_t* count) = 0;
  virtual Progress Write(std::string_view bytes, size_t* count) = 0;
  virtual std::string complaint() const = 0;
};

/// Over a connected socket, which the caller closes afterwards.
std::unique_ptr<Channel> MakePlainChannel(int socket);

/// What all encrypted connections of a probe share. Immutable once made.
class TlsContext {
 public:
  /// kInvalidArgument names the ssl.* property that cannot be used.
  static Result<std::unique_ptr<TlsContext>> Make(const Properties& properties);
  explicit TlsContext(ssl_ctx_st* context, bool verifies_host);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  /// `host` as the certificate has to name it. The socket stays the caller's; so does the context,
  /// which outlives the channel.
  std::unique_ptr<Channel> MakeChannel(int socket, const std::string& host) const;

 private:
  ssl_ctx_st* context_;
  bool verifies_host_;
};

}  // namespace tidemark::kafka::wire
