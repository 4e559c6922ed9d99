#include "storage/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stop_token>

#include "storage/http_sink.h"

namespace tidemark::storage {

namespace {

constexpr size_t kIdleChannelsMax = 32;
constexpr long kConnectTimeoutMillis = 5000;
/// A server that sends nothing for so long is given up even when the budget has no end.
constexpr long kStallSeconds = 30;
constexpr int kPollMillisMax = 1000;
constexpr long kKeepConnectionSeconds = 60;

void InitializeCurlOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)code;  // a failure shows as a handle that cannot be made
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList MakeHeaders(const HttpRequest& request) {
  // curl would wait for "100 Continue", which costs a second with servers that never say it, and
  // would guess a content type.
  HeaderList list(curl_slist_append(nullptr, "Expect:"));
  for (const std::string& header : request.headers) {
    if (curl_slist* longer = curl_slist_append(list.get(), header.c_str())) {
      (void)list.release();
      list.reset(longer);
    }
  }
  return list;
}

struct Upload {
  std::string_view rest;
};

size_t ReadUpload(char* buffer, size_t size, size_t count, void* user) {
  auto* upload = static_cast<Upload*>(user);
  const size_t taken = std::min(size * count, upload->rest.size());
  std::copy_n(upload->rest.data(), taken, buffer);
  upload->rest.remove_prefix(taken);
  return taken;
}

/// curl rewinds when it has to send the body again on a new connection.
int SeekUpload(void* user, curl_off_t offset, int origin) {
  auto* upload = static_cast<std::pair<Upload, std::string_view>*>(user);
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > upload->second.size())
    return CURL_SEEKFUNC_CANTSEEK;
  upload->first.rest = upload->second.substr(static_cast<size_t>(offset));
  return CURL_SEEKFUNC_OK;
}

bool NeverReachedTheServer(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_URL_MALFORMAT: return true;
    default: return false;
  }
}

/// What trying again cannot cure.
ErrorKind KindOf(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE: return ErrorKind::kInvalidArgument;
    case CURLE_UNSUPPORTED_PROTOCOL: return ErrorKind::kCorrupt;  // an answer that is no HTTP
    case CURLE_PEER_FAILED_VERIFICATION: return ErrorKind::kDenied;
    default: return ErrorKind::kUnavailable;
  }
}

}  // namespace

std::string_view HttpAnswer::Header(const std::string& name) const {
  const auto it = headers.find(name);
  return it == headers.end() ? std::string_view() : std::string_view(it->second);
}

std::string_view HostOfUrl(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const size_t user = url.rfind('@');
  if (user != std::string_view::npos) url.remove_prefix(user + 1);
  return url;
}

/// One curl handle with its connections. Used by one thread at a time.
class HttpClient::Channel {
 public:
  Channel() : multi_(curl_multi_init()), easy_(curl_easy_init()) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
  }

  bool is_usable() const { return multi_ != nullptr && easy_ != nullptr; }

  /// Of its last request.
  const std::string& host() const { return host_; }

  HttpExchange Send(const HttpRequest& request, const Budget& budget) {
    host_ = HostOfUrl(request.url);
    HttpSink sink(request.answer_bytes_max);
    const HeaderList headers = MakeHeaders(request);
    std::pair<Upload, std::string_view> upload{{request.body}, request.body};
    char curl_text[CURL_ERROR_SIZE] = "";
    curl_easy_reset(easy_);
    SetCommonOptions(request, headers.get(), sink);
    curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, curl_text);
    SetMethod(request, upload);
    CURLcode code = Run(budget);
    curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, nullptr);
    // Where the connection has served before it is what another answer left behind, no server that
    // speaks something else; curl has closed it.
    if (code == CURLE_UNSUPPORTED_PROTOCOL && IsConnectionUsedAgain())
      code = CURLE_WEIRD_SERVER_REPLY;
    if (code == CURLE_OK || sink.is_error_body_cut())
      return {std::nullopt, sink.TakeAnswer(), true};
    return Failed(code, curl_text, request, sink, budget);
  }

 private:
  bool IsConnectionUsedAgain() const {
    long opened = 0;
    return curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0;
  }

  void SetCommonOptions(const HttpRequest& request, curl_slist* headers, HttpSink& sink) {
    curl_easy_setopt(easy_, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, "tidemark");
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    // Otherwise a look-up that hangs would be waited for after the budget is over.
    curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMillis);
    curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
    curl_easy_setopt(easy_, CURLOPT_MAXAGE_CONN, kKeepConnectionSeconds);
    curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, 256L * 1024);
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &HttpSink::OnHeader);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &sink);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &HttpSink::OnBody);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &sink);
    if (request.is_direct) curl_easy_setopt(easy_, CURLOPT_NOPROXY, "*");
    if (const char* bundle = std::getenv("AWS_CA_BUNDLE"); bundle != nullptr && *bundle != '\0')
      curl_easy_setopt(easy_, CURLOPT_CAINFO, bundle);
    const auto set_file = [&](CURLoption option, const std::string& file) {
      if (!file.empty()) curl_easy_setopt(easy_, option, file.c_str());
    };
    set_file(CURLOPT_CAINFO, request.tls.ca_file);
    set_file(CURLOPT_SSLCERT, request.tls.certificate_file);
    set_file(CURLOPT_SSLKEY, request.tls.key_file);
  }

  void SetMethod(const HttpRequest& request, std::pair<Upload, std::string_view>& upload) {
    if (request.method == "HEAD") {
      curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
      return;
    }
    if (request.method == "PUT" || request.method == "POST") {
      curl_easy_setopt(easy_, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(easy_, CURLOPT_INFILESIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &ReadUpload);
      curl_easy_setopt(easy_, CURLOPT_READDATA, &upload.first);
      curl_easy_setopt(easy_, CURLOPT_SEEKFUNCTION, &SeekUpload);
      curl_easy_setopt(easy_, CURLOPT_SEEKDATA, &upload);
    }
    if (request.method != "GET") {
      curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }

  /// CURLE_ABORTED_BY_CALLBACK when the budget ended the transfer.
  CURLcode Run(const Budget& budget) {
    if (curl_multi_add_handle(multi_, easy_) != CURLM_OK) return CURLE_FAILED_INIT;
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    {
      const std::stop_callback wake(budget.stop(), [this] { curl_multi_wakeup(multi_); });
      while (budget.Check()) {
        int running = 0;
        if (curl_multi_perform(multi_, &running) != CURLM_OK) {
          code = CURLE_FAILED_INIT;
          break;
        }
        int left = 0;
        const CURLMsg* message = curl_multi_info_read(multi_, &left);
        if (message != nullptr && message->msg == CURLMSG_DONE) {
          code = message->data.result;
          break;
        }
        const auto wait = std::min<long long>(budget.Remaining().count(), kPollMillisMax);
        curl_multi_poll(multi_, nullptr, 0, static_cast<int>(wait), nullptr);
      }
    }
    curl_multi_remove_handle(multi_, easy_);
    return code;
  }

  static HttpExchange Failed(CURLcode code, const char* curl_text, const HttpRequest& request,
                             const HttpSink& sink, const Budget& budget) {
    HttpExchange exchange;
    exchange.may_have_arrived = !NeverReachedTheServer(code);
    const std::string_view host = HostOfUrl(request.url);
    if (sink.is_too_long()) {
      exchange.error =
          Error{ErrorKind::kExhausted, fmt::format("the answer is too long: host={} bytes_max={}",
                                                   host, request.answer_bytes_max)};
    } else if (code == CURLE_ABORTED_BY_CALLBACK) {
      const Status status = budget.Check();
      exchange.error = status ? Error{ErrorKind::kUnavailable, "the transfer was given up"}
                              : std::move(status).error();
      exchange.error = std::move(*exchange.error).With(fmt::format("host={}", host));
    } else {
      // curl's own text names addresses and ports at most: the query is never part of it.
      const std::string_view detail = *curl_text != '\0' ? curl_text : curl_easy_strerror(code);
      exchange.error = Error{KindOf(code), fmt::format("no whole answer: {}: host={} curl={}",
                                                       detail, host, static_cast<int>(code))};
    }
    return exchange;
  }

  CURLM* multi_;
  CURL* easy_;
  std::string host_;
};

HttpClient::HttpClient() = default;
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Channel> HttpClient::TakeChannel(std::string_view host) {
  {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find(idle_, host, &Channel::host);
    if (known != idle_.end()) {
      auto channel = std::move(*known);
      idle_.erase(known);
      return channel;
    }
  }
  InitializeCurlOnce();
  return std::make_unique<Channel>();
}

void HttpClient::GiveBack(std::unique_ptr<Channel> channel) {
  const std::scoped_lock lock(mutex_);
  if (idle_.size() == kIdleChannelsMax) idle_.erase(idle_.begin());
  idle_.push_back(std::move(channel));
}

HttpExchange HttpClient::Send(const HttpRequest& request, const Budget& budget) {
  std::unique_ptr<Channel> channel = TakeChannel(HostOfUrl(request.url));
  if (!channel->is_usable()) {
    HttpExchange exchange;
    exchange.error = Error{ErrorKind::kInternal, "curl could not be initialised"};
    return exchange;
  }
  HttpExchange exchange = channel->Send(request, budget);
  GiveBack(std::move(channel));
  return exchange;
}

HttpClient& SharedHttpClient() {
  // Never destroyed: a thread may still be in a request while the process ends.
  static HttpClient& client = *std::make_unique<HttpClient>().release();
  return client;
}

}  // namespace tidemark::storage
