#include "storage/bucket_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tidemark::storage {

namespace {

/// Longer waits are the caller's decision, not the server's.
constexpr int kRetryAfterSecondsMax = 3600;

/// One request over its tries.
class Sending {
 public:
  Sending(BucketService& service, const BucketRequest& request)
      : call_(service.Begin(request)), request_(request) {}

  Result<BucketAnswer> Run(const Budget& budget) {
    for (int tries = 1;;) {
      if (auto result = TryOnce(budget)) return *std::move(result);
      if (is_at_once_) continue;
      if (budget.WaitForTry(tries + 1, wait_at_least_)) {
        ++tries;
        continue;
      }
      if (budget.is_stopped())
        return Fail(ErrorKind::kCancelled, fmt::format("stopped: object={}", request_.name));
      last_error_->message += fmt::format(" tries={}", tries);
      if (wait_at_least_.count() > 0)
        last_error_->message += fmt::format(" retry_after={}s", wait_at_least_.count() / 1000);
      return std::unexpected(*std::move(last_error_));
    }
  }

 private:
  /// nullopt: there is to be another try, at once or after a wait.
  std::optional<Result<BucketAnswer>> TryOnce(const Budget& budget) {
    is_at_once_ = false;
    if (auto status = budget.Check(); !status) return Named(std::move(status).error());
    auto http = call_->NextTry(budget);
    if (!http) return Named(std::move(http).error());
    HttpExchange exchange = SharedHttpClient().Send(*http, budget);
    if (!exchange.error) return Judge(std::move(exchange.answer), budget);
    may_have_happened_ |= exchange.may_have_arrived;
    if (exchange.error->kind != ErrorKind::kUnavailable) return Named(*std::move(exchange.error));
    wait_at_least_ = {};
    last_error_ = (*std::move(exchange.error)).With(fmt::format("object={}", request_.name));
    return std::nullopt;
  }

  std::optional<Result<BucketAnswer>> Judge(HttpAnswer answer, const Budget& budget) {
    if (answer.status == 416) return BucketAnswer{std::move(answer), false, may_have_happened_};
    if (answer.status == 412 && request_.is_conditional)
      return BucketAnswer{std::move(answer), true, may_have_happened_};
    BucketJudgement judgement = call_->Judge(answer, budget);
    switch (judgement.verdict) {
      case BucketVerdict::kSuccess:
      case BucketVerdict::kConditionFalse:
        return BucketAnswer{std::move(answer), judgement.verdict == BucketVerdict::kConditionFalse,
                            may_have_happened_};
      case BucketVerdict::kAtOnce: is_at_once_ = true; return std::nullopt;
      case BucketVerdict::kRetry: break;
      case BucketVerdict::kFailure: return std::unexpected(*std::move(judgement.error));
    }
    may_have_happened_ |= !judgement.is_undone;
    wait_at_least_ = RetryAfter(answer);
    // A conflict that lasts is no answer to "did it get written".
    if (judgement.error->kind != ErrorKind::kDenied)
      judgement.error->kind = ErrorKind::kUnavailable;
    last_error_ = std::move(judgement.error);
    return std::nullopt;
  }

  Result<BucketAnswer> Named(Error error) const {
    return std::unexpected(std::move(error).With(fmt::format("object={}", request_.name)));
  }

  std::unique_ptr<BucketCall> call_;
  const BucketRequest& request_;
  std::optional<Error> last_error_;
  std::chrono::milliseconds wait_at_least_{};
  bool may_have_happened_ = false;
  bool is_at_once_ = false;  ///< the next try needs no wait and does not count
};

}  // namespace

Result<BucketAnswer> SendToBucket(BucketService& service, const BucketRequest& request,
                                  const Budget& budget) {
  return Sending(service, request).Run(budget);
}

std::chrono::milliseconds RetryAfter(const HttpAnswer& answer) {
  const std::string_view text = answer.Header("retry-after");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || seconds < 0)
    return {};
  return std::chrono::seconds(std::min(seconds, kRetryAfterSecondsMax));
}

}  // namespace tidemark::storage
