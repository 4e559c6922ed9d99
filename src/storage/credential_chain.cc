#include "storage/credential_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "storage/aws_credentials.h"
#include "storage/azure_credentials.h"
#include "storage/gcs_credentials.h"

namespace tidemark::storage {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Credentials are renewed this long before they end.
constexpr minutes kRenewBefore{5};
/// How long nothing is asked again after a failure: an instance without credentials costs a second
/// each time.
constexpr seconds kAskAgainAfter{30};
constexpr std::chrono::milliseconds kWaitMax{1000};
/// Chains that no store uses any more are dropped when there are so many.
constexpr size_t kChainsMax = 64;

}  // namespace

template <class Credentials>
Result<Credentials> CredentialChain<Credentials>::Ask(const Budget& budget) const {
  std::string places, remarks;
  for (const auto& source : sources_) {
    TRY(budget.Check());
    auto loaded = source->Load(budget);
    if (!loaded) {
      return std::unexpected(
          std::move(loaded).error().With(fmt::format("credentials from {}", source->name())));
    }
    if (*loaded) return **std::move(loaded);
    if (!places.empty()) places += ", ";
    places += source->name();
    if (const std::string remark = source->Remark(); !remark.empty()) remarks += "; " + remark;
  }
  return Fail(ErrorKind::kDenied,
              fmt::format("no credentials found: looked in {}{}", places, remarks));
}

template <class Credentials>
std::optional<Result<Credentials>> CredentialChain<Credentials>::Known() const {
  const WallTime now = clock_.Now();
  const bool may_ask = !is_asking_ && clock_.Mono() >= ask_again_;
  if (found_) {
    const bool is_due = found_->expires && now >= *found_->expires - kRenewBefore;
    const bool is_over = found_->expires && now >= *found_->expires;
    // While one caller renews them, or soon after that failed, the others use what still holds.
    if (!is_due || (!is_over && !may_ask)) return *found_;
  } else if (not_found_ && !may_ask && !is_asking_) {
    return std::unexpected(*not_found_);
  }
  return std::nullopt;
}

template <class Credentials>
Result<Credentials> CredentialChain<Credentials>::Get(const Budget& budget) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (auto known = Known()) return *std::move(known);
    if (!is_asking_) break;
    TRY(budget.Check());
    answered_.wait_for(lock, budget.stop(), std::min(budget.Remaining(), kWaitMax),
                       [this] { return !is_asking_; });
  }
  is_asking_ = true;
  lock.unlock();
  auto asked = Ask(budget);
  lock.lock();
  is_asking_ = false;
  answered_.notify_all();
  if (asked) {
    found_ = *asked;
    not_found_.reset();
    // Credentials that are given out shortly before their end are not asked for at every request.
    ask_again_ = clock_.Mono() + kAskAgainAfter;
    return asked;
  }
  // A stopped or short-lived caller says nothing about the next one.
  if (asked.error().kind == ErrorKind::kCancelled || budget.is_over()) return asked;
  ask_again_ = clock_.Mono() + kAskAgainAfter;
  if (found_ && found_->expires && clock_.Now() < *found_->expires) return *found_;
  found_.reset();
  not_found_ = asked.error();
  return asked;
}

template <class Credentials>
void CredentialChain<Credentials>::Forget(const Credentials& refused) {
  const std::scoped_lock lock(mutex_);
  if (found_ && *found_ == refused) found_.reset();
}

template <class Credentials>
std::optional<Credentials> CredentialChain<Credentials>::Renew(const Credentials& refused,
                                                               const Budget& budget) {
  Forget(refused);
  auto renewed = Get(budget);
  if (!renewed || *renewed == refused) return std::nullopt;
  return *std::move(renewed);
}

template <class Credentials>
std::shared_ptr<CredentialChain<Credentials>> SharedChain(
    const std::string& digest,
    const std::function<CredentialSources<Credentials>()>& make_sources) {
  using Chain = CredentialChain<Credentials>;
  static const SystemClock& clock = *std::make_unique<SystemClock>().release();
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Chain>> chains;  // guarded by mutex
  const std::scoped_lock lock(mutex);
  if (chains.size() >= kChainsMax)
    std::erase_if(chains, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::shared_ptr<Chain>& chain = chains[digest];
  if (chain == nullptr) chain = std::make_shared<Chain>(make_sources(), clock);
  return chain;
}

template class CredentialChain<AwsCredentials>;
template std::shared_ptr<CredentialChain<AwsCredentials>> SharedChain(
    const std::string&, const std::function<CredentialSources<AwsCredentials>()>&);
template class CredentialChain<GcsCredentials>;
template std::shared_ptr<CredentialChain<GcsCredentials>> SharedChain(
    const std::string&, const std::function<CredentialSources<GcsCredentials>()>&);
template class CredentialChain<AzureCredentials>;
template std::shared_ptr<CredentialChain<AzureCredentials>> SharedChain(
    const std::string&, const std::function<CredentialSources<AzureCredentials>()>&);

}  // namespace tidemark::storage
