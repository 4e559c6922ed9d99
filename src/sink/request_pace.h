/// How often a service may be asked, learnt from its refusals: a bucket of tokens for each kind of
/// request, and waits that clients who were refused together do not share. Values; the time is a
/// parameter.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace tidemark::sink {

struct RequestRate {
  double most = 10;    ///< requests a second
  double least = 0.5;  ///< that refusals do not go below
  double burst = 10;   ///< that may come at once

  friend bool operator==(const RequestRate&, const RequestRate&) = default;
};

/// Single-threaded.
class RequestPace {
 public:
  RequestPace(const RequestRate& rate, MonoTime now)
      : rate_(rate), per_second_(rate.most), tokens_(rate.burst), filled_at_(now) {}

  /// Takes a token that is there, or will be; how long to wait before it may be used.
  Milliseconds Take(MonoTime now);

  /// The service said that this was too much: half as often from now on.
  void NoteRefusal();
  /// It did not: a little more often again.
  void NoteSuccess();

  double per_second() const { return per_second_; }

 private:
  RequestRate rate_;
  double per_second_;
  double tokens_;
  MonoTime filled_at_;
};

/// The next wait after one of `before` (0: the first): between `first` and three times the last, by
/// `luck` in [0, 1), at most `most`. Spreads those who were refused together wider with each try.
Milliseconds NextWait(Milliseconds before, Milliseconds first, Milliseconds most, double luck);

}  // namespace tidemark::sink
