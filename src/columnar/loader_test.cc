#include "columnar/loader.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::columnar {
namespace {

TEST(LoaderTest, EveryThreadGetsTheSameReader) {
  std::vector<const lake::ColumnReader*> readers(8);
  {
    std::vector<std::jthread> threads;
    for (auto& reader : readers) {
      threads.emplace_back([&reader] { reader = LoadColumnReader().value_or(nullptr); });
    }
  }
  EXPECT_NE(readers[0], nullptr);
  EXPECT_THAT(readers, ::testing::Each(readers[0]));
}

}  // namespace
}  // namespace tidemark::columnar
