/// What every StateStore promises (state/state_store.h), as tests that do not know the database.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "state/state_store.h"

namespace tidemark::state {

struct StateUnderTest {
  std::string name;
  /// A state that nobody has used yet.
  std::function<StateOptions()> make;
};
inline void PrintTo(const StateUnderTest& state, std::ostream* out) {
  *out << state.name;
}

class StateStoreContract : public ::testing::TestWithParam<StateUnderTest> {
 protected:
  void SetUp() override;
  /// Ends the store and opens it again.
  void Reopen();

  StateOptions options_;
  std::unique_ptr<StateStore> store_;
};

}  // namespace tidemark::state
