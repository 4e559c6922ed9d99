#include "sink/glue_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "storage/aws_json.h"

namespace tidemark::sink {

namespace {

constexpr Milliseconds kFirstWait{100};
constexpr Milliseconds kMostWait{20'000};

}  // namespace

bool IsThrottling(std::string_view code) {
  return code == "ThrottlingException" || code == "Throttling" ||
         code == "TooManyRequestsException" || code == "RequestLimitExceeded" || code == "Http429";
}

ErrorKind KindOfGlueError(std::string_view code) {
  constexpr std::array<std::string_view, 6> kHealing = {
      "InternalServiceException", "InternalFailure", "OperationTimeoutException",
      "ServiceUnavailable",       "Http503",         "ResourceNotReadyException"};
  constexpr std::array<std::string_view, 7> kDenied = {"AccessDeniedException",
                                                       "UnrecognizedClientException",
                                                       "ExpiredTokenException",
                                                       "InvalidSignatureException",
                                                       "MissingAuthenticationTokenException",
                                                       "IncompleteSignatureException",
                                                       "Http403"};
  const auto is_in = [&](const auto& codes) {
    return std::ranges::find(codes, code) != codes.end();
  };
  if (IsThrottling(code) || is_in(kHealing)) return ErrorKind::kUnavailable;
  if (is_in(kDenied)) return ErrorKind::kDenied;
  if (code == kGlueNotFound) return ErrorKind::kNotFound;
  if (code == "ConcurrentModificationException" || code == "VersionMismatchException")
    return ErrorKind::kConflict;
  if (code == "ResourceNumberLimitExceededException") return ErrorKind::kExhausted;
  if (code.starts_with("Http5")) return ErrorKind::kUnavailable;
  return ErrorKind::kInvalidArgument;
}

GlueClient::GlueClient(GlueOptions options) : options_(std::move(options)) {
  luck_ ^= static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

GlueClient::~GlueClient() = default;

double GlueClient::Luck() {
  const std::scoped_lock lock(mutex_);
  std::minstd_rand random(static_cast<uint_fast32_t>(luck_ ^ (luck_ >> 32)));
  luck_ = luck_ * 6364136223846793005U + random();
  return static_cast<double>(luck_ >> 11) / static_cast<double>(uint64_t{1} << 53);
}

Result<storage::AwsJsonService*> GlueClient::Service() {
  const std::scoped_lock lock(mutex_);
  if (service_ == nullptr) {
    TRY_ASSIGN(service_,
               storage::AwsJsonService::Make(
                   {.service = "glue", .endpoint = options_.endpoint, .region = options_.region}));
  }
  return service_.get();
}

RequestPace& GlueClient::PaceOf(const std::string& operation) {
  return paces_.try_emplace(operation, options_.rate, SystemClock().Mono()).first->second;
}

Status GlueClient::WaitForTurn(const std::string& operation, const Budget& budget) {
  Milliseconds wait{0};
  {
    const std::scoped_lock lock(mutex_);
    wait = PaceOf(operation).Take(SystemClock().Mono());
  }
  if (wait.count() == 0) return budget.Check();
  Budget patient = budget;
  patient.tries_max = 2;
  patient.retry_delay = wait;
  if (patient.WaitForTry(2)) return {};
  TRY(budget.Check());
  return Fail(ErrorKind::kUnavailable,
              fmt::format("no turn within the time that is left: operation={} wait={}ms", operation,
                          wait.count()));
}

void GlueClient::NoteRefusal(const std::string& operation) {
  const std::scoped_lock lock(mutex_);
  PaceOf(operation).NoteRefusal();
}

Result<std::string> GlueClient::Call(const std::string& operation, const std::string& body,
                                     const Budget& budget) {
  TRY_ASSIGN(storage::AwsJsonService* const service, Service());
  Budget waiting = budget;
  waiting.tries_max = kGlueTriesMax;
  Milliseconds wait{0};
  bool has_renewed = false;
  for (int tries = 1;; ++tries) {
    TRY(WaitForTurn(operation, budget));
    auto answer = service->Send("AWSGlue." + operation, body, budget);
    std::optional<Error> error;
    if (!answer) {
      error = std::move(answer).error();
      if (error->kind != ErrorKind::kUnavailable) return std::unexpected(*std::move(error));
    } else if (answer->status >= 200 && answer->status < 300) {
      const std::scoped_lock lock(mutex_);
      PaceOf(operation).NoteSuccess();
      return std::move(answer->body);
    } else {
      const storage::AwsJsonError said = storage::AwsErrorOf(*answer);
      if (IsThrottling(said.code)) NoteRefusal(operation);
      if (storage::IsStaleCredential(said.code) && !std::exchange(has_renewed, true)) {
        service->ForgetCredentials();
        continue;
      }
      error = Error{KindOfGlueError(said.code),
                    fmt::format("{}: {} operation={}", said.code, said.message, operation)};
      if (error->kind != ErrorKind::kUnavailable) return std::unexpected(*std::move(error));
    }
    wait = NextWait(wait, kFirstWait, kMostWait, Luck());
    waiting.retry_delay = Milliseconds(0);
    if (waiting.WaitForTry(tries + 1, wait)) continue;
    if (budget.is_stopped()) return Fail(ErrorKind::kCancelled, "stopped");
    error->message += fmt::format(" tries={}", tries);
    return std::unexpected(*std::move(error));
  }
}

}  // namespace tidemark::sink
