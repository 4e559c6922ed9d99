#include "app/share_follower.h"

#include <utility>

namespace tidemark::app {

namespace {

constexpr Milliseconds kSlice{200};
constexpr Milliseconds kAskTime{30'000};

}  // namespace

ShareFollower::ShareFollower(PartitionShare& share, feed::EventLog& log, MessageBox& messages,
                             bool with_control)
    : share_(share),
      log_(log),
      messages_(messages),
      with_control_(with_control),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void ShareFollower::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void ShareFollower::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    auto change = share_.Serve(kSlice);
    for (const auto partition : change.lost) {
      unfollowed_.erase(partition);
      if (follower_) follower_->Forget(feed::LogTopic::kControl, partition);
    }
    for (const auto partition : change.gained) {
      if (partition < log_.partition_count()) unfollowed_.insert(partition);
    }
    if (!change.is_empty()) messages_.Post(ShareChanged{std::move(change)});
    if (with_control_) FollowControl(stop);
  }
}

void ShareFollower::FollowControl(const std::stop_token& stop) {
  if (!follower_) {
    auto opened = log_.OpenFollower();
    if (!opened) return;
    follower_ = *std::move(opened);
  }
  const auto budget = Budget::For(kAskTime, stop);
  // The group must not wait for all of them.
  const auto turn = Budget::For(kSlice);
  for (auto at = unfollowed_.begin(); at != unfollowed_.end() && turn.Check();) {
    if (auto begun = BeginControl(*at, budget); !begun) {
      if (begun.error().kind != ErrorKind::kCancelled)
        messages_.Post(ControlBegan{.partition = *at, .status = std::move(begun)});
      break;
    }
    at = unfollowed_.erase(at);
  }
  auto records = follower_->Poll(kSlice);
  if (!records) return;
  for (auto& record : *records) messages_.Post(ControlCame{std::move(record)});
}

Status ShareFollower::BeginControl(kafka::PartitionId partition, const Budget& budget) {
  ControlBegan began{.partition = partition};
  TRY_ASSIGN(began.log_end, log_.Read(
                                feed::LogTopic::kControl, partition, 0,
                                [&](feed::ReadRecord record) -> Status {
                                  began.records.push_back(std::move(record));
                                  return {};
                                },
                                budget));
  TRY(follower_->FollowFrom(feed::LogTopic::kControl, partition, began.log_end, budget));
  messages_.Post(std::move(began));
  return {};
}

}  // namespace tidemark::app
