/// What services of objects differ in: how each is asked, and how its answers are understood. What
/// they share is bucket_client.h (tries) and bucket_store.h (the contract).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "storage/bucket_listing.h"
#include "storage/http_client.h"
#include "storage/object_store.h"
#include "storage/url_text.h"

namespace tidemark::storage {

struct BucketRequest {
  std::string method;
  std::string path;  ///< encoded, behind the address of the service; S3: of the bucket
  std::string name;  ///< what messages call it
  QueryParts query;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string_view body;                                     ///< must outlive the call
  std::shared_ptr<const std::string> body_owner;  ///< of a body that was made for the request
  uint64_t answer_bytes_max = 0;
  /// 412 is an answer: the object is not the one that the request is about.
  bool is_conditional = false;
  bool is_listing = false;  ///< what is not found is the bucket
};

struct BucketAnswer {
  HttpAnswer http;
  /// The condition of the request does not hold.
  bool is_condition_false = false;
  /// An earlier try of this call may have been carried out, its answer lost.
  bool may_have_happened_before = false;
};

enum class PutCondition {
  kNone,
  kAbsent,  ///< write only when there is no such object
};

/// What the next step is after an answer.
enum class BucketVerdict {
  kSuccess,
  kConditionFalse,
  kRetry,   ///< busy or broken for the moment
  kAtOnce,  ///< the service has learnt what to do better; another try needs no wait
  kFailure,
};

struct BucketJudgement {
  BucketVerdict verdict = BucketVerdict::kSuccess;
  std::optional<Error> error{};  ///< of kRetry and kFailure
  /// Of kRetry: the request certainly changed nothing.
  bool is_undone = false;
};

/// One request over its tries. Single-threaded. Never says kAtOnce without end.
class BucketCall {
 public:
  virtual ~BucketCall() = default;

  /// The next try: addressed, with credentials.
  virtual Result<HttpRequest> NextTry(const Budget& budget) = 0;

  /// Of the answer to the last try. 412 to a conditional request and 416 are not asked about.
  virtual BucketJudgement Judge(const HttpAnswer& answer, const Budget& budget) = 0;
};

struct BucketLimits {
  std::string_view service;  ///< "S3", for messages
  size_t key_bytes_max = 0;  ///< of a whole key in the bucket
  uint64_t put_bytes_max = 0;
  ListOrder order = ListOrder::kBytes;
  bool has_backslashes = true;  ///< false: the service would write '/' instead
};

/// One bucket of one service. Any thread. Keys are whole keys of the bucket.
class BucketService {
 public:
  virtual ~BucketService() = default;

  virtual BucketLimits limits() const = 0;
  virtual std::unique_ptr<BucketCall> Begin(const BucketRequest& request) = 0;

  /// Asks for one page; `token` is empty for the first.
  virtual BucketRequest ListPageRequest(const ListQuestion& question,
                                        std::string_view token) const = 0;
  /// kCorrupt for what is not a whole page.
  virtual Result<ListPage> ParsePage(std::string_view body) const = 0;

  /// Asks for the bytes; a Range header may be added. `tag`, when not empty: only of the object
  /// that is called so.
  virtual BucketRequest ReadRequest(const std::string& key, const std::string& tag) const = 0;
  /// What an answer with bytes calls its object; empty when it does not say.
  virtual std::string TagOf(const HttpAnswer& answer) const = 0;

  virtual BucketRequest StatRequest(const std::string& key) const = 0;
  /// Size and time; nullopt when one is missing. The default reads the usual headers.
  virtual std::optional<ObjectInfo> ParseStat(const HttpAnswer& answer) const;

  /// kInvalidArgument for a key that the service cannot have.
  virtual Result<BucketRequest> PutRequest(const std::string& key, std::string_view bytes,
                                           PutCondition condition) const = 0;
  /// An object that is not there is a success.
  virtual BucketRequest RemoveRequest(const std::string& key) const = 0;
};

/// What a status means when its service says no more.
ErrorKind KindOfStatus(int status);

/// true for statuses after which the same request may succeed.
bool IsPassing(int status);

/// The words of an answer that is no success. Never holds a secret.
struct BucketRefusal {
  ErrorKind kind = ErrorKind::kUnavailable;
  std::string_view text;    ///< what it means, and what to check
  std::string code;         ///< the service's own word; may be empty
  std::string identity;     ///< "access_key_id=AKIA": who was refused; shown with kDenied only
  std::string server_text;  ///< may be empty; one line
};
Error ErrorOf(const BucketRequest& request, const HttpAnswer& answer, std::string_view host,
              const BucketRefusal& refusal);

/// `text` without control characters and not too long, for `server_text`.
std::string OneLine(std::string_view text);

/// A whole decimal number.
std::optional<uint64_t> ParseNumber(std::string_view text);

}  // namespace tidemark::storage
