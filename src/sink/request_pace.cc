#include "sink/request_pace.h"

#include <cmath>

namespace tidemark::sink {

namespace {

constexpr double kDropTo = 0.5;
constexpr double kRise = 1.02;

}  // namespace

Milliseconds RequestPace::Take(MonoTime now) {
  if (now > filled_at_) {
    const std::chrono::duration<double> passed = now - filled_at_;
    tokens_ = std::min(rate_.burst, tokens_ + passed.count() * per_second_);
    filled_at_ = now;
  }
  tokens_ -= 1;
  if (tokens_ >= 0) return Milliseconds(0);
  return Milliseconds(static_cast<int64_t>(std::ceil(-tokens_ / per_second_ * 1000)));
}

void RequestPace::NoteRefusal() {
  per_second_ = std::max(rate_.least, per_second_ * kDropTo);
  // What was saved up is what was too much.
  tokens_ = std::min(tokens_, 0.0);
}

void RequestPace::NoteSuccess() {
  per_second_ = std::min(rate_.most, per_second_ * kRise);
}

Milliseconds NextWait(Milliseconds before, Milliseconds first, Milliseconds most, double luck) {
  const auto low = static_cast<double>(first.count());
  const double high = std::max(low, 3.0 * static_cast<double>(before.count()));
  const double wait = low + (high - low) * std::clamp(luck, 0.0, 1.0);
  return std::min(most, Milliseconds(static_cast<int64_t>(wait)));
}

}  // namespace tidemark::sink
