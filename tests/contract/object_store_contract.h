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

/// What the server behind a store is known not to do. Each is tested as well: where an ability is
/// missing, its test checks how that shows, and turns red when the ability is there after all.
struct ServerLimits {
  /// false: a conditional write replaces the object.
  bool has_put_if_absent = true;
  /// false: names with control characters cannot be stored.
  bool has_control_characters = true;
  /// false: a backslash would become '/', so the store must refuse it.
  bool has_backslashes = true;
  /// false: its listings are in another order, which the store must refuse.
  bool has_byte_order = true;
  /// false: its answer to a range of an empty object is cut short.
  bool has_ranges_of_empty_objects = true;
  /// false: a reader may see a part of what is being written, or be told of a failure.
  bool has_atomic_put = true;
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
