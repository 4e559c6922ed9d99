#include "app/work_lane.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>

namespace tidemark::app {
namespace {

using namespace std::chrono_literals;

TEST(WorkLaneTest, WhatRunsLongIsNotWaitedFor) {
  std::latch is_running(1), may_end(1), second(1);
  WorkLane lane(1);
  lane.Add([&] {
    is_running.count_down();
    may_end.wait();
  });
  is_running.wait();
  lane.Add([&] { second.count_down(); });
  lane.RunBesides(std::chrono::steady_clock::now() - 1h, 4);
  EXPECT_FALSE(second.try_wait()) << "the first one has not run for long";
  lane.RunBesides(std::chrono::steady_clock::now() + 1h, 4);
  second.wait();
  may_end.count_down();
}

TEST(WorkLaneTest, NoMoreRunBesidesThanAreAllowed) {
  std::latch are_running(3), may_end(1), last(1);
  {
    WorkLane lane(1);
    const auto hold = [&] {
      are_running.count_down();
      may_end.wait();
    };
    for (int i = 0; i < 3; ++i) {
      lane.Add(hold);
      lane.RunBesides(std::chrono::steady_clock::now() + 1h, 2);
    }
    // Each call looks at those that run by then.
    while (!are_running.try_wait()) lane.RunBesides(std::chrono::steady_clock::now() + 1h, 2);
    lane.Add([&] { last.count_down(); });
    lane.RunBesides(std::chrono::steady_clock::now() + 1h, 2);
    EXPECT_FALSE(last.try_wait());
    may_end.count_down();
    last.wait();
  }
}

}  // namespace
}  // namespace tidemark::app
