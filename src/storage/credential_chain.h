/// The usual places where credentials are written, asked in order and kept while they hold.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"

namespace tidemark::storage {

/// One place. Any thread. `Credentials` have `expires`, an optional WallTime; two are equal when a
/// server would see the same.
template <class Credentials>
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  /// The place for messages, e.g. "environment (AWS_ACCESS_KEY_ID)".
  virtual std::string_view name() const = 0;

  /// nullopt when nothing is configured here, so that the next place is asked. An Error when
  /// something is, and it does not work: what the user set up is not passed over. Messages hold no
  /// secret.
  virtual Result<std::optional<Credentials>> Load(const Budget& budget) const = 0;

  /// What the last Load passed over, for who finds nothing anywhere else either. Empty: nothing.
  virtual std::string Remark() const { return ""; }
};

template <class Credentials>
using CredentialSources = std::vector<std::unique_ptr<CredentialSource<Credentials>>>;

/// Asks the places in order, keeps what it found, and asks again shortly before that ends. Any
/// thread; one asks, and those that cannot go on without the answer wait for it.
template <class Credentials>
class CredentialChain {
 public:
  /// `clock` must outlive the chain.
  CredentialChain(CredentialSources<Credentials> sources, const Clock& clock)
      : sources_(std::move(sources)), clock_(clock) {}

  /// kDenied when no place has any, with the places that were asked. That answer too is kept for a
  /// while.
  Result<Credentials> Get(const Budget& budget);

  /// After a server refused `refused`: what the places have now, when it differs. nullopt: there is
  /// nothing else to try.
  std::optional<Credentials> Renew(const Credentials& refused, const Budget& budget);

  /// Forgets what was found if it is still `refused`: the server does not take it any more.
  void Forget(const Credentials& refused);

 private:
  Result<Credentials> Ask(const Budget& budget) const;
  /// What needs no question, under the lock that the caller holds.
  std::optional<Result<Credentials>> Known() const;

  CredentialSources<Credentials> sources_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  // Guarded by mutex_:
  bool is_asking_ = false;
  std::optional<Credentials> found_;
  std::optional<Error> not_found_;
  MonoTime ask_again_ = MonoTime::min();
};

/// The chain of `digest` in this process, made by `make_sources` when it is the first of its name:
/// a thousand stores whose settings name the same places ask for temporary credentials once.
/// Lives as long as somebody holds it. Any thread.
template <class Credentials>
std::shared_ptr<CredentialChain<Credentials>> SharedChain(
    const std::string& digest, const std::function<CredentialSources<Credentials>()>& make_sources);

}  // namespace tidemark::storage
