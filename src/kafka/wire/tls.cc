#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/held.h"
#include "kafka/wire/tls_internal.h"

namespace tidemark::kafka::wire {

namespace {

// The reason of the last error; the queue is empty afterwards.
std::string TakeReason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? std::string("TLS error") : reason;
}

class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(int socket) : socket_(socket) {}
  Progress Handshake() override { return Progress::kDone; }
  Progress Read(char* into, size_t size, size_t* count) override {
    return Take(recv(socket_, into, size, 0), Progress::kWantsRead, count);
  }
  Progress Write(std::string_view bytes, size_t* count) override {
    return Take(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), Progress::kWantsWrite,
                count);
  }
  std::string complaint() const override { return std::strerror(error_); }

 private:
  Progress Take(ssize_t result, Progress wish, size_t* count) {
    if (result > 0) {
      *count = static_cast<size_t>(result);
      return Progress::kDone;
    }
    if (result == 0) return Progress::kEnded;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return wish;
    error_ = errno;
    return error_ == ECONNRESET || error_ == EPIPE ? Progress::kEnded : Progress::kFailed;
  }

  int socket_;
  int error_ = 0;
};

// OpenSSL's own socket would raise SIGPIPE when the broker has closed.
int ReadSocket(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t count = recv(static_cast<int>(BIO_get_fd(bio, nullptr)), into, size_t(size), 0);
  if (count < 0 && BIO_sock_should_retry(-1) != 0) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}
int WriteSocket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const int socket = static_cast<int>(BIO_get_fd(bio, nullptr));
  const ssize_t count = send(socket, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (count < 0 && BIO_sock_should_retry(-1) != 0) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

// The socket kind with reading and writing replaced; null without memory.
const BIO_METHOD* QuietSocket() {
  static const BIO_METHOD* const method = [] {
    const BIO_METHOD* base = BIO_s_socket();
    BIO_METHOD* quiet = BIO_meth_new(BIO_TYPE_SOCKET, "quiet socket");
    if (quiet == nullptr) return quiet;
    BIO_meth_set_read(quiet, ReadSocket);
    BIO_meth_set_write(quiet, WriteSocket);
    BIO_meth_set_puts(quiet, BIO_meth_get_puts(base));
    BIO_meth_set_ctrl(quiet, BIO_meth_get_ctrl(base));
    BIO_meth_set_create(quiet, BIO_meth_get_create(base));
    BIO_meth_set_destroy(quiet, BIO_meth_get_destroy(base));
    return quiet;
  }();
  return method;
}

class TlsChannel final : public Channel {
 public:
  explicit TlsChannel(SSL* ssl) : ssl_(ssl) {}

  Progress Handshake() override { return Take(SSL_connect(ssl_.get())); }
  Progress Read(char* into, size_t size, size_t* count) override {
    return Take(SSL_read_ex(ssl_.get(), into, size, count));
  }
  Progress Write(std::string_view bytes, size_t* count) override {
    return Take(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), count));
  }
  std::string complaint() const override { return complaint_; }

 private:
  Progress Take(int result) {
    if (result == 1) return Progress::kDone;
    const int error = SSL_get_error(ssl_.get(), result);
    switch (error) {
      case SSL_ERROR_WANT_READ: return Progress::kWantsRead;
      case SSL_ERROR_WANT_WRITE: return Progress::kWantsWrite;
      case SSL_ERROR_ZERO_RETURN: return Progress::kEnded;
      default: break;
    }
    const unsigned long code = ERR_peek_last_error();
    const bool is_cut = error == SSL_ERROR_SYSCALL && code == 0;
    const bool is_cut_off = ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    if (is_cut || is_cut_off) {
      ERR_clear_error();
      return Progress::kEnded;
    }
    const long verdict = SSL_get_verify_result(ssl_.get());
    complaint_ = TakeReason();
    if (verdict != X509_V_OK) {
      complaint_ += fmt::format(": {}", X509_verify_cert_error_string(verdict));
    }
    return Progress::kFailed;
  }

  Held<SSL, SSL_free> ssl_;
  std::string complaint_;
};

std::unexpected<Error> Misfit(const Properties& properties, const char* name) {
  const std::string* value = ValueOf(properties, name);
  const bool is_path = std::string_view(name).ends_with(".location");
  std::string cause = TakeReason();
  if (is_path && value != nullptr) {
    errno = 0;
    if (!std::ifstream(*value) && errno != 0) {
      cause = fmt::format("the file cannot be opened: {}", std::strerror(errno));
    }
  }
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("kafka properties do not fit name={}{}: {}", name,
                          is_path && value != nullptr ? " value=" + *value : "", cause));
}

Held<BIO, BIO_free> MemoryOf(const std::string& text) {
  return Held<BIO, BIO_free>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int NoPassword(char*, int, int, void*) {
  return 0;
}
int GivePassword(char* buffer, int size, int, void* user) {
  const auto& password = *static_cast<const std::string*>(user);
  const int length = std::min(size, static_cast<int>(password.size()));
  std::memcpy(buffer, password.data(), static_cast<size_t>(length));
  return length;
}

Status TrustAuthorities(SSL_CTX* context, const Properties& properties) {
  if (const std::string* pem = ValueOf(properties, "ssl.ca.pem")) {
    const auto memory = MemoryOf(*pem);
    int count = 0;
    while (X509* raw = PEM_read_bio_X509(memory.get(), nullptr, NoPassword, nullptr)) {
      const Held<X509, X509_free> certificate(raw);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get());
      ++count;
    }
    if (count == 0) return Misfit(properties, "ssl.ca.pem");
    ERR_clear_error();
    return {};
  }
  const std::string* location = ValueOf(properties, "ssl.ca.location");
  if (location == nullptr || *location == "probe") {
    SSL_CTX_set_default_verify_paths(context);
    return {};
  }
  // A folder of hashed names or a file.
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(*location, error);
  const int is_loaded = is_folder ? SSL_CTX_load_verify_dir(context, location->c_str())
                                  : SSL_CTX_load_verify_file(context, location->c_str());
  if (is_loaded != 1) return Misfit(properties, "ssl.ca.location");
  ERR_clear_error();
  return {};
}

Status ShowCertificate(SSL_CTX* context, const Properties& properties) {
  if (const std::string* location = ValueOf(properties, "ssl.certificate.location")) {
    if (SSL_CTX_use_certificate_chain_file(context, location->c_str()) != 1) {
      return Misfit(properties, "ssl.certificate.location");
    }
  }
  if (const std::string* pem = ValueOf(properties, "ssl.certificate.pem")) {
    const auto memory = MemoryOf(*pem);
    const Held<X509, X509_free> leaf(PEM_read_bio_X509(memory.get(), nullptr, NoPassword, nullptr));
    if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) {
      return Misfit(properties, "ssl.certificate.pem");
    }
    while (X509* link = PEM_read_bio_X509(memory.get(), nullptr, NoPassword, nullptr)) {
      if (SSL_CTX_add0_chain_cert(context, link) != 1) X509_free(link);
    }
    ERR_clear_error();
  }
  return {};
}

Status ProveIdentity(SSL_CTX* context, const Properties& properties) {
  const std::string* password = ValueOf(properties, "ssl.key.password");
  if (password != nullptr) {
    SSL_CTX_set_default_passwd_cb_userdata(context, const_cast<std::string*>(password));
  }
  SSL_CTX_set_default_passwd_cb(context, password != nullptr ? GivePassword : NoPassword);
  TRY(ShowCertificate(context, properties));
  const std::string* location = ValueOf(properties, "ssl.key.location");
  const std::string* pem = ValueOf(properties, "ssl.key.pem");
  if (location != nullptr &&
      SSL_CTX_use_PrivateKey_file(context, location->c_str(), SSL_FILETYPE_PEM) != 1) {
    return Misfit(properties, "ssl.key.location");
  }
  if (pem != nullptr) {
    const auto memory = MemoryOf(*pem);
    const Held<EVP_PKEY, EVP_PKEY_free> key(PEM_read_bio_PrivateKey(
        memory.get(), nullptr, password != nullptr ? GivePassword : NoPassword,
        const_cast<std::string*>(password)));
    if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
      return Misfit(properties, "ssl.key.pem");
    }
  }
  if ((location != nullptr || pem != nullptr) && SSL_CTX_check_private_key(context) != 1) {
    return Misfit(properties, location != nullptr ? "ssl.key.location" : "ssl.key.pem");
  }
  // The properties do not outlive this; nothing is read with a password from here on.
  SSL_CTX_set_default_passwd_cb(context, NoPassword);
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  return {};
}

bool IsOff(const Properties& properties, std::string_view name, std::string_view off) {
  const std::string* value = ValueOf(properties, name);
  return value != nullptr && *value == off;
}

}  // namespace

std::unique_ptr<Channel> MakePlainChannel(int socket) {
  return std::make_unique<PlainChannel>(socket);
}

Result<std::unique_ptr<TlsContext>> TlsContext::Make(const Properties& properties) {
  const bool verifies = !IsOff(properties, "enable.ssl.certificate.verification", "false");
  const bool verifies_host =
      verifies && !IsOff(properties, "ssl.endpoint.identification.algorithm", "none");
  auto made = std::make_unique<TlsContext>(SSL_CTX_new(TLS_client_method()), verifies_host);
  SSL_CTX* context = made->context_;
  if (context == nullptr) return Fail(ErrorKind::kInternal, "no TLS context");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  TRY(TrustAuthorities(context, properties));
  TRY(ProveIdentity(context, properties));
  return made;
}

TlsContext::TlsContext(ssl_ctx_st* context, bool verifies_host)
    : context_(context), verifies_host_(verifies_host) {}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

std::unique_ptr<Channel> TlsContext::MakeChannel(int socket, const std::string& host) const {
  SSL* ssl = SSL_new(context_);
  if (ssl == nullptr) return nullptr;
  auto channel = std::make_unique<TlsChannel>(ssl);
  BIO* bio = BIO_new(QuietSocket());
  if (bio == nullptr) return nullptr;
  BIO_set_fd(bio, socket, BIO_NOCLOSE);
  SSL_set_bio(ssl, bio, bio);
  in6_addr digits{};
  const bool is_address = inet_pton(AF_INET, host.c_str(), &digits) == 1 ||
                          inet_pton(AF_INET6, host.c_str(), &digits) == 1;
  // A name in the greeting is for names only.
  if (!is_address) SSL_set_tlsext_host_name(ssl, host.c_str());
  if (!verifies_host_) return channel;
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl);
  const int is_set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str())
                                : X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
  return is_set == 1 ? std::move(channel) : nullptr;
}

}  // namespace tidemark::kafka::wire
