#include "kafka/stamp_search.h"

#include <algorithm>

namespace tidemark::kafka {

namespace {

// Finding both sides takes 16 for a century, halving it 42 more.
constexpr int kLookUpsMax = 64;
// How far back the next look-up for a time before the record goes, from now.
constexpr int64_t kSpanGrowth = 4;
constexpr int64_t kSpanMin = 60'000;
// Producers may stamp the future. Beyond this nobody asks how far it lies.
constexpr int64_t kFutureMax = 24 * 60 * 60 * 1000;
// After so many look-ups stamps are not as even as guesses need them; then only halves are taken.
constexpr int kGuessesMax = 12;

}  // namespace

StampSearch::StampSearch(Offset position, int64_t first_ms, int64_t now_ms)
    : position_(position), first_ms_(std::max<int64_t>(first_ms, 0)), now_ms_(now_ms) {}

std::optional<int64_t> StampSearch::Next() const {
  if (look_ups_ >= kLookUpsMax || !has_stamps_) return std::nullopt;
  if (look_ups_ == 0) return first_ms_;
  if (below_ && below_->offset == position_) return std::nullopt;
  if (!above_ms_) {
    if (below_->timestamp_ms <= now_ms_) return now_ms_ + 1;
    if (below_->timestamp_ms <= now_ms_ + kFutureMax) return now_ms_ + kFutureMax + 1;
    return std::nullopt;
  }
  if (!below_) {
    const int64_t span = std::max(kSpanGrowth * (now_ms_ - *above_ms_), kSpanMin);
    return std::min(std::max<int64_t>(now_ms_ - span, 0), *above_ms_ - 1);
  }
  if (*above_ms_ - below_->timestamp_ms <= 1) return std::nullopt;
  return Between(below_->timestamp_ms, *above_ms_);
}

int64_t StampSearch::Between(int64_t below, int64_t above) const {
  const int64_t middle = below + (above - below) / 2;
  if (!above_found_ || look_ups_ >= kGuessesMax) return middle;
  // A little before the record's own stamp, where it is the first one found.
  const double part = (static_cast<double>(position_ - below_->offset) - 0.5) /
                      static_cast<double>(above_found_->offset - below_->offset);
  const double length = static_cast<double>(above_found_->timestamp_ms - below);
  const auto guess = static_cast<int64_t>(part * length);
  return std::clamp(below + guess, below + 1, above - 1);
}

void StampSearch::Take(const std::optional<StampedOffset>& found) {
  const std::optional<int64_t> asked = Next();
  if (!asked) return;
  ++look_ups_;
  // A record stamped earlier than was asked for is no answer.
  if (found && (found->timestamp_ms < *asked || found->offset < 0)) {
    look_ups_ = kLookUpsMax;
  } else if (found && found->offset <= position_) {
    if (!below_ || below_->timestamp_ms < found->timestamp_ms) below_ = found;
  } else {
    above_ms_ = asked;
    above_found_ = found;
    has_stamps_ = *asked > 0;
  }
}

std::optional<StampBound> StampSearch::Bound(Holes holes) const {
  if (below_ && below_->offset == position_) {
    return StampBound{.timestamp_ms = below_->timestamp_ms, .is_own = true, .is_closed = true};
  }
  if (!has_stamps_) return std::nullopt;
  if (!above_ms_) {
    // In the future: the least that is known says as much as the truth.
    if (!below_ || below_->timestamp_ms <= now_ms_) return std::nullopt;
    return StampBound{.timestamp_ms = below_->timestamp_ms};
  }
  if (holes == Holes::kPossible && above_found_) {
    return StampBound{.timestamp_ms = above_found_->timestamp_ms};
  }
  const bool is_closed = below_ && *above_ms_ - below_->timestamp_ms <= 1;
  return StampBound{.timestamp_ms = *above_ms_ - 1, .is_closed = is_closed};
}

}  // namespace tidemark::kafka
