#include "app/ordered_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using support::IsOk;

/// A batch without columns whose rows are its name.
columnar::Batch BatchNamed(size_t name) {
  const auto schema = lake::avro::Schema::Parse(
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"}]})");
  const std::vector<columnar::WantedColumn> wanted = {{"a", true}};
  auto type = columnar::RowType::Make(*schema, wanted);
  return columnar::Batch(std::make_shared<columnar::Batch::Storage>(
      columnar::Batch::Storage{*std::move(type), name, {}, nullptr, 1000}));
}

class OrderedWorkTest : public testing::TestWithParam<unsigned> {
 protected:
  OrderedWork Work(size_t units) {
    OrderedWork work;
    work.units = units;
    work.threads = GetParam();
    work.held_bytes_max = 2500;
    work.run = [](size_t unit, const BatchSink& sink) -> Status {
      for (size_t i = 0; i < 10; ++i) TRY(sink(BatchNamed(unit * 10 + i)));
      return {};
    };
    return work;
  }
  BatchSink Keep() {
    return [this](const columnar::Batch& batch) -> Status {
      shown_.push_back(batch.rows());
      return {};
    };
  }

  std::vector<size_t> shown_;
};

TEST_P(OrderedWorkTest, ShowsUnitsInOrder) {
  EXPECT_THAT(RunInOrder(Work(20), Keep()), IsOk());
  ASSERT_EQ(shown_.size(), 200u);
  for (size_t i = 0; i < shown_.size(); ++i) EXPECT_EQ(shown_[i], i);
}

TEST_P(OrderedWorkTest, NothingToDoIsDone) {
  EXPECT_THAT(RunInOrder(Work(0), Keep()), IsOk());
  EXPECT_TRUE(shown_.empty());
}

TEST_P(OrderedWorkTest, TheFirstErrorByUnitEndsAll) {
  OrderedWork work = Work(20);
  const auto run = work.run;
  work.run = [&](size_t unit, const BatchSink& sink) -> Status {
    if (unit >= 3) return Fail(ErrorKind::kCorrupt, "unit " + std::to_string(unit));
    return run(unit, sink);
  };
  EXPECT_THAT(RunInOrder(work, Keep()), IsError(ErrorKind::kCorrupt, testing::Eq("unit 3")));
  EXPECT_EQ(shown_.size(), 30u);
}

TEST_P(OrderedWorkTest, ASinkThatFailsEndsTheUnits) {
  std::atomic<size_t> begun{0};
  OrderedWork work = Work(100);
  const auto run = work.run;
  work.run = [&](size_t unit, const BatchSink& sink) -> Status {
    ++begun;
    return run(unit, sink);
  };
  const auto full = [](const columnar::Batch&) -> Status {
    return Fail(ErrorKind::kUnavailable, "disk full");
  };
  EXPECT_THAT(RunInOrder(work, full), IsError(ErrorKind::kUnavailable, testing::_));
  EXPECT_LE(begun.load(), GetParam() + 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedWorkTest, testing::Values(1u, 2u, 7u));

}  // namespace
}  // namespace tidemark::app
