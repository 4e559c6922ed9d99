/// What every object store promises (storage/object_store.h), as tests that know no implementation.
/// A program that instantiates them compiles object_store_contract.cc as one of its sources.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "storage/object_store.h"

namespace tidemark::storage {

/// What a server is known not to do. Each is asserted: the test of the missing ability checks how
/// it fails instead.
struct ServerLimits {
  /// A conditional write is kUnsupported or ignored.
  bool has_put_if_absent = true;
  /// Names with bytes that are no UTF-8, or with control characters, can be stored.
  bool has_any_byte_in_names = true;
};

struct StoreUnderTest {
  std::string name;
  /// Opens the store of that root, which is empty at the first call.
  std::function<Result<std::unique_ptr<ObjectStore>>(const std::string& root)> open;
  ServerLimits limits;
};
inline void PrintTo(const StoreUnderTest& store, std::ostream* out) {
  *out << store.name;
}

class ObjectStoreContract : public ::testing::TestWithParam<StoreUnderTest> {
 protected:
  void SetUp() override;

  /// Another handle on the same root.
  std::unique_ptr<ObjectStore> Reopen();
  void Fill(std::initializer_list<std::string_view> keys);

  std::string root_;
  std::unique_ptr<ObjectStore> store_;
  const Budget budget_ = Budget::For(std::chrono::seconds(60));
};

}  // namespace tidemark::storage
